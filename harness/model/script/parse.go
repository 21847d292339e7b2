package script

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 20

// A line is a line of the file as it stands there.
type line struct {
	Match struct {
		Kind     string `json:"kind"`
		Session  string `json:"session"`
		Contains string `json:"contains"`
	} `json:"match"`
	Text      pieces   `json:"text"`
	Think     pieces   `json:"think"`
	DelayMS   int      `json:"delay_ms"`
	Tools     []call   `json:"tools"`
	Usage     *usage   `json:"usage"`
	Stop      string   `json:"stop"`
	Error     *failure `json:"error"`
	FailBuild times    `json:"fail_build"`
	Repeat    times    `json:"repeat"`

	number int // in the file, from 1
	used   int
	failed int // builds
}

// pieces are the parts in which a text arrives.
type pieces []string

// UnmarshalJSON reads a list of strings, or one string.
func (p *pieces) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*p = pieces{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(p))
}

// times counts how often something happens.
type times int

// forever is more often than anything happens.
const forever = times(math.MaxInt)

// UnmarshalJSON reads a number, or a switch: true is for ever, false is never.
func (n *times) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*n = forever
		return nil
	case "false":
		*n = 0
		return nil
	}
	if err := json.Unmarshal(data, (*int)(n)); err != nil || *n < 0 {
		return errors.New("a count is a number from 0, true or false")
	}
	return nil
}

// A call is a call of a tool.
type call struct {
	ID   string    `json:"id"`
	Name string    `json:"name"`
	Args arguments `json:"args"`
}

// arguments are sent as they are.
type arguments string

// UnmarshalJSON takes an object as it is written, and a string by its content.
func (a *arguments) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, (*string)(a))
	}
	*a = arguments(data)
	return nil
}

// usage counts tokens.
type usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
	Reasoning  int `json:"reasoning"`
}

// A failure is how a request fails.
type failure struct {
	Status     int        `json:"status"`
	Retryable  *bool      `json:"retryable"`
	Kind       model.Kind `json:"kind"`
	Message    string     `json:"message"`
	RetryAfter float64    `json:"retry_after"` // seconds
}

// Load reads the script at path.
func Load(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening script: %w", err)
	}
	defer f.Close()
	return Parse(f, path)
}

// Parse reads a script from r. Errors name it as name, with the line.
func Parse(r io.Reader, name string) (*Script, error) {
	s := &Script{name: name}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	for n := 1; sc.Scan(); n++ {
		text := bytes.TrimSpace(bytes.TrimPrefix(sc.Bytes(), []byte("\xef\xbb\xbf")))
		if len(text) == 0 {
			continue
		}
		l, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		l.number = n
		s.lines = append(s.lines, l)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading script %s: %w", name, err)
	}
	return s, nil
}

// parseLine reads one line and checks it.
func parseLine(text []byte) (*line, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	l := &line{Repeat: 1}
	if err := dec.Decode(l); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("a line is one object, and something follows it")
	}
	if l.DelayMS < 0 {
		return nil, errors.New("delay_ms must not be negative")
	}
	if l.Stop != "" && !slices.Contains(stops(), model.Stop(l.Stop)) {
		return nil, fmt.Errorf("stop %q is not one of %q", l.Stop, stops())
	}
	if f := l.Error; f != nil && f.Kind != "" && !slices.Contains(kinds(), f.Kind) {
		return nil, fmt.Errorf("error kind %q is not one of %q", f.Kind, kinds())
	}
	for i, t := range l.Tools {
		if t.Name == "" {
			return nil, fmt.Errorf("tool %d has no name", i+1)
		}
		if t.Args == "" {
			l.Tools[i].Args = "{}"
		}
	}
	if l.FailBuild == forever {
		l.FailBuild = 1
	}
	if l.Match.Kind == "" {
		l.Match.Kind = mainKind
	}
	return l, nil
}

// stops lists the reasons to end.
func stops() []model.Stop {
	return []model.Stop{model.StopEnd, model.StopTools, model.StopLength, model.StopContext, model.StopRefusal, model.StopPause}
}

// kinds lists the kinds of failure that a script can name.
func kinds() []model.Kind {
	return []model.Kind{
		model.Unknown, model.Auth, model.NotFound, model.Invalid, model.TokenLimit, model.RateLimit, model.Quota,
		model.Refused, model.Overloaded, model.Connection, model.Idle, model.Malformed, model.Unavailable,
	}
}

// empty reports whether the line says nothing that could be an answer.
func (l *line) empty() bool {
	return l.Text == nil && l.Think == nil && l.Tools == nil && l.Usage == nil && l.Stop == "" && l.Error == nil
}

// err returns the failure of the line, or nil.
func (l *line) err() *model.Error {
	f := l.Error
	if f == nil {
		return nil
	}
	e := &model.Error{
		Kind:       f.kind(),
		Provider:   provider,
		Status:     f.Status,
		Message:    f.Message,
		RetryAfter: time.Duration(f.RetryAfter * float64(time.Second)),
		Final:      f.Retryable != nil && !*f.Retryable,
		Partial:    len(l.Text)+len(l.Think)+len(l.Tools) > 0,
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("the script's line %d fails with status %d", l.number, f.Status)
	}
	return e
}

// kind returns what a provider's status means, unless the script says it.
func (f *failure) kind() model.Kind {
	kind := f.Kind
	switch {
	case kind != "":
	case f.Status == 0:
		kind = model.Connection
	case f.Status == 401 || f.Status == 403:
		kind = model.Auth
	case f.Status == 402:
		kind = model.Quota
	case f.Status == 404:
		kind = model.NotFound
	case f.Status == 429:
		kind = model.RateLimit
	case f.Status >= 500 || f.Status == 408 || f.Status == 409:
		kind = model.Overloaded
	default:
		kind = model.Invalid
	}
	if f.Kind == "" && f.Retryable != nil && *f.Retryable && !(&model.Error{Kind: kind}).Temporary() {
		return model.Overloaded
	}
	return kind
}
