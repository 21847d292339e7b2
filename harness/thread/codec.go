package thread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// A KindError tells of an entry whose kind this program does not know.
type KindError struct{ Kind string }

func (e *KindError) Error() string {
	return fmt.Sprintf("entry of the unknown kind %.40q, perhaps of a newer lorimer; use that one", e.Kind)
}

// Encode returns the stored form of b: the name of its kind, and a JSON object
// that [Decode] makes an equal body of, for all time. Numbers and JSON inside it
// stay as they were written, character by character; an Output becomes the
// [json.RawMessage] of it. An empty list, map or JSON is as good as none.
func Encode(b Body) (kind string, data []byte, err error) {
	var wire any
	switch b := b.(type) {
	case Created:
		kind, wire = "created", wireCreated{text(b.Cwd), texts(b.Roots), text(b.Parent)}
	case Moved:
		kind, wire = "moved", wireMoved{text(b.Cwd), texts(b.Roots)}
	case Bound:
		kind, wire = "bound", wireBound{text(b.Project), text(b.Workspace)}
	case User:
		kind, wire = "user", newWireUser(b)
	case Assistant:
		kind, wire = "assistant", newWireAssistant(b)
	case Result:
		kind = "result"
		wire, err = newWireResult(b)
	case Note:
		kind, wire = "note", wireNote{text(b.Text)}
	case Withdrawn:
		kind, wire = "withdrawn", wireWithdrawn{}
	case Retried:
		kind, wire = "retried", wireRetried{b.User, newWireParts(b.Sent), newWireAttached(b.Attached), texts(b.Told)}
	case Archived:
		kind, wire = "archived", wireArchived(b)
	case Options:
		kind, wire = "options", wireOptions{textMap(b.Values)}
	case Title:
		kind, wire = "title", wireTitle{text(b.Text), b.User}
	default:
		return "", nil, fmt.Errorf("encoding entry: %T has no stored form", b)
	}
	if err == nil {
		data, err = marshal(wire)
	}
	if err != nil {
		return "", nil, fmt.Errorf("encoding entry of kind %s: %w", kind, err)
	}
	return kind, data, nil
}

// Decode returns the body that [Encode] gave kind and data for, or a
// [*KindError]. What it does not know in data it ignores.
func Decode(kind string, data []byte) (Body, error) {
	switch kind {
	case "created":
		return decode[wireCreated](kind, data)
	case "moved":
		return decode[wireMoved](kind, data)
	case "bound":
		return decode[wireBound](kind, data)
	case "user":
		return decode[wireUser](kind, data)
	case "assistant":
		return decode[wireAssistant](kind, data)
	case "result":
		return decode[wireResult](kind, data)
	case "note":
		return decode[wireNote](kind, data)
	case "withdrawn":
		return decode[wireWithdrawn](kind, data)
	case "retried":
		return decode[wireRetried](kind, data)
	case "archived":
		return decode[wireArchived](kind, data)
	case "options":
		return decode[wireOptions](kind, data)
	case "title":
		return decode[wireTitle](kind, data)
	}
	return nil, &KindError{Kind: kind}
}

// EncodeInfo returns the stored form of i, a JSON object. Its times are kept to
// the microsecond.
func EncodeInfo(i Info) ([]byte, error) {
	w := wireInfo{
		ID: text(i.ID), Mark: i.Mark, Cwd: text(i.Cwd), Roots: texts(i.Roots), Project: text(i.Project), Bound: text(i.Bound),
		Title: text(i.Title), Named: i.Named, Options: textMap(i.Options), Created: i.Created.UnixMicro(), Updated: i.Updated.UnixMicro(),
		Archived: i.Archived, Parent: text(i.Parent), Last: i.Last, User: i.User, Messages: i.Messages, Revision: i.Revision, Retried: i.Retried,
	}
	for _, s := range i.Replaced {
		w.Replaced = append(w.Replaced, wireSpan(s))
	}
	return marshal(w)
}

// DecodeInfo returns what [EncodeInfo] gave data for.
func DecodeInfo(data []byte) (Info, error) {
	var w wireInfo
	if err := json.Unmarshal(data, &w); err != nil {
		return Info{}, fmt.Errorf("decoding what a list says of a thread: %w", err)
	}
	i := Info{
		ID: string(w.ID), Mark: w.Mark, Cwd: string(w.Cwd), Roots: list(w.Roots), Project: string(w.Project), Bound: string(w.Bound),
		Title: string(w.Title), Named: w.Named, Options: stringMap(w.Options), Created: time.UnixMicro(w.Created).UTC(), Updated: time.UnixMicro(w.Updated).UTC(),
		Archived: w.Archived, Parent: string(w.Parent), Last: w.Last, User: w.User, Messages: w.Messages, Revision: w.Revision, Retried: w.Retried,
	}
	for _, s := range w.Replaced {
		i.Replaced = append(i.Replaced, Span(s))
	}
	return i, nil
}

// decode reads the stored form W of a body.
func decode[W interface{ body() (Body, error) }](kind string, data []byte) (Body, error) {
	var w W
	err := json.Unmarshal(data, &w)
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		err = fmt.Errorf("%.20q is no object", data)
	}
	var b Body
	if err == nil {
		b, err = w.body()
	}
	if err != nil {
		return nil, fmt.Errorf("decoding entry of kind %s: %w", kind, err)
	}
	return b, nil
}

// marshal returns v in JSON, without the escapes that HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// A text is a string that comes back byte for byte: JSON alone would change what
// is not UTF-8, such as a part of the name of a file.
type text string

// MarshalJSON returns a string, or an object with the bytes of what is none. Most
// texts need no look at JSON's rules.
func (t text) MarshalJSON() ([]byte, error) {
	switch {
	case isPlain(t):
		return append(append(append(make([]byte, 0, len(t)+2), '"'), t...), '"'), nil
	case utf8.ValidString(string(t)):
		return marshal(string(t))
	}
	return marshal(wireBytes{[]byte(t)})
}

// isPlain reports whether t stands in JSON as it is.
func isPlain(t text) bool {
	for i := range len(t) {
		if c := t[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// UnmarshalJSON reads what MarshalJSON has written.
func (t *text) UnmarshalJSON(data []byte) error {
	switch {
	case len(data) > 0 && data[0] == '{':
		var b wireBytes
		err := json.Unmarshal(data, &b)
		*t = text(b.Base64)
		return err
	case len(data) > 1 && data[0] == '"' && bytes.IndexByte(data, '\\') < 0 && utf8.Valid(data):
		*t = text(data[1 : len(data)-1])
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

type wireBytes struct {
	Base64 []byte `json:"base64"`
}

// texts and list convert between lists of texts and of strings.
func texts(list []string) []text {
	var out []text
	for _, s := range list {
		out = append(out, text(s))
	}
	return out
}

func list(ts []text) []string {
	var out []string
	for _, t := range ts {
		out = append(out, string(t))
	}
	return out
}

// textMap and stringMap convert between maps of texts and of strings.
func textMap(m map[string]string) map[string]text {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]text, len(m))
	for k, v := range m {
		out[k] = text(v)
	}
	return out
}

func stringMap(m map[string]text) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = string(v)
	}
	return out
}
