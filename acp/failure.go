package acp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/prompt"
)

// The numbers of ACP that JSON-RPC does not have.
const (
	codeAuthRequired    = -32000
	codeSessionNotFound = -32002
)

// fail is the boundary at which an error becomes what the client is told
// (R-ACP-04). What only we can understand goes to the log, once.
func (c *conn) fail(ctx context.Context, r *wire.Request, s *session, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Cause(ctx)) || errors.Is(err, ctx.Err())) {
		return ctx.Err() // the connection has an answer for that
	}
	chosen := false
	c.mu.Lock()
	if s != nil {
		chosen = s.chosen
	}
	zed := c.client != nil && strings.EqualFold(c.client.name, "zed")
	c.mu.Unlock()

	we, ok := errors.AsType[*wire.Error](err)
	if !ok {
		e := classify(err, chosen)
		ev := c.o.Log.Info()
		switch e.Code {
		case Internal:
			ev = c.o.Log.Error()
		case SessionNotFound, SessionBusy, InvalidAttachment:
			ev = c.o.Log.Debug() // a mistake of the client, which is told
		}
		if s != nil {
			ev = ev.Str("session", s.id)
			if e.Code == SessionNotFound && e.Data == nil {
				e.Data = map[string]any{"sessionId": s.id}
			}
		}
		ev.Str("method", r.Method).Str("code", string(e.Code)).Err(err).Msg("request failed")
		we = &wire.Error{Code: number(e.Code), Message: e.Message, Data: data(e)}
	}
	if zed {
		we = forZed(we)
	}
	return we
}

// number returns the code on the wire.
func number(c Code) int {
	switch c {
	case SessionNotFound:
		return codeSessionNotFound
	case AuthRequired:
		return codeAuthRequired
	case InvalidAttachment:
		return wire.CodeInvalidParams
	}
	return wire.CodeInternal
}

func data(e *Error) map[string]any {
	d := maps.Clone(e.Data)
	if d == nil {
		d = make(map[string]any)
	}
	d["code"] = e.Code
	d["details"] = e.Message
	if e.Details != "" {
		d["details"] = e.Details
	}
	return d
}

// forZed returns the error as Zed shows it: data with details and nothing else.
func forZed(e *wire.Error) *wire.Error {
	d, _ := e.Data.(map[string]any)
	text := e.Message
	if details, _ := d["details"].(string); details != "" && details != text {
		text += " " + details
	}
	if code, ok := d["code"].(Code); ok {
		text += fmt.Sprintf(" [%s]", code)
	}
	return &wire.Error{Code: e.Code, Message: e.Message, Data: map[string]any{"details": text}}
}

// Explain makes err an error for people who are no client of a connection, as a
// client is told of it.
func Explain(err error) *Error { return classify(err, true) }

// classify makes err an error for people. The text of an error that nobody wrote
// for them is not shown.
func classify(err error, chosen bool) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Code != ConfigInvalid {
			return e
		}
		whole := *e
		whole.Message = sentence(e.Message) // what names a file and a line is none yet
		return &whole
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return modelFailure(e, chosen)
	}
	if e, ok := errors.AsType[*prompt.Error](err); ok {
		return &Error{Code: PromptAssembly, Message: sentence("The prompt could not be assembled: " + e.Error())}
	}
	if e, ok := errors.AsType[*harness.MissingError](err); ok {
		return &Error{Code: PromptAssembly, Message: sentence("The prompt could not be assembled: " + e.Error())}
	}
	if e, ok := errors.AsType[*harness.LockedError](err); ok {
		return &Error{Code: SessionBusy, Message: sentence(e.Error())}
	}
	switch {
	case errors.Is(err, harness.ErrLost):
		return &Error{Code: SessionBusy, Message: "Another process has taken the session over, and what was under way here has ended. Load the session again to go on from where it is."}
	case errors.Is(err, harness.ErrBusy):
		return &Error{Code: SessionBusy, Message: "The session is answering another prompt and takes no more. Send it again when that is done, or cancel it."}
	case errors.Is(err, harness.ErrNotFound), errors.Is(err, harness.ErrClosed):
		return &Error{Code: SessionNotFound, Message: "The session is closed. Load it again, or start a new one."}
	}
	if e, ok := errors.AsType[harness.UserError](err); ok {
		return &Error{Code: Internal, Message: sentence(e.UserText())}
	}
	return &Error{Code: Internal, Message: "Something went wrong inside Lorimer. Its log says what; sending the message again may help."}
}

func noSession(params []byte) error {
	p := members(params)
	id, err := p.required("sessionId")
	if err != nil {
		return err
	}
	return &Error{
		Code:    SessionNotFound,
		Message: fmt.Sprintf("There is no open session %.100q. Load it with session/load, or start one with session/new.", id),
		Data:    map[string]any{"sessionId": id},
	}
}

// modelFailure explains a failed request to a model.
func modelFailure(e *model.Error, chosen bool) *Error {
	f := &Error{Code: ProviderError, Details: e.Error(), Data: map[string]any{"kind": e.Kind}, Err: e}
	for key, value := range map[string]string{"provider": e.Provider, "requestId": e.RequestID, "providerCode": e.Code} {
		if value != "" {
			f.Data[key] = value
		}
	}
	if e.Status != 0 {
		f.Data["status"] = e.Status
	}
	if e.RetryAfter > 0 {
		f.Data["retryAfterMs"] = e.RetryAfter.Milliseconds()
	}
	who := strings.TrimSpace("the provider " + e.Provider)
	switch e.Kind {
	case model.Auth:
		f.Message = sentence(who + " wants an API key that it accepts. Set the key in the environment or the configuration, or choose another model.")
		if chosen {
			f.Code = AuthRequired
		}
	case model.NotFound, model.Unavailable:
		f.Code = ModelUnavailable
		f.Message = "The model is not available. Choose another one, or correct its name in the configuration."
	default:
		f.Message = sentence(strings.Replace(providerSentence(e), "$", who, 1))
	}
	return f
}

// again says when a wait is over. Nobody counts hours to a day.
func again(wait time.Duration) string {
	if wait < time.Hour {
		return "in " + wait.Round(time.Second).String()
	}
	return "after " + time.Now().Add(wait).Format("15:04 MST on 2 January 2006")
}

// providerSentence says what went wrong and what helps; $ stands for the
// provider.
func providerSentence(e *model.Error) string {
	switch e.Kind {
	case model.Quota:
		return "The quota at $ is used up, and waiting does not help. Look at the account there, or choose another model."
	case model.RateLimit:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("$ takes no more requests for now. Send the message again %s.", again(e.RetryAfter))
		}
		return "$ takes no more requests for now. Send the message again in a while."
	case model.Overloaded:
		return "$ is overloaded. Send the message again in a while."
	case model.TokenLimit:
		return "The conversation is larger than the model can read. Start a new session, or choose a model with a larger window."
	case model.Refused:
		return "$ refuses this content. Word the message differently, or choose another model."
	case model.Connection:
		if e.Final {
			return "$ cannot be reached, and waiting does not help. The details say why; correct the address, or what they name."
		}
		return "$ could not be reached, or the connection broke. Look at the network and the address, then send the message again."
	case model.Idle:
		return "$ stopped answering. Send the message again."
	case model.Malformed:
		return "The answer of $ could not be read. Send the message again, or choose another model."
	case model.Empty:
		return e.Message
	case model.Invalid:
		return "$ does not accept the request. The details say why; another model may take it."
	}
	return "The request to $ did not work. Send the message again, or choose another model."
}

// sentence returns s with a capital first and a full stop last.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	first, n := utf8.DecodeRuneInString(s)
	if n > 0 {
		s = string(unicode.ToUpper(first)) + s[n:]
	}
	if s != "" && !strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		s += "."
	}
	return s
}
