package modeltest

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

const (
	bytesPerToken = 4
	minCached     = 1024 // tokens, below which nothing is cached
	cacheStep     = 128  // tokens, by which a cache without marks grows
	lookBack      = 20   // blocks before a mark that are searched
)

// A segment is a piece of a request in the order in which providers cache: the
// model, each tool, the system prompt, the messages block by block.
type segment struct {
	text   string
	marked bool // it bears a cache mark, which text does not show
}

// A session is what the cache knows of requests that belong together.
type session struct {
	last   []segment
	reuse  []Reuse
	cached map[[32]byte]bool // digests of prefixes
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
		se = &session{cached: map[[32]byte]bool{}}
		s.sessions[req.session] = se
	}
	if se.last != nil {
		se.reuse = append(se.reuse, compare(req.session, se.last, req.segments))
	}
	u := model.Usage{Input: total(req.segments) / bytesPerToken, Known: true}
	switch {
	case req.uncached:
	case req.implicit:
		if se.last != nil {
			u.CacheRead = compare("", se.last, req.segments).Common / bytesPerToken / cacheStep * cacheStep
		}
	default:
		u.CacheRead, u.CacheWrite = se.marks(req.segments)
	}
	if u.CacheRead < minCached {
		u.CacheRead = 0
	}
	if u.CacheWrite < minCached {
		u.CacheWrite = 0
	}
	se.last = req.segments
	return u
}

// marks reads and writes the cache at the marks, as Anthropic does: a prefix is
// found if it ended in a mark before and stands at most lookBack blocks before
// a mark of this request.
func (se *session) marks(segs []segment) (read, write int) {
	var sums [][32]byte
	var sizes []int
	h, n := sha256.New(), 0
	for _, s := range segs {
		h.Write([]byte(s.text))
		n += len(s.text)
		sums = append(sums, [32]byte(h.Sum(nil)))
		sizes = append(sizes, n)
	}
	for i, s := range segs {
		if !s.marked {
			continue
		}
		for j := i; j >= max(0, i-lookBack); j-- {
			if se.cached[sums[j]] {
				read = max(read, sizes[j])
			}
		}
		write = sizes[i]
	}
	for i, s := range segs {
		if s.marked {
			se.cached[sums[i]] = true
		}
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

// cutMark is raw as a segment, its bytes less a cache mark at its end.
func cutMark(label string, raw json.RawMessage) segment {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	text, marked := strings.CutSuffix(string(raw), mark+"}")
	if marked {
		text += "}"
	}
	return segment{label + ":" + text, marked}
}
