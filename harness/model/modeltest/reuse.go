package modeltest

import (
	"crypto/sha256"
	"slices"

	"github.com/lorimer-dev/lorimer/harness/model"
)

const (
	bytesPerToken   = 4
	lookBack        = 20 // blocks before a mark that Anthropic searches
	keepBreakpoints = 80 // latest breakpoints that OpenAI considers
)

// A session is what the cache knows of requests that belong together.
type session struct {
	last  []segment
	reuse []Reuse
	ends  [][32]byte // digests of the prefixes that are cached, the latest last
}

// A Reuse compares a request with the one before it in its session.
type Reuse struct {
	Session string
	Before  int // bytes of the earlier request
	Common  int // bytes of it that the later one repeats as its prefix
	After   int // bytes of the later request
}

// Ratio is the prefix reuse ratio of R-HARN-14; 1 means that nothing that had
// been sent was sent differently.
func (r Reuse) Ratio() float64 {
	if r.Before == 0 {
		return 1
	}
	return float64(r.Common) / float64(r.Before)
}

// Reuse returns the comparisons of all sessions in the order of the requests.
func (s *Server) Reuse() []Reuse {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Reuse
	var seen []string
	for _, r := range s.recs {
		if se := s.sessions[r.Session]; se != nil && !slices.Contains(seen, r.Session) {
			seen = append(seen, r.Session)
			out = append(out, se.reuse...)
		}
	}
	return out
}

// Ratio is the reuse ratio over all requests; 1 without any to compare.
func (s *Server) Ratio() float64 {
	var sum Reuse
	for _, r := range s.Reuse() {
		sum.Before += r.Before
		sum.Common += r.Common
	}
	return sum.Ratio()
}

// count notes req in its session and counts its tokens. s.mu is held.
func (s *Server) count(req *request) model.Usage {
	se := s.sessions[req.session]
	if se == nil {
		se = &session{}
		s.sessions[req.session] = se
	}
	if se.last != nil {
		se.reuse = append(se.reuse, compare(req.session, se.last, req.segments))
	}
	u := model.Usage{Input: total(req.segments) / bytesPerToken, Known: true}
	switch c := req.cache; c.way {
	case byPrefix:
		u.CacheRead = compare("", se.last, req.segments).Common / bytesPerToken
		u.CacheRead -= u.CacheRead % max(c.step, 1)
	case byMarks, byBreakpoint:
		u.CacheRead, u.CacheWrite = se.ended(req.segments, c)
	}
	if u.CacheRead < req.cache.least {
		u.CacheRead = 0
	}
	if u.CacheWrite < req.cache.least {
		u.CacheWrite = 0
	}
	if req.window > 0 {
		u.Input = min(u.Input, req.window) // the rest is dropped without a word
	}
	se.last = req.segments
	return u
}

// ended reads and writes a cache of prefixes that end in marks: with Anthropic one
// is found if it ended in a mark before and stands at most so many blocks before a
// mark of this request, with OpenAI wherever it ended.
func (se *session) ended(segs []segment, c cache) (read, write int) {
	sums, sizes := make([][32]byte, len(segs)), make([]int, len(segs))
	h, n := sha256.New(), 0
	for i, s := range segs {
		h.Write([]byte(s.text))
		n += len(s.text)
		sums[i], sizes[i] = [32]byte(h.Sum(nil)), n
	}
	last := len(segs) - 1
	var ends [][32]byte
	for i, s := range segs {
		if !s.marked && (!c.newest || i < last) {
			continue
		}
		from := 0
		if c.segment > 0 {
			from = max(0, i-c.segment)
		}
		for j := from; j <= i; j++ {
			if slices.Contains(se.ends, sums[j]) {
				read = max(read, sizes[j])
			}
		}
		write = sizes[i]
		ends = append(ends, sums[i])
	}
	se.ends = append(se.ends, ends...)
	if over := len(se.ends) - keepBreakpoints; over > 0 && c.way == byBreakpoint {
		se.ends = se.ends[over:]
	}
	return read / bytesPerToken, (write - read) / bytesPerToken
}

func compare(id string, before, after []segment) Reuse {
	r := Reuse{Session: id, Before: total(before), After: total(after)}
	for i, s := range before {
		if i >= len(after) || after[i].text != s.text {
			break
		}
		r.Common += len(s.text)
	}
	return r
}

func total(segs []segment) int {
	n := 0
	for _, s := range segs {
		n += len(s.text)
	}
	return n
}
