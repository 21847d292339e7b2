package workspace

import (
	"crypto/sha256"
	"sync"
)

// A Seen remembers, for the length of a session, what its tools have read of a
// file and left in it, so that a change by somebody else is noticed before it
// is overwritten. Its zero value is ready, and it is safe for concurrent use.
type Seen struct {
	mu    sync.Mutex // guards the fields below
	files map[string][sha256.Size]byte
}

// A Sight is how the content of a file relates to what was seen of it.
type Sight int

// The sights; the zero value is the careful one.
const (
	Unseen  Sight = iota // nobody has read the file
	Same                 // it is what was read
	Changed              // it was read, and is different
)

// Record remembers content as what the session knows of the file at the real
// path.
func (s *Seen) Record(path string, content []byte) {
	sum := sha256.Sum256(content)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string][sha256.Size]byte{}
	}
	s.files[path] = sum
}

// Look compares content with what is remembered of the file at the real path.
func (s *Seen) Look(path string, content []byte) Sight {
	sum := sha256.Sum256(content)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch known, ok := s.files[path]; {
	case !ok:
		return Unseen
	case known == sum:
		return Same
	default:
		return Changed
	}
}
