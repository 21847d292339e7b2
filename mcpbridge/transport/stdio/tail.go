package stdio

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/tools/workspace/ansi"
)

// Secrets are values that must not be quoted.
type secrets struct {
	values  []string // the longest first, since one may hold another
	longest int      // bytes
}

const (
	minSecret = 6 // bytes of a value that is looked for; shorter ones stand in many a text
	hidden    = "[secret]"
)

// newSecrets returns the values, and those of their lines that are long enough.
func newSecrets(values []string) secrets {
	var s secrets
	for _, v := range values {
		for _, part := range append(strings.Split(v, "\n"), v) {
			if part = strings.TrimSpace(part); len(part) >= minSecret {
				s.values = append(s.values, part)
				s.longest = max(s.longest, len(part))
			}
		}
	}
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) })
	return s
}

// hide replaces the secrets in text.
func (s secrets) hide(text string) string {
	for _, v := range s.values {
		text = strings.ReplaceAll(text, v, hidden)
	}
	return text
}

// tailSize is how many bytes are kept of what a program writes to standard error.
const tailSize = 8 << 10

// A tail is the end of a text, without its secrets. It is safe for concurrent use.
type tail struct {
	secrets secrets

	mu   sync.Mutex // guards the fields below
	data []byte
	cut  bool // data does not begin with the text
}

// Write adds to the text. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	keep := tailSize + t.secrets.longest
	last := p[max(0, len(p)-keep):]
	t.data = append(t.data, last...)
	t.cut = t.cut || len(last) < len(p)
	if len(t.data) > 2*keep { // moved seldom
		t.data = append(t.data[:0], t.data[len(t.data)-keep:]...)
		t.cut = true
	}
	return len(p), nil
}

// String returns the text, plain, from the beginning of a line if there is one.
func (t *tail) String() string {
	t.mu.Lock()
	data, cut := bytes.Clone(t.data), t.cut
	t.mu.Unlock()
	text := t.secrets.hide(string(ansi.Clean(data)))
	if cut { // it may begin inside a secret
		text = text[min(len(text), t.secrets.longest):]
	}
	if over := len(text) - tailSize; over > 0 {
		text, cut = text[over:], true
	}
	if _, rest, ok := strings.Cut(text, "\n"); ok && cut {
		text = rest
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, ""))
}

const (
	junkLogged = 10  // pieces of junk that are logged one by one
	junkShown  = 200 // bytes of one
)

// A junk is what a program writes to its output that is no message.
type junk struct {
	log  zerolog.Logger
	text tail

	mu    sync.Mutex // guards count
	count int
}

func newJunk(log zerolog.Logger, s secrets) *junk { return &junk{log: log, text: tail{secrets: s}} }

// note keeps the beginning of a piece for those who look for the reason when the
// program ends, and logs how long the first ones are.
func (j *junk) note(piece []byte) {
	s := j.text.secrets
	shown := s.hide(string(piece[:min(len(piece), junkShown+s.longest)]))
	if len(piece) > junkShown+s.longest { // it may end inside a secret
		shown = shown[:max(0, len(shown)-s.longest)]
	}
	j.text.Write([]byte(shown[:min(len(shown), junkShown)] + "\n"))
	j.mu.Lock()
	j.count++
	n := j.count
	j.mu.Unlock()
	switch {
	case n == 1:
		j.log.Warn().Int("bytes", len(piece)).Msg("the program writes to its output what is no message")
	case n < junkLogged:
		j.log.Debug().Int("bytes", len(piece)).Msg("no message")
	case n == junkLogged:
		j.log.Debug().Msg("more of it is not logged")
	}
}
