package langchain

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// failure is the error of a request whose model returned err, or nothing at all.
// Beside the errors of the network, langchaingo's models have nothing but
// sentences. The status that stands in one says what it is; without a status its
// words do.
func (a *Adapter) failure(err error, told bool) error {
	if err == nil {
		err = errors.New("no answer")
	}
	post := stream.Post{Provider: a.o.Provider, Secrets: a.o.Secrets}
	e := typed(err)
	if e == nil {
		e = sentence(&post, err)
	}
	e.Message = post.Fault(0, nil, object(cmp.Or(e.Message, err.Error()))).Message // cleaned
	e.Provider, e.Partial, e.Err = a.o.Provider, told, err
	if u, ok := errors.AsType[*url.Error](err); ok {
		e.Err = u.Err // the address may hold a secret
	}
	return e
}

// cut is the error of an answer that ended before its end.
func (a *Adapter) cut(told bool) error {
	return &model.Error{Kind: model.Connection, Provider: a.o.Provider, Message: "the answer ends before its end", Partial: told, Err: io.ErrUnexpectedEOF}
}

// typed is the error for an err whose type says what it is, else nil. Its message
// is empty where err has the words.
func typed(err error) *model.Error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		known := *e
		return &known
	}
	if e, ok := errors.AsType[*llms.Error](err); ok && e.Code != llms.ErrCodeUnknown {
		return &model.Error{Kind: kind(e.Code), Message: e.Message}
	}
	var syntax *json.SyntaxError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return &model.Error{Kind: model.Canceled}
	case errors.Is(err, bufio.ErrTooLong):
		return &model.Error{Kind: model.Malformed, Final: true, Message: "a line of the answer is longer than the library can read"}
	case errors.As(err, &syntax):
		return &model.Error{Kind: model.Malformed}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &model.Error{Kind: model.Connection, Message: "the connection was lost before the end of the answer"}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &model.Error{Kind: model.Idle}
	}
	if u, ok := errors.AsType[*url.Error](err); ok { // its address may hold a secret
		return &model.Error{Kind: model.Connection, Message: "no answer from the server: " + u.Err.Error(), Final: stream.Permanent(u.Err)}
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return &model.Error{Kind: model.Connection, Final: stream.Permanent(err)}
	}
	return nil
}

// sentence is the error that the words of err tell of.
func sentence(post *stream.Post, err error) *model.Error {
	text := err.Error()
	status, body := 0, object(text)
	var answered interface{ HTTPStatusCode() int } // Amazon's
	if errors.As(err, &answered) {
		status = answered.HTTPStatusCode()
	} else if n, rest, ok := statusIn(text); ok {
		status, body = n, object(strings.Trim(rest, " :.,"))
		if inner, ok := objectIn(rest); ok {
			body = inner
		}
	}
	e := post.Fault(status, nil, body)
	switch {
	case e.Kind == model.Unknown:
		e.Kind = kindOf(text)
	case e.Kind == model.RateLimit && (strings.Contains(text, "exceeded your current quota") || strings.Contains(text, "insufficient_quota")):
		e.Kind = model.Quota // the code that says so is among what got lost
	}
	return e
}

// object is text as the object of an error.
func object(text string) []byte {
	b, err := json.Marshal(map[string]string{"message": text})
	if err != nil {
		return nil // a string is always JSON
	}
	return b
}

// objectIn finds an object of JSON at the end of text.
func objectIn(text string) ([]byte, bool) {
	i := strings.IndexByte(text, '{')
	if i < 0 || !json.Valid([]byte(text[i:])) {
		return nil, false
	}
	return []byte(text[i:]), true
}

// statusIn finds the status of an answer in a sentence and returns what follows it:
// a number from 400 to 599 that the sentence begins with, or that a word before it
// or the words after it call a status.
func statusIn(text string) (status int, rest string, ok bool) {
	for i := 0; i+3 <= len(text); i++ {
		if !digits(text[i:i+3]) || i > 0 && wordByte(text[i-1]) || i+3 < len(text) && wordByte(text[i+3]) {
			continue
		}
		n, err := strconv.Atoi(text[i : i+3])
		if err != nil || n < 400 || n > 599 {
			continue
		}
		before, after := strings.ToLower(text[:i]), text[i+3:]
		name := http.StatusText(n)
		named := name != "" && strings.HasPrefix(strings.ToLower(strings.TrimLeft(after, " :")), strings.ToLower(name))
		lead := strings.TrimRight(before, " :=(")
		for _, word := range []string{"status", "status code", "statuscode", "http", "http error", "error"} {
			named = named || strings.HasSuffix(lead, word)
		}
		if lead == "" || named {
			return n, after, true
		}
	}
	return 0, "", false
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func wordByte(c byte) bool {
	return c == '.' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// kindOf looks for words that mean the same to every provider.
func kindOf(text string) model.Kind {
	text = strings.ToLower(text)
	for _, sign := range []struct {
		kind  model.Kind
		words []string
	}{
		{model.RateLimit, []string{"rate limit", "too many requests", "throttlingexception"}},
		{model.Auth, []string{"unauthorized", "invalid api key", "invalid_api_key", "accessdeniedexception", "unrecognizedclientexception", "expiredtokenexception", "invalid token"}},
		{model.NotFound, []string{"model not found", "no such model", "resourcenotfoundexception"}},
		{model.Quota, []string{"quota exceeded", "servicequotaexceeded"}},
		{model.Overloaded, []string{"overloaded", "service unavailable", "serviceunavailableexception", "modelnotreadyexception", "internalserverexception"}},
		{model.Idle, []string{"modeltimeoutexception", "deadline exceeded"}},
		{model.Invalid, []string{"validationexception", "not supported", "unsupported", "expecting a single text", "only supports text", "only support text"}},
		{model.Malformed, []string{"token too long", "invalid character", "unexpected end of json", "cannot unmarshal"}},
		{model.Empty, []string{"no response", "empty response", "no results"}},
		{model.Connection, []string{"network error", "connection re", "unexpected eof", "broken pipe", "connection lost"}},
	} {
		for _, word := range sign.words {
			if strings.Contains(text, word) {
				return sign.kind
			}
		}
	}
	return model.Unknown
}

// kind is what a code of langchaingo is here.
func kind(code llms.ErrorCode) model.Kind {
	switch code {
	case llms.ErrCodeAuthentication:
		return model.Auth
	case llms.ErrCodeRateLimit:
		return model.RateLimit
	case llms.ErrCodeInvalidRequest, llms.ErrCodeNotImplemented:
		return model.Invalid
	case llms.ErrCodeResourceNotFound:
		return model.NotFound
	case llms.ErrCodeTimeout:
		return model.Idle
	case llms.ErrCodeCanceled:
		return model.Canceled
	case llms.ErrCodeQuotaExceeded:
		return model.Quota
	case llms.ErrCodeContentFilter:
		return model.Refused
	case llms.ErrCodeTokenLimit:
		return model.TokenLimit
	case llms.ErrCodeProviderUnavailable:
		return model.Overloaded
	}
	return model.Unknown
}
