package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/ask"
)

// An elicitation is the parameters of elicitation/create with a form. It is
// written out here because the library has an older state of it.
type elicitation struct {
	Mode     string `json:"mode"` // form
	Session  string `json:"sessionId"`
	ToolCall string `json:"toolCallId,omitempty"`
	Message  string `json:"message"`
	Schema   form   `json:"requestedSchema"`
}

// A form is a flat object with a field for each question, which sort as the
// questions do. None is required: what is left out is no response.
type form struct {
	Type   string           `json:"type"`
	Fields map[string]field `json:"properties"`
}

// A field takes one text, one of a list, or several of a list.
type field struct {
	Type        string   `json:"type"` // string, array
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	MaxLength   int      `json:"maxLength,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Items       *choices `json:"items,omitempty"` // of an array
}

type choices struct {
	Type string   `json:"type"`
	Enum []string `json:"enum"`
}

var _ ask.Asker = (*session)(nil)

// Ask implements [ask.Asker] by a form in the editor. There is no time limit, as
// there is none for a permission: the answer, the end of ctx or the end of the
// input end the wait (R-ACP-45). Whatever else comes is no response; a client that
// does not know the method after all cannot ask.
func (s *session) Ask(ctx context.Context, callID string, qs []ask.Question) (ask.Reply, error) {
	var answer json.RawMessage
	err := s.c.wire.Call(ctx, acpsdk.ClientMethodElicitationCreate, newElicitation(s.id, callID, qs), &answer)
	switch {
	case ctx.Err() != nil:
		return ask.Reply{}, ctx.Err()
	case err != nil:
		s.c.o.Log.Info().Str("session", s.id).Str("call", callID).Err(err).Msg("questions were not answered")
		e, ok := errors.AsType[*wire.Error](err)
		return ask.Reply{Asked: !ok || e.Code != wire.CodeMethodNotFound}, nil
	}
	return ask.Reply{Asked: true, Answers: readAnswers(answer, len(qs))}, nil
}

func newElicitation(session, callID string, qs []ask.Question) elicitation {
	e := elicitation{
		Mode: "form", Session: session, ToolCall: callID,
		Message: fmt.Sprintf("There are %d questions for you.", len(qs)),
		Schema:  form{Type: "object", Fields: make(map[string]field, len(qs))},
	}
	for i, q := range qs {
		f := newField(q)
		if len(qs) == 1 { // the message stands above it
			e.Message, f.Title, f.Description = q.Text, "Your answer", ""
		}
		e.Schema.Fields[fieldName(i)] = f
	}
	return e
}

// fieldName names the field of a question, counted from 0.
func fieldName(i int) string { return "q" + strconv.Itoa(i+1) }

// newField returns the field of a question. Its title is a line; a question that is
// more stands below it in full.
func newField(q ask.Question) field {
	f := field{Type: "string", Title: tools.Line(strings.Join(strings.Fields(q.Text), " "), tools.MaxTitle)}
	if f.Title != q.Text {
		f.Description = q.Text
	}
	switch {
	case len(q.Options) == 0:
		f.MaxLength = ask.MaxText
	case q.Multiple:
		f.Type, f.Items = "array", &choices{"string", q.Options}
	default:
		f.Enum = q.Options
	}
	return f
}

// readAnswers reads what was filled in. Any action but "accept", and anything but
// texts, is no response.
func readAnswers(answer json.RawMessage, questions int) [][]string {
	a := members(answer)
	if a.text("action") != "accept" {
		return nil
	}
	content := a.object("content")
	answers := make([][]string, questions)
	for i := range answers {
		raw := content[fieldName(i)]
		if text, ok := wire.Text(raw); ok {
			answers[i] = []string{text}
			continue
		}
		for item := range wire.Elements(raw) {
			if text, ok := wire.Text(item); ok {
				answers[i] = append(answers[i], text)
			}
		}
	}
	return answers
}
