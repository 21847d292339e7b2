package clientio

import "slices"

// maxPast is how many earlier texts of a file are remembered.
const maxPast = 16

// A history is what the disk has held of a file since the editor last agreed
// with it. A text from the past is no text of the user: the editor has not
// noticed that the file has changed.
type history struct {
	now  digest
	past []digest // the oldest first, without now
}

// look notes what the disk holds of a file now.
func (f *files) look(path string, disk []byte) {
	sum := sumOf(disk)
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.seen[path]
	if h == nil {
		if len(f.seen) >= maxSeen {
			clear(f.seen)
		}
		f.seen[path] = &history{now: sum}
		return
	}
	if sum == h.now {
		return
	}
	h.past = append(h.past, h.now)
	h.past = slices.DeleteFunc(h.past, func(d digest) bool { return d == sum })
	if len(h.past) > maxPast {
		h.past = slices.Delete(h.past, 0, 1)
	}
	h.now = sum
}

// unsaved reports whether text, which the editor shows for a file, is the user's
// and not on the disk.
func (f *files) unsaved(path string, disk []byte, text string) bool {
	sum := sumOf([]byte(text))
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.seen[path]
	if sum == sumOf(disk) {
		if h != nil && h.now == sum {
			h.past = nil // what the user goes back to from here is a wish
		}
		return false
	}
	return h == nil || !slices.Contains(h.past, sum)
}
