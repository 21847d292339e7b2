// Package trace writes what a model was sent to a file, one JSON object per
// line (R-CMD-04).
//
// The line is written before the request goes out, and the wrapper belongs
// right in front of the provider, so that the file shows every attempt with
// exactly what it carried. Known secrets are replaced wherever they occur.
package trace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
)

const (
	redacted  = "[REDACTED]" // in place of a secret
	minSecret = 8            // bytes
)

// A File is a trace that is being written. A nil *File is one that is switched
// off. It is safe for concurrent use, and several processes may append to the
// same file: a line is one write.
type File struct {
	f *os.File

	mu      sync.Mutex // guards the fields below
	seq     int64
	secrets [][]byte // longest first, as they stand in JSON
	err     error    // the first that a write met
}

// Open opens the trace at path for appending and makes it if it is missing,
// readable by its owner alone.
func Open(path string, secrets ...string) (*File, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening trace: %w", err)
	}
	t := &File{f: f}
	t.Redact(secrets...)
	return t, nil
}

// Redact adds secrets that must not appear from now on; adding one again, as
// every send may, costs nothing. Values of less than
// eight bytes are no secrets: servers that want no key get words like "none".
func (t *File) Redact(secrets ...string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range secrets {
		inJSON, err := encode(s)
		secret := bytes.Trim(inJSON, "\"\n")
		known := slices.ContainsFunc(t.secrets, func(k []byte) bool { return bytes.Equal(k, secret) })
		if len(s) < minSecret || err != nil || known {
			continue
		}
		t.secrets = append(t.secrets, secret)
	}
	slices.SortFunc(t.secrets, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
}

// Close closes the file. The error tells of lines that were lost.
func (t *File) Close() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(t.err, t.f.Close())
}

// A Turn is how a turn got its harness (R-HARN-11).
type Turn struct {
	Session   string   `json:"session"`
	Harness   string   `json:"harness"`           // built, reused or rebuilt
	Changed   []string `json:"changed,omitempty"` // names of the inputs that differ
	Signature string   `json:"signature"`
	Intent    string   `json:"intent,omitempty"`
	RouteRule string   `json:"route_rule,omitempty"`
}

// Turn writes a line of type turn.
func (t *File) Turn(turn Turn) { t.Write("turn", turn) }

// Write writes a line of type kind with the fields of body, which is a struct.
// The types are model, turn, billing and settings.
func (t *File) Write(kind string, body any) {
	if t == nil {
		return
	}
	fields, err := encode(body)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	if err == nil {
		err = t.line(kind, fields)
	}
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("writing trace: %w", err)
	}
}

// line writes one line; the caller holds the lock, and so the order of lines is
// that of their numbers.
func (t *File) line(kind string, fields []byte) error {
	head, err := encode(struct {
		Type string    `json:"type"`
		Seq  int64     `json:"seq"`
		PID  int       `json:"pid"`
		Time time.Time `json:"time"`
	}{kind, t.seq, os.Getpid(), time.Now().UTC()})
	if err != nil {
		return err
	}
	head, fields = bytes.TrimSpace(head), bytes.TrimSpace(fields)
	line := head[:len(head)-1]
	if len(fields) > len("{}") {
		line = append(line, ',')
	}
	line = slices.Concat(line, fields[1:], []byte("\n"))
	for _, s := range t.secrets {
		line = bytes.ReplaceAll(line, s, []byte(redacted))
	}
	_, err = t.f.Write(line)
	return err
}

// encode returns v as JSON that leaves <, > and & alone.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// Wrap returns s with a line of type model for each request. With a nil File it
// returns s.
func Wrap(s model.Streamer, t *File) model.Streamer {
	if t == nil {
		return s
	}
	return model.Func(func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		t.Write("model", requestOf(req))
		return s.Stream(ctx, req, sink)
	})
}
