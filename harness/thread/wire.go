package thread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/tools"
)

// The types of this file are the stored form of the bodies. A name in them is
// never given another meaning, since databases and exports outlive the program
// that wrote them. JSON of others is stored as text, which keeps it as it is.

type wireCreated struct {
	Cwd    text   `json:"cwd,omitempty"`
	Roots  []text `json:"roots,omitempty"`
	Parent text   `json:"parent,omitempty"`
}

func (w wireCreated) body() (Body, error) {
	return Created{string(w.Cwd), list(w.Roots), string(w.Parent)}, nil
}

type wireMoved struct {
	Cwd   text   `json:"cwd,omitempty"`
	Roots []text `json:"roots,omitempty"`
}

func (w wireMoved) body() (Body, error) { return Moved{string(w.Cwd), list(w.Roots)}, nil }

type wireBound struct {
	Project   text `json:"project,omitempty"`
	Workspace text `json:"workspace,omitempty"`
}

func (w wireBound) body() (Body, error) { return Bound{string(w.Project), string(w.Workspace)}, nil }

type wireNote struct {
	Text text `json:"text,omitempty"`
}

func (w wireNote) body() (Body, error) { return Note{string(w.Text)}, nil }

type wireWithdrawn struct{}

func (wireWithdrawn) body() (Body, error) { return Withdrawn{}, nil }

type wireRetried struct {
	User     int64          `json:"user"`
	Sent     []wirePart     `json:"sent,omitempty"`
	Attached []wireAttached `json:"attached,omitempty"`
	Told     []text         `json:"told,omitempty"`
}

func (w wireRetried) body() (Body, error) {
	sent, err := readParts(w.Sent, nil)
	return Retried{User: w.User, Sent: sent, Attached: readAttached(w.Attached), Told: list(w.Told)}, err
}

type wireArchived struct {
	On bool `json:"on"`
}

func (w wireArchived) body() (Body, error) { return Archived(w), nil }

type wireTitle struct {
	Text text `json:"text,omitempty"`
	User bool `json:"user,omitempty"`
}

func (w wireTitle) body() (Body, error) { return Title{string(w.Text), w.User}, nil }

type wireOptions struct {
	Values map[string]text `json:"values,omitempty"`
}

func (w wireOptions) body() (Body, error) { return Options{stringMap(w.Values)}, nil }

type wireUser struct {
	MessageID text           `json:"message_id,omitempty"`
	Blocks    []wireBlock    `json:"blocks,omitempty"`
	Sent      []wirePart     `json:"sent,omitempty"`
	Attached  []wireAttached `json:"attached,omitempty"`
	Told      []text         `json:"told,omitempty"`
}

type wireBlock struct {
	Text text   `json:"text,omitempty"`
	MIME text   `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
	Name text   `json:"name,omitempty"`
	URI  text   `json:"uri,omitempty"`

	Embedded bool `json:"embedded,omitempty"`
}

func newWireUser(u User) wireUser {
	w := wireUser{
		MessageID: text(u.MessageID), Sent: newWireParts(u.Sent), Attached: newWireAttached(u.Attached), Told: texts(u.Told),
	}
	for _, b := range u.Blocks {
		w.Blocks = append(w.Blocks, wireBlock{text(b.Text), text(b.MIME), b.Data, text(b.Name), text(b.URI), b.Embedded})
	}
	for _, p := range w.Sent {
		p.Image.refer(u.Blocks)
	}
	return w
}

func (w wireUser) body() (Body, error) {
	u := User{MessageID: string(w.MessageID), Attached: readAttached(w.Attached), Told: list(w.Told)}
	for _, b := range w.Blocks {
		u.Blocks = append(u.Blocks, event.Block{
			Text: string(b.Text), MIME: string(b.MIME), Data: b.Data, Name: string(b.Name), URI: string(b.URI),
			Embedded: b.Embedded,
		})
	}
	var err error
	u.Sent, err = readParts(w.Sent, u.Blocks)
	return u, err
}

type wireAttached struct {
	Key  text `json:"key"`
	Name text `json:"name,omitempty"`
	URI  text `json:"uri,omitempty"`
	Type text `json:"type,omitempty"`
}

func newWireAttached(as []Attached) []wireAttached {
	var out []wireAttached
	for _, a := range as {
		out = append(out, wireAttached{text(a.Key), text(a.Name), text(a.URI), text(a.Type)})
	}
	return out
}

func readAttached(ws []wireAttached) []Attached {
	var out []Attached
	for _, w := range ws {
		out = append(out, Attached{string(w.Key), string(w.Name), string(w.URI), string(w.Type)})
	}
	return out
}

type wireAssistant struct {
	MessageID text       `json:"message_id,omitempty"`
	Parts     []wirePart `json:"parts,omitempty"`
	Usage     wireUsage  `json:"usage,omitzero"`
	Stop      text       `json:"stop,omitempty"`
	Model     text       `json:"model,omitempty"`
	Partial   bool       `json:"partial,omitempty"`
	Void      bool       `json:"void,omitempty"`
	Meta      text       `json:"meta,omitempty"` // JSON
}

type wireUsage struct {
	Input      int  `json:"input"`
	Output     int  `json:"output"`
	CacheRead  int  `json:"cache_read,omitempty"`
	CacheWrite int  `json:"cache_write,omitempty"`
	Reasoning  int  `json:"reasoning,omitempty"`
	Known      bool `json:"known,omitempty"`
}

func newWireAssistant(a Assistant) wireAssistant {
	return wireAssistant{
		MessageID: text(a.MessageID), Parts: newWireParts(a.Parts), Usage: wireUsage(a.Usage),
		Stop: text(a.Stop), Model: text(a.Model), Partial: a.Partial, Void: a.Void, Meta: text(a.Meta),
	}
}

func (w wireAssistant) body() (Body, error) {
	ps, err := readParts(w.Parts, nil)
	return Assistant{
		MessageID: string(w.MessageID), Parts: ps, Usage: model.Usage(w.Usage),
		Stop: model.Stop(w.Stop), Model: string(w.Model), Partial: w.Partial, Void: w.Void, Meta: raw(w.Meta),
	}, err
}

type wirePart struct {
	ID        text           `json:"id,omitempty"`
	Text      text           `json:"text,omitempty"`
	Signed    *wireSigned    `json:"signed,omitempty"`
	Reasoning *wireReasoning `json:"reasoning,omitempty"`
	Call      *wireCall      `json:"call,omitempty"`
	Image     *wireImage     `json:"image,omitempty"`
	Name      text           `json:"name,omitempty"`
}

type wireSigned struct {
	Provider text `json:"provider,omitempty"`
	Content  text `json:"content,omitempty"` // JSON
}

type wireReasoning struct {
	Text      text `json:"text,omitempty"`
	Provider  text `json:"provider,omitempty"`
	Signature text `json:"signature,omitempty"`
	Redacted  text `json:"redacted,omitempty"`
	Field     text `json:"field,omitempty"`
}

type wireCall struct {
	ID       text `json:"id,omitempty"`
	WireID   text `json:"wire_id,omitempty"`
	Name     text `json:"name,omitempty"`
	Args     text `json:"args,omitempty"` // as the model wrote them
	Provider text `json:"provider,omitempty"`
	Extra    text `json:"extra,omitempty"` // JSON
}

// A wireImage is a picture, or the number of the block of the same message that
// holds it.
type wireImage struct {
	MIME  text   `json:"mime,omitempty"`
	Data  []byte `json:"data,omitempty"`
	Block *int   `json:"block,omitempty"`
}

// refer drops the bytes of a picture that is one of blocks.
func (w *wireImage) refer(blocks []event.Block) {
	if w == nil || len(w.Data) == 0 {
		return
	}
	i := slices.IndexFunc(blocks, func(b event.Block) bool {
		return b.MIME == string(w.MIME) && bytes.Equal(b.Data, w.Data)
	})
	if i >= 0 {
		*w = wireImage{Block: &i}
	}
}

func (w *wireImage) image(blocks []event.Block) (tools.Image, error) {
	if w.Block == nil {
		return tools.Image{MIME: string(w.MIME), Data: w.Data}, nil
	}
	if i := *w.Block; i < 0 || i >= len(blocks) {
		return tools.Image{}, fmt.Errorf("picture of block %d of %d", i, len(blocks))
	}
	b := blocks[*w.Block]
	return tools.Image{MIME: b.MIME, Data: b.Data}, nil
}

func newWireParts(ps []Part) []wirePart {
	var out []wirePart
	for _, p := range ps {
		w := wirePart{ID: text(p.ID), Text: text(p.Text), Name: text(p.Name)}
		if s := p.Signed; s != nil {
			w.Signed = &wireSigned{text(s.Provider), text(s.Content)}
		}
		if r := p.Reasoning; r != nil {
			w.Reasoning = &wireReasoning{text(r.Text), text(r.Provider), text(r.Signature), text(r.Redacted), text(r.Field)}
		}
		if c := p.Call; c != nil {
			w.Call = &wireCall{text(c.ID), text(c.WireID), text(c.Name), text(c.Args), text(c.Provider), text(c.Extra)}
		}
		if p.Image != nil {
			w.Image = &wireImage{MIME: text(p.Image.MIME), Data: p.Image.Data}
		}
		out = append(out, w)
	}
	return out
}

// readParts returns the parts of a message; their pictures may be among blocks.
func readParts(ws []wirePart, blocks []event.Block) ([]Part, error) {
	var out []Part
	for _, w := range ws {
		p := Part{ID: string(w.ID), Text: string(w.Text), Name: string(w.Name)}
		if s := w.Signed; s != nil {
			p.Signed = &Signed{string(s.Provider), raw(s.Content)}
		}
		if r := w.Reasoning; r != nil {
			p.Reasoning = &Reasoning{string(r.Text), string(r.Provider), string(r.Signature), string(r.Redacted), string(r.Field)}
		}
		if c := w.Call; c != nil {
			p.Call = &Call{string(c.ID), string(c.WireID), string(c.Name), string(c.Args), string(c.Provider), raw(c.Extra)}
		}
		if w.Image != nil {
			img, err := w.Image.image(blocks)
			if err != nil {
				return nil, err
			}
			p.Image = &img
		}
		out = append(out, p)
	}
	return out, nil
}

type wireResult struct {
	CallID  text         `json:"call_id,omitempty"`
	Text    text         `json:"text,omitempty"`
	IsError bool         `json:"is_error,omitempty"`
	Images  []wireImage  `json:"images,omitempty"`
	Shown   wireShown    `json:"shown,omitzero"`
	Answers []wireAnswer `json:"answers,omitempty"`
	Told    []text       `json:"told,omitempty"`
	Usage   wireUsage    `json:"usage,omitzero"`
}

type wireAnswer struct {
	Question text   `json:"question"`
	Chosen   []text `json:"chosen,omitempty"`
}

// A wireShown is the call as the client last saw it. Most of its texts are
// that of the result, which SameText says.
type wireShown struct {
	ID        text           `json:"id,omitempty"`
	New       bool           `json:"new,omitempty"`
	Name      text           `json:"name,omitempty"`
	Title     text           `json:"title,omitempty"`
	Kind      text           `json:"kind,omitempty"`
	Status    text           `json:"status,omitempty"`
	Input     text           `json:"input,omitempty"` // JSON
	Locations []wireLocation `json:"locations,omitempty"`
	Diffs     []wireDiff     `json:"diffs,omitempty"`
	Text      text           `json:"text,omitempty"`
	SameText  bool           `json:"same_text,omitempty"`
	Output    text           `json:"output,omitempty"` // JSON
	Meta      text           `json:"meta,omitempty"`   // JSON
}

type wireLocation struct {
	Path text `json:"path"`
	Line int  `json:"line,omitempty"`
}

type wireDiff struct {
	Path text  `json:"path"`
	Old  *text `json:"old,omitempty"` // none for a new file
	New  text  `json:"new"`
}

func newWireResult(r Result) (wireResult, error) {
	w := wireResult{
		CallID: text(r.CallID), Text: text(r.Text), IsError: r.IsError, Told: texts(r.Told), Usage: wireUsage(r.Usage),
	}
	for _, a := range r.Answers {
		w.Answers = append(w.Answers, wireAnswer{text(a.Question), texts(a.Chosen)})
	}
	for _, img := range r.Images {
		w.Images = append(w.Images, wireImage{MIME: text(img.MIME), Data: img.Data})
	}
	c := r.Shown
	w.Shown = wireShown{
		ID: text(c.ID), New: c.New, Name: text(c.Name), Title: text(c.Title),
		Kind: text(c.Kind), Status: text(c.Status), Input: text(c.Input), Meta: text(c.Meta),
	}
	if w.Shown.SameText = c.Text != "" && c.Text == r.Text; !w.Shown.SameText {
		w.Shown.Text = text(c.Text)
	}
	for _, l := range c.Locations {
		w.Shown.Locations = append(w.Shown.Locations, wireLocation{text(l.Path), l.Line})
	}
	for _, d := range c.Diffs {
		w.Shown.Diffs = append(w.Shown.Diffs, wireDiff{text(d.Path), (*text)(d.Old), text(d.New)})
	}
	var err error
	w.Shown.Output, err = output(c.Output)
	return w, err
}

func (w wireResult) body() (Body, error) {
	r := Result{
		CallID: string(w.CallID), Text: string(w.Text), IsError: w.IsError, Told: list(w.Told), Usage: model.Usage(w.Usage),
	}
	for _, a := range w.Answers {
		r.Answers = append(r.Answers, tools.Answer{Question: string(a.Question), Chosen: list(a.Chosen)})
	}
	for _, img := range w.Images {
		r.Images = append(r.Images, tools.Image{MIME: string(img.MIME), Data: img.Data})
	}
	s := w.Shown
	r.Shown = event.ToolCall{
		ID: string(s.ID), New: s.New, Name: string(s.Name), Title: string(s.Title),
		Kind: tools.Kind(s.Kind), Status: event.Status(s.Status), Input: raw(s.Input), Text: string(s.Text), Meta: raw(s.Meta),
	}
	if s.SameText {
		r.Shown.Text = r.Text
	}
	for _, l := range s.Locations {
		r.Shown.Locations = append(r.Shown.Locations, tools.Location{Path: string(l.Path), Line: l.Line})
	}
	for _, d := range s.Diffs {
		r.Shown.Diffs = append(r.Shown.Diffs, tools.Diff{Path: string(d.Path), Old: (*string)(d.Old), New: string(d.New)})
	}
	if s.Output != "" {
		r.Shown.Output = raw(s.Output)
	}
	return r, nil
}

// output returns v in JSON, as it is if it is JSON already.
func output(v any) (text, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case json.RawMessage:
		return text(v), nil
	}
	data, err := marshal(v)
	return text(data), err
}

// raw returns JSON that was stored as text.
func raw(t text) json.RawMessage {
	if t == "" {
		return nil
	}
	return json.RawMessage(t)
}

type wireInfo struct {
	ID       text            `json:"id"`
	Cwd      text            `json:"cwd,omitempty"`
	Roots    []text          `json:"roots,omitempty"`
	Project  text            `json:"project,omitempty"`
	Bound    text            `json:"bound,omitempty"`
	Mark     string          `json:"mark,omitempty"`
	Title    text            `json:"title,omitempty"`
	Named    bool            `json:"named,omitempty"`
	Options  map[string]text `json:"options,omitempty"`
	Created  int64           `json:"created"` // microseconds since 1970, UTC
	Updated  int64           `json:"updated"`
	Archived bool            `json:"archived,omitempty"`
	Parent   text            `json:"parent,omitempty"`
	Last     int64           `json:"last"`
	User     int64           `json:"user,omitempty"`
	Messages int64           `json:"messages,omitempty"`
	Revision int             `json:"revision,omitempty"`
	Retried  int64           `json:"retried,omitempty"`
	Replaced []wireSpan      `json:"replaced,omitempty"`
}

type wireSpan struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}
