package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

var (
	nameRule = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	idRule   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
)

// A wrong is what a provider refuses of a request, and why.
type wrong struct {
	field  string // such as messages.2.content; "" is the request as a whole
	reason string
	status int    // of the answer; 0 is 400
	code   string // the provider's own, if it has one for it
	wait   string // seconds after which it may go better, for protocols that say so in the body
}

func (w *wrong) Error() string {
	if w.field == "" {
		return w.reason
	}
	return w.field + ": " + w.reason
}

// bad refuses what stands in field.
func bad(field, format string, args ...any) error {
	return &wrong{field: field, reason: fmt.Sprintf(format, args...)}
}

// coded refuses with a status and a code of the provider's own.
func coded(status int, code, field, format string, args ...any) error {
	return &wrong{field: field, reason: fmt.Sprintf(format, args...), status: status, code: code}
}

// at says that err was found in what stands in path; nil stays nil.
func at(path string, err error) error {
	var w *wrong
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &w):
		return &wrong{field: path, reason: err.Error()}
	}
	in := *w
	in.field = join(path, w.field)
	return &in
}

func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}

// elem is the path of element i.
func elem(path string, i int) string { return path + "." + strconv.Itoa(i) }

// refusal is err as a wrong.
func refusal(err error) *wrong {
	var w *wrong
	if !errors.As(err, &w) {
		w = &wrong{reason: err.Error()}
	}
	out := *w
	if out.status == 0 {
		out.status = http.StatusBadRequest
	}
	return &out
}

// bracketed is field as OpenAI and Google write one: messages[2].content.
func bracketed(field string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(field, ".") {
		switch _, err := strconv.Atoi(word); {
		case err == nil:
			out.WriteString("[" + word + "]")
		case out.Len() > 0:
			out.WriteString("." + word)
		default:
			out.WriteString(word)
		}
	}
	return out.String()
}

// An object is a JSON object.
type object map[string]json.RawMessage

// members reads an object and refuses what is none, keys that it has twice, and
// keys that are not among known, if any are.
func members(raw json.RawMessage, known ...string) (object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, bad("", "not an object: %.80q", raw)
	}
	out := object{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, bad("", "not valid JSON: %v", err)
		}
		k := t.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, bad(k, "not valid JSON: %v", err)
		}
		if _, twice := out[k]; twice {
			return nil, bad(k, "the key stands there twice")
		}
		if len(known) > 0 && !slices.Contains(known, k) {
			return nil, coded(0, "unknown_parameter", k, "unknown field; extra inputs are not permitted")
		}
		out[k] = v
	}
	if _, err := d.Token(); err != nil {
		return nil, bad("", "not valid JSON: %v", err)
	}
	return out, nil
}

// has reports whether k is there and not null.
func (o object) has(k string) bool { return !absent(o[k]) }

// text is the string under k, "" for anything else.
func (o object) text(k string) string { return text(o[k]) }

// word reads a string that is one of words; "" if it is absent.
func (o object) word(k string, words ...string) (string, error) {
	if !o.has(k) {
		return "", nil
	}
	var s string
	if json.Unmarshal(o[k], &s) != nil || !slices.Contains(words, s) {
		return "", bad(k, "%.80s is not one of %s", o[k], strings.Join(words, ", "))
	}
	return s, nil
}

// int reads a whole number from least on; 0 if it is absent.
func (o object) int(k string, least int) (int, error) {
	if !o.has(k) {
		return 0, nil
	}
	var n int
	if json.Unmarshal(o[k], &n) != nil || n < least {
		return 0, bad(k, "%.80s is not a whole number of at least %d", o[k], least)
	}
	return n, nil
}

// text reads a string; absent, null and anything else are "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// isText reports whether raw is a string.
func isText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

// list reads an array; anything else is nil.
func list(raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func isObject(raw json.RawMessage) bool {
	return json.Valid(raw) && strings.HasPrefix(strings.TrimSpace(string(raw)), "{")
}

// pairs checks that every call has its result, in order, right after it.
type pairs struct {
	seen map[string]bool // every id of the request
	open []string        // ids that wait for a result
	ids  *regexp.Regexp  // default: idRule
}

func (p *pairs) call(id, name string) error {
	rule := p.ids
	if rule == nil {
		rule = idRule
	}
	switch {
	case !rule.MatchString(id):
		return bad("id", "id %q of a call does not match %s", id, rule)
	case !nameRule.MatchString(name):
		return bad("name", "name %q of a call does not match %s", name, nameRule)
	case p.seen[id]:
		return bad("id", "id %q of a call is not unique", id)
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[id] = true
	p.open = append(p.open, id)
	return nil
}

func (p *pairs) result(id string) error {
	switch {
	case len(p.open) == 0:
		return bad("", "result of %q does not follow its call", id)
	case p.open[0] != id:
		return bad("", "result of %q where that of %q is due", id, p.open[0])
	}
	p.open = p.open[1:]
	return nil
}

func (p *pairs) settled() error {
	if len(p.open) > 0 {
		return bad("", "calls without a result: %s", strings.Join(p.open, ", "))
	}
	return nil
}

// checkNames checks the names of declarations.
func checkNames(names []string) error {
	for i, n := range names {
		if !nameRule.MatchString(n) {
			return bad(join(elem("tools", i), "name"), "name %q does not match %s", n, nameRule)
		}
		if slices.Contains(names[:i], n) {
			return bad(join(elem("tools", i), "name"), "name %q is not unique", n)
		}
	}
	return nil
}

// pictureTypes are the media types that every provider of pictures takes.
func pictureTypes() []string {
	return []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
}

// checkPicture checks the media type and the base64 of a picture, whose bytes
// must be of that type where they show one.
func checkPicture(mime, data string, types ...string) error {
	b, err := base64.StdEncoding.DecodeString(data)
	switch {
	case !slices.Contains(types, mime):
		return bad("", "a picture of type %q; supported are %s", mime, strings.Join(types, ", "))
	case err != nil || len(b) == 0:
		return bad("", "a picture that is not base64 or empty: %.20q", data)
	case model.PictureType(mime, b) != mime:
		return bad("", "a picture of type %q whose bytes are %s", mime, model.PictureType(mime, b))
	}
	return nil
}

// checkDataURL checks a picture in a data URL, or its address.
func checkDataURL(url string) error {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
			return nil
		}
		return bad("", "neither a data URL nor an address: %.80q", url)
	}
	mime, data, ok := strings.Cut(rest, ";base64,")
	if !ok {
		return bad("", "a data URL that is not base64: %.80q", url)
	}
	return checkPicture(mime, data, pictureTypes()...)
}
