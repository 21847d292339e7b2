package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// maxTitle is how many characters a title has at most.
const maxTitle = 200

// What a document calls itself. A later version may have more; a program reads
// those up to its own.
const (
	format  = "lorimer-thread"
	version = 1
)

// JSON writes the thread with the given id as a document that [Read] reads: all
// of its entries, also those that were replaced, one on a line. Without
// [Options.Reasoning] the thoughts of the model are missing, and with them the
// proof of having thought that some providers want back; a model goes on
// without.
func JSON(ctx context.Context, w io.Writer, s Source, id string, o Options) error {
	info, err := s.Info(ctx, id)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	name, err := encode(id)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\n\"format\": %q,\n\"version\": %d,\n\"id\": %s,\n\"entries\": [", format, version, name)
	separator := "\n"
	err = s.Read(ctx, id, 0, func(e thread.Entry) error {
		if e.Seq > info.Last {
			return nil // appended meanwhile
		}
		line, err := encodeEntry(e, o)
		if err != nil {
			return err
		}
		out.WriteString(separator) // the first error stays until Flush
		out.Write(line)
		separator = ",\n"
		return nil
	})
	if err != nil {
		return err
	}
	out.WriteString("\n]\n}\n")
	return out.Flush()
}

// An entry is an entry in a document.
type entry struct {
	Seq  int64           `json:"seq"`
	Time time.Time       `json:"time"` // to the microsecond, as stores keep it
	Kind string          `json:"kind"`
	Body json.RawMessage `json:"body"`
}

func encodeEntry(e thread.Entry, o Options) ([]byte, error) {
	if a, ok := e.Body.(thread.Assistant); ok && !o.Reasoning {
		a.Parts = thoughtless(a.Parts)
		e.Body = a
	}
	kind, body, err := thread.Encode(e.Body)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	return encode(entry{e.Seq, e.Time.UTC().Truncate(time.Microsecond), kind, body})
}

// thoughtless returns parts without reasoning, and texts and calls without what a
// provider has sealed in them, which may be the thought behind them.
func thoughtless(parts []thread.Part) []thread.Part {
	var out []thread.Part
	for _, p := range parts {
		if p.Reasoning != nil || p.Signed != nil && p.Text == "" {
			continue
		}
		p.Signed = nil
		if p.Call != nil && p.Call.Extra != nil {
			c := *p.Call
			c.Extra = nil
			p.Call = &c
		}
		out = append(out, p)
	}
	return out
}

// encode returns v as JSON on one line that leaves <, > and & alone, and does not
// steer a terminal.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return tools.VisibleJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}

// A Document is a thread as it was exported.
type Document struct {
	ID      string
	Entries []thread.Entry
}

// Read reads what [JSON] has written, and checks that it is a whole thread: a
// document of a known version, an id that a session may have, entries of known
// kinds that are numbered from 1 and begin with the making of the thread. The
// error is one line that says what is wrong, and in which line or entry.
//
// The option "mode" is left out: what a model may do without a question is not for
// a document to say. All else is as it was written.
func Read(r io.Reader) (Document, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Document{}, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if i := invalid(data); i >= 0 {
		return Document{}, fmt.Errorf("line %d: not UTF-8", line(data, i))
	}
	var d struct {
		Format  string            `json:"format"`
		Version int               `json:"version"`
		ID      string            `json:"id"`
		Entries []json.RawMessage `json:"entries"`
	}
	at, err := strictly(data, &d)
	switch {
	case d.Format == format && d.Version > version:
		return Document{}, fmt.Errorf("the document has version %d and this lorimer knows %d; use a newer one", d.Version, version)
	case err != nil && at < 0:
		return Document{}, err
	case err != nil:
		return Document{}, fmt.Errorf("line %d: %w", line(data, at), err)
	case d.Format != format:
		return Document{}, fmt.Errorf("not an exported thread: its format is not %q", format)
	case d.Version != version:
		return Document{}, fmt.Errorf("the version is %d, want %d", d.Version, version)
	}
	if err := harness.CheckID(d.ID); err != nil {
		return Document{}, err
	}
	doc := Document{ID: d.ID}
	doc.Entries, err = check(d.Entries)
	return doc, err
}

// check decodes the entries of a thread.
func check(raw []json.RawMessage) ([]thread.Entry, error) {
	if len(raw) == 0 {
		return nil, errors.New("there are no entries")
	}
	all := make([]thread.Entry, 0, len(raw))
	var b before
	for i, data := range raw {
		var r entry
		want := int64(i) + 1
		_, err := strictly(data, &r)
		at := r.Time.UTC().Truncate(time.Microsecond)
		switch {
		case err != nil:
		case r.Seq != want:
			err = fmt.Errorf("its number is %d, want %d", r.Seq, want)
		case at.IsZero():
			err = errors.New("it has no time")
		case at.Year() < 0 || at.Year() > 9999: // its zone leads out of what JSON can say
			err = fmt.Errorf("its time %s is not of the years 0 to 9999 in UTC", r.Time.Format(time.RFC3339))
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", want, err)
		}
		body, err := thread.Decode(r.Kind, r.Body)
		if err == nil {
			err = b.fits(body, want)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", want, err)
		}
		if o, ok := body.(thread.Options); ok {
			delete(o.Values, harness.OptionMode)
		}
		all = append(all, thread.Entry{Seq: want, Time: at, Body: body})
	}
	return all, nil
}

// before is what a body refers to among those that come before it.
type before struct {
	user  int64               // number of the last message of the user
	calls map[string]struct{} // ids
}

// fits reports a body that cannot stand at seq, and notes what it says.
func (p *before) fits(body thread.Body, seq int64) error {
	created, begins := body.(thread.Created)
	switch {
	case begins && seq > 1:
		return errors.New("a thread is created once, by its first entry")
	case !begins && seq == 1:
		return errors.New("the first entry does not create the thread")
	case begins:
		return directories(created.Cwd, created.Roots)
	}
	switch b := body.(type) {
	case thread.Moved:
		return directories(b.Cwd, b.Roots)
	case thread.Title:
		if tools.Line(b.Text, maxTitle) != b.Text {
			return fmt.Errorf("its title is not one line of at most %d characters", maxTitle)
		}
	case thread.Bound:
		return cmp.Or(oneLine("project", b.Project), oneLine("workspace", b.Workspace))
	case thread.User:
		p.user = seq
		return keys(b.Attached)
	case thread.Retried:
		if b.User != p.user || p.user == 0 {
			return fmt.Errorf("it answers message %d anew, which is not the last of the user", b.User)
		}
		return keys(b.Attached)
	case thread.Assistant:
		return cmp.Or(object(b.Meta), p.unique(b.Parts))
	case thread.Result:
		return cmp.Or(object(b.Shown.Meta), ended(b.Shown))
	}
	return nil
}

// oneLine reports a name that is not on one line.
func oneLine(what, name string) error {
	if tools.Line(name, maxLine) != name {
		return fmt.Errorf("its %s is not one line of at most %d characters", what, maxLine)
	}
	return nil
}

// keys reports an attachment with a key that none can have.
func keys(as []thread.Attached) error {
	for _, a := range as {
		kind, id, _ := strings.Cut(a.Key, ":")
		if kind != "resource" && kind != "document" || id == "" || strings.Trim(id, "0123456789abcdef") != "" {
			return fmt.Errorf("its attachment has no key but %q", tools.Line(a.Key, maxLine))
		}
	}
	return nil
}

// unique reports a call whose id another has, or that has none: clients tell calls
// apart by their ids.
func (p *before) unique(parts []thread.Part) error {
	for _, part := range parts {
		if part.Call == nil {
			continue
		}
		id := part.Call.ID
		if _, ok := p.calls[id]; ok || id == "" {
			return fmt.Errorf("its call %q has no id of its own", tools.Line(id, maxLine))
		}
		if p.calls == nil {
			p.calls = make(map[string]struct{})
		}
		p.calls[id] = struct{}{}
	}
	return nil
}

// ended reports a call that is shown in a way that clients do not know, or as one
// that still runs.
func ended(c event.ToolCall) error {
	switch c.Status {
	case "", event.Completed, event.Failed:
	default:
		return fmt.Errorf("its call is shown as %q, which is no end of one", tools.Line(string(c.Status), maxLine))
	}
	switch c.Kind {
	case "", tools.KindRead, tools.KindEdit, tools.KindDelete, tools.KindMove, tools.KindSearch,
		tools.KindExecute, tools.KindThink, tools.KindFetch, tools.KindOther:
		return nil
	}
	return fmt.Errorf("its call is of the unknown kind %q", tools.Line(string(c.Kind), maxLine))
}

// directories reports one that is not absolute. The thread may come from a machine
// that writes paths in another way.
func directories(cwd string, roots []string) error {
	for _, dir := range append([]string{cwd}, roots...) {
		if !strings.HasPrefix(dir, "/") && !strings.HasPrefix(dir, `\\`) && !drive().MatchString(dir) {
			return fmt.Errorf("its directory %q is not absolute", tools.Line(dir, maxLine))
		}
	}
	return nil
}

// drive matches the beginning of an absolute path on Windows.
var drive = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:[\\/]`) })

// object reports metadata that is neither missing nor an object: clients get it as
// it is.
func object(meta json.RawMessage) error {
	if len(meta) == 0 || bytes.HasPrefix(bytes.TrimSpace(meta), []byte("{")) {
		return nil
	}
	return errors.New("its metadata is not an object")
}

// strictly decodes data, which is one value without members that v does not have.
// The error comes with the offset where it shows, which is negative when that is
// not known.
func strictly(data []byte, v any) (at int64, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err = dec.Decode(v)
	if err == nil {
		if rest := bytes.TrimLeft(data[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
			return int64(len(data) - len(rest)), errors.New("something follows the document")
		}
		return 0, nil
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return e.Offset, err
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return e.Offset, fmt.Errorf("%s must not be a JSON %s", cmp.Or(e.Field, "the whole"), e.Value)
	}
	switch {
	case errors.Is(err, io.EOF):
		return 0, errors.New("the document is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return int64(len(data)), errors.New("the document ends in the middle")
	}
	return -1, errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// invalid returns the offset of the first byte that is not UTF-8, or -1.
func invalid(data []byte) int64 {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return int64(i)
		}
		i += size
	}
}

// line returns the line of an offset, from 1.
func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}
