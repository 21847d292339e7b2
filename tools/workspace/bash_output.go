package workspace

import (
	"bytes"
	_ "embed"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools/workspace/ansi"
)

//go:embed bash_cut.md
var bashCut string

// A cut describes output that was left out, for bash_cut.md.
type cut struct {
	Bytes, Lines int64
	File         string // "" when there is none
	Kept         int64  // bytes in File
	Whole        bool   // File has all
	Readable     bool   // the file tools reach File
}

// A capture takes the output of one command: it makes plain text of it, passes
// that on while the command runs, and keeps its start and its end. What it
// holds in memory is bounded by the options, however much comes.
type capture struct {
	o    BashOptions
	live func(p []byte) // nil when nobody watches

	clean ansi.Cleaner
	buf   []byte // scratch for clean text
	shown int    // bytes given to live

	head  []byte
	tail  []byte // a ring, once output has left head
	next  int    // where the next byte of tail goes
	total int64  // bytes
	lines int64  // line ends

	spill    *os.File
	spilled  int64
	spillErr error
}

func newCapture(o BashOptions, live func([]byte)) *capture {
	return &capture{o: o, live: live}
}

// write takes output as the command printed it.
func (c *capture) write(p []byte) { c.take(c.clean.Append(c.buf[:0], p)) }

func (c *capture) take(p []byte) {
	c.buf = p[:0]
	if len(p) == 0 {
		return
	}
	c.show(p)
	if c.total <= int64(c.o.MaxOutput) && c.total+int64(len(p)) > int64(c.o.MaxOutput) {
		c.open()
	}
	if c.spill != nil {
		c.save(p)
	}
	c.total += int64(len(p))
	c.lines += countLines(p)
	// All is kept in head while it fits; then its second half becomes tail.
	if c.tail == nil {
		n := min(len(p), c.o.MaxOutput-len(c.head))
		c.head, p = append(c.head, p[:n]...), p[n:]
	}
	if len(p) > 0 {
		c.roll(p)
	}
}

// roll puts p at the end of the ring.
func (c *capture) roll(p []byte) {
	half := c.o.MaxOutput / 2
	if c.tail == nil {
		c.tail = append(make([]byte, 0, half), c.head[len(c.head)-half:]...)
		c.head = c.head[:len(c.head)-half]
	}
	if len(p) >= half {
		copy(c.tail, p[len(p)-half:])
		c.next = 0
		return
	}
	n := copy(c.tail[c.next:], p)
	copy(c.tail, p[n:])
	c.next = (c.next + len(p)) % half
}

// show passes text on to the watcher, up to the limit.
func (c *capture) show(p []byte) {
	if c.live == nil || c.shown >= c.o.MaxLive {
		return
	}
	if room := c.o.MaxLive - c.shown; len(p) > room {
		p = append(slices.Clone(cutRunes(p, room)), "\n[the rest is not shown while it runs]\n"...)
		c.shown = c.o.MaxLive
	}
	c.shown += len(p)
	c.live(slices.Clone(p))
}

// open starts the file of the whole output with what has come so far.
func (c *capture) open() {
	if c.o.SpillDir == "" {
		return
	}
	if c.spillErr = os.MkdirAll(c.o.SpillDir, 0o700); c.spillErr != nil {
		return
	}
	c.spill, c.spillErr = os.CreateTemp(c.o.SpillDir, "output-*.txt")
	if c.spillErr == nil {
		c.save(c.head)
	}
}

func (c *capture) save(p []byte) {
	p = p[:min(int64(len(p)), c.o.MaxSpill-c.spilled)]
	if len(p) == 0 || c.spillErr != nil {
		return
	}
	n, err := c.spill.Write(p)
	c.spilled += int64(n)
	c.spillErr = err
}

// finish ends the output and returns its text, cut in the middle if it is
// long. Readable tells whether the file tools reach a file. A full disk is no
// error: the text then names the part that was kept.
func (c *capture) finish(readable func(file string) bool) string {
	c.take(c.clean.Flush(c.buf[:0]))
	if c.spill != nil {
		if err := c.spill.Close(); c.spillErr == nil {
			c.spillErr = err
		}
	}
	if c.tail == nil {
		return string(c.head)
	}
	head := cutRunes(c.head, len(c.head))
	tail := append(c.tail[c.next:len(c.tail):len(c.tail)], c.tail[:c.next]...)
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	left := cut{
		Bytes: c.total - int64(len(head)) - int64(len(tail)),
		Lines: c.lines - countLines(head) - countLines(tail),
		Kept:  c.spilled,
		Whole: c.spilled == c.total && c.spillErr == nil,
	}
	if c.spill != nil && c.spilled > 0 {
		left.File = c.spill.Name()
		left.Readable = readable(left.File)
	}
	return string(head) + "\n" + left.text() + "\n" + string(tail)
}

// text is what stands between the two ends of a long output. The words are in
// bash_cut.md, a phrase a line; text/template would cost more than it is worth,
// since with it the linker keeps every method of the program.
func (c cut) text() string {
	phrases := cutPhrases()
	text := phrases["cut"]
	if c.File != "" {
		from, how := "part", "unreadable"
		if c.Whole {
			from = "whole"
		}
		if c.Readable {
			how = "readable"
		}
		text += ". " + phrases[from] + ": " + phrases[how]
	}
	return "[" + strings.NewReplacer(
		"{bytes}", strconv.FormatInt(c.Bytes, 10), "{lines}", strconv.FormatInt(c.Lines, 10),
		"{kept}", strconv.FormatInt(c.Kept, 10), "{file}", c.File,
	).Replace(text) + "]"
}

// cutPhrases returns the phrases of bash_cut.md by their names.
func cutPhrases() map[string]string {
	phrases := make(map[string]string)
	for line := range strings.Lines(bashCut) {
		name, phrase, _ := strings.Cut(strings.TrimSpace(line), ": ")
		phrases[name] = phrase
	}
	return phrases
}

func countLines(p []byte) int64 { return int64(bytes.Count(p, []byte{'\n'})) }

// cutRunes returns at most n bytes of p, without a character that is cut.
func cutRunes(p []byte, n int) []byte {
	p = p[:min(n, len(p))]
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				p = p[:i]
			}
			break
		}
	}
	return p
}
