package responses

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
)

// maxID is the longest id that the API takes back; some gateways make longer
// ones.
const maxID = 64

// kept is what an item has beside its text or call, as it stands in a part. The
// type tells it from the opaque data of other protocols.
type kept struct {
	Type  string `json:"type"`
	ID    string `json:"id,omitempty"`
	Phase string `json:"phase,omitempty"` // of a message: commentary or final_answer

	callID string
}

// json is k, nil if it holds nothing.
func (k kept) json() json.RawMessage {
	if len(k.ID) > maxID {
		k.ID = ""
	}
	if k.ID == "" && k.Phase == "" {
		return nil
	}
	var w body.Writer
	w.Object().Key("type").String(k.Type)
	if k.ID != "" {
		w.Key("id").String(k.ID)
	}
	if k.Phase != "" {
		w.Key("phase").String(k.Phase)
	}
	return json.RawMessage(w.EndObject().Bytes())
}

// read takes over what data keeps of an item of the type kind, and reports
// whether it does.
func (k *kept) read(kind string, data json.RawMessage) bool {
	var v kept
	if json.Unmarshal(data, &v) != nil || v.Type != kind {
		return false
	}
	*k = v
	return true
}

// writeMessage writes a message of the model.
func (k kept) writeMessage(w *body.Writer, text string) {
	w.Object()
	if k.ID == "" {
		w.Key("role").String("assistant").Key("content").String(text)
	} else {
		w.Key("type").String("message").Key("id").String(k.ID).Key("role").String("assistant").Key("status").String("completed").
			Key("content").Array().Object().Key("type").String("output_text").Key("text").String(text).
			Key("annotations").Array().EndArray().EndObject().EndArray()
	}
	if k.Phase != "" {
		w.Key("phase").String(k.Phase)
	}
	w.EndObject()
}

// writeCall writes a call of the model.
func (k kept) writeCall(w *body.Writer, call *llms.FunctionCall) {
	w.Object().Key("type").String("function_call")
	if k.ID != "" {
		w.Key("id").String(k.ID)
	}
	w.Key("call_id").String(k.callID).Key("name").String(call.Name).Key("arguments").String(call.Arguments).EndObject()
}

// A form is what a piece of an item is.
type form int

// The forms.
const (
	said    form = iota // text of a message
	refused             // a refusal, also in a message
	thought             // text of a thought
	summary             // of a thought
	args                // arguments of a call
)

// A piece is one part of an item as it streamed.
type piece struct {
	form  form
	index int
	lead  string // told before it, to set it apart from the piece before
	text  strings.Builder
	final string // of arguments that did not end as they streamed
}

func (p *piece) String() string {
	if p.final != "" {
		return p.final
	}
	return p.text.String()
}

// An item is one item of the answer under construction. Its type is message,
// reasoning, function_call, or one that is passed over.
type item struct {
	source
	ids     []string // under which the server speaks of it
	index   int      // in the output, -1 if the server did not say
	pieces  []*piece
	raw     json.RawMessage // of a whole thought
	done    bool
	id      string // of a call, once it has been told
	ordinal int    // of a call, -1 until it has been told
}

// goes reports whether the server speaks of it under id.
func (it *item) goes(id string) bool { return id != "" && slices.Contains(it.ids, id) }

// follows reports whether s, which comes with event and goes by an id of it, is
// another item all the same: one that begins, or is whole at another place in the
// output, when it was whole already.
func (it *item) follows(s *source, index *int, event string) bool {
	if !it.done || it.ID == s.ID {
		return false
	}
	return event == itemAdded || event == itemDone && index != nil && it.index >= 0 && *index != it.index
}

// piece returns the piece of the form f at index.
func (it *item) piece(f form, index int) *piece {
	for _, p := range slices.Backward(it.pieces) {
		if p.form == f && p.index == index {
			return p
		}
	}
	p := &piece{form: f, index: index}
	it.pieces = append(it.pieces, p)
	return p
}

// String is all that was told of it, or its arguments.
func (it *item) String() string {
	if len(it.pieces) == 1 {
		return it.pieces[0].lead + it.pieces[0].String()
	}
	var b strings.Builder
	for _, p := range it.pieces {
		b.WriteString(p.lead)
		b.WriteString(p.String())
	}
	return b.String()
}

// speaks reports whether there is anything in it that will stand in the reply.
func (it *item) speaks() bool {
	switch it.Type {
	case "message":
		return it.String() != ""
	case "function_call":
		return it.ordinal >= 0
	}
	return false
}

// merge takes over what s knows of the item.
func (it *item) merge(s *source, index *int) {
	for _, id := range []string{s.ID, s.CallID} {
		if id != "" && !it.goes(id) {
			it.ids = append(it.ids, id)
		}
	}
	if index != nil {
		it.index = *index
	}
	it.ID, it.CallID = cmp.Or(it.ID, s.ID), cmp.Or(it.CallID, s.CallID)
	it.Name, it.Phase = cmp.Or(it.Name, s.Name), cmp.Or(s.Phase, it.Phase)
	it.Status = cmp.Or(s.Status, it.Status)
	it.Encrypted = cmp.Or(s.Encrypted, it.Encrypted)
}

// part is it as a part of the reply of the model ref; nil if it says nothing. What
// is linked goes back with what the server knows it by: a thought as it came,
// another item under its id.
func (it *item) part(ref string, linked bool) llms.ContentPart {
	text := llms.TextContent{Text: it.String()}
	switch it.Type {
	case "message":
		data := it.kept(linked).json()
		switch {
		case text.Text == "":
			return nil
		case data == nil:
			return text
		}
		return model.SignedText{TextContent: text, Provider: ref, Content: data}
	case "reasoning":
		r := model.Reasoning{TextContent: text, Provider: ref}
		if linked {
			r.Signature = string(it.raw)
		}
		if r.Text == "" && r.Signature == "" {
			return nil
		}
		return r
	case "function_call":
		if strings.TrimSpace(text.Text) == "" {
			text.Text = "{}"
		}
		t := llms.ToolCall{ID: it.id, Type: "function", FunctionCall: &llms.FunctionCall{Name: it.Name, Arguments: text.Text}}
		if data := it.kept(linked).json(); data != nil {
			return model.Extra{ToolCall: t, Provider: ref, Content: data}
		}
		return t
	}
	return nil
}

// kept is what a message or a call has beside its content. One that is not whole
// has no id, nor has a refusal, which would go back as text.
func (it *item) kept(linked bool) kept {
	k := kept{Type: it.Type}
	if it.Type == "message" {
		k.Phase = it.Phase
	}
	if linked && it.done && it.Status != "incomplete" && !it.refuses() {
		k.ID = it.ID
	}
	return k
}

// refuses reports whether it is a refusal.
func (it *item) refuses() bool {
	return slices.ContainsFunc(it.pieces, func(p *piece) bool { return p.form == refused && p.text.Len() > 0 })
}

// whole reports whether a thought has come to its end and holds all that its model needs to
// read it again: nothing of it is kept at the server.
func (it *item) whole() bool {
	return it.done && (it.Encrypted != "" || slices.ContainsFunc(it.pieces, func(p *piece) bool { return p.form == thought && p.text.Len() > 0 }))
}
