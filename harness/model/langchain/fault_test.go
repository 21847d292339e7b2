package langchain_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// failing is a model whose every request ends with err.
func failing(err error) foreign {
	return func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
		return nil, err
	}
}

// A service is an error of Amazon's SDK.
type service struct {
	status int
	words  string
}

func (s service) Error() string       { return s.words }
func (s service) HTTPStatusCode() int { return s.status }

func TestErrors(t *testing.T) {
	known := &model.Error{Kind: model.Quota, Provider: "another", Status: 402, Code: "no_money", Message: "pay"}
	tests := []struct {
		err     error
		kind    model.Kind
		status  int
		message string
	}{
		{llms.NewError(llms.ErrCodeTokenLimit, "p", "too much"), model.TokenLimit, 0, "too much"},
		{errors.New("API returned unexpected status code: 429: slow down"), model.RateLimit, 429, "slow down"},
		{errors.New("API returned unexpected status code: 429"), model.RateLimit, 429, "HTTP 429 Too Many Requests"},
		{errors.New("API returned unexpected status code: 529: Overloaded"), model.Overloaded, 529, "Overloaded"},
		{errors.New("API returned unexpected status code: 400: prompt is too long: 210000 tokens > 200000 maximum"), model.TokenLimit, 400, "prompt is too long: 210000 tokens > 200000 maximum"},
		{errors.New("API returned unexpected status code: 429: You exceeded your current quota (insufficient_quota)"), model.Quota, 429, "You exceeded your current quota (insufficient_quota)"},
		{errors.New("API returned unexpected status code: 400: Your credit balance is too low"), model.Quota, 400, "Your credit balance is too low"},
		{errors.New(`(HTTP Error 401) {"message":"Unauthorized"}`), model.Auth, 401, "Unauthorized"},
		{errors.New(`request failed with status code 404 and error {"errors":[]}`), model.NotFound, 404, "HTTP 404 Not Found"},
		{errors.New("status 401: unauthorized"), model.Auth, 401, "unauthorized"},
		{errors.New("503 Service Unavailable"), model.Overloaded, 503, "Service Unavailable"},
		{errors.New("model m-500 of 429 tokens is a riddle"), model.Unknown, 0, "model m-500 of 429 tokens is a riddle"},
		{service{400, "operation error Bedrock Runtime: ValidationException: no"}, model.Invalid, 400, "operation error Bedrock Runtime: ValidationException: no"},
		{errors.New("operation error: ThrottlingException: Too many"), model.RateLimit, 0, "operation error: ThrottlingException: Too many"},
		{errors.New("network error: failed to reach API server"), model.Connection, 0, "network error: failed to reach API server"},
		{fmt.Errorf("issue scanning response: %w", bufio.ErrTooLong), model.Malformed, 0, "a line of the answer is longer than the library can read"},
		{errors.New("bufio.Scanner: token too long"), model.Malformed, 0, "bufio.Scanner: token too long"},
		{io.ErrUnexpectedEOF, model.Connection, 0, "the connection was lost before the end of the answer"},
		{context.DeadlineExceeded, model.Idle, 0, "context deadline exceeded"},
		{&url.Error{Op: "Post", URL: "https://host/?access_token=k-secret", Err: errors.New("refused")}, model.Connection, 0, "no answer from the server: refused"},
		{errors.New("no such thing as k-secret\nat all"), model.Unknown, 0, "no such thing as [secret] at all"},
		{fmt.Errorf("sending: %w", known), model.Quota, 402, "pay"},
		{errors.New("a riddle"), model.Unknown, 0, "a riddle"},
		{nil, model.Unknown, 0, "no answer"},
	}
	for _, tt := range tests {
		_, _, err := modeltest.Collect(t.Context(), langchain.Wrap(failing(tt.err), langchain.Options{Provider: "p", Secrets: []string{"k-secret"}}), modeltest.Ask("go"))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != tt.kind || e.Status != tt.status || e.Message != tt.message || e.Provider != "p" || e.Partial {
			t.Errorf("%v gives %+v, want %s, %d: %s", tt.err, err, tt.kind, tt.status, tt.message)
		}
		if strings.Contains(fmt.Sprint(e.Err), "access_token") {
			t.Errorf("the cause names a secret: %v", e.Err)
		}
	}
	if known.Provider != "another" || known.Partial {
		t.Errorf("the model's own error was changed: %+v", known)
	}
}

func TestPanicIsAnError(t *testing.T) {
	m := foreign(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
		var nothing *llms.ContentResponse
		return choices(nothing.Choices[0]), nil
	})
	_, _, err := modeltest.Collect(t.Context(), langchain.Wrap(m, langchain.Options{}), modeltest.Ask("go"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Malformed || !strings.Contains(e.Message, "the library cannot take this answer") {
		t.Errorf("error = %v, want a malformed answer", err)
	}
}

// Half an answer is none, whatever the model says of it.
func TestCutShort(t *testing.T) {
	tests := []struct {
		name string
		m    foreign
		o    langchain.Options
	}{
		{"the end has no reason", chunks(choices(&llms.ContentChoice{Content: "half"}), "half"), langchain.Options{NamesEnd: true}},
		{"the response has lost the text", chunks(choices(&llms.ContentChoice{}), "half"), langchain.Options{}},
		{"no choice is left", chunks(choices(), "half"), langchain.Options{}},
	}
	for _, tt := range tests {
		_, r, err := modeltest.Collect(t.Context(), langchain.Wrap(tt.m, tt.o), modeltest.Ask("go"))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || !e.Partial || r == nil || len(r.Parts) != 1 || r.Parts[0] != llms.ContentPart(llms.TextContent{Text: "half"}) {
			t.Errorf("%s: %v with %+v, want a partial answer", tt.name, err, r)
		}
	}
}

// A status is found where a sentence calls it one, and only there.
func FuzzErrors(f *testing.F) {
	f.Add("API returned unexpected status code: 429: slow down")
	f.Add("(HTTP Error 503) {")
	f.Add("401")
	f.Fuzz(func(t *testing.T, sentence string) {
		_, _, err := modeltest.Collect(t.Context(), langchain.Wrap(failing(errors.New(sentence)), langchain.Options{}), modeltest.Ask("go"))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Status != 0 && !strings.Contains(sentence, fmt.Sprint(e.Status)) || strings.ContainsAny(e.Message, "\n\r") {
			t.Errorf("%q gives %+v", sentence, err)
		}
	})
}
