package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/prompt"
)

// R-ACP-04: each kind of failure has its number and its code, also when it comes
// wrapped.
func TestFailureCodes(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		chosen bool
		number int
		code   Code
	}{
		{"prompt", &prompt.Error{Fault: prompt.Unknown, Variable: "x"}, false, -32603, PromptAssembly},
		{"busy", harness.ErrBusy, false, -32603, SessionBusy},
		{"answered elsewhere", &harness.LockedError{}, false, -32603, SessionBusy},
		{"taken over", harness.ErrLost, false, -32603, SessionBusy},
		{"closed", harness.ErrClosed, false, -32002, SessionNotFound},
		{"no such session", harness.ErrNotFound, false, -32002, SessionNotFound},
		{"ours", &Error{Code: FeatureNotAvailable, Message: "No."}, false, -32603, FeatureNotAvailable},
		{"a configuration", &Error{Code: ConfigInvalid, Message: "flag --mode: no such mode"}, false, -32603, ConfigInvalid},
		{"attachment", &Error{Code: InvalidAttachment, Message: "No."}, false, -32602, InvalidAttachment},
		{"no key", &model.Error{Kind: model.Auth}, false, -32603, ProviderError},
		{"no key for the model that was chosen", &model.Error{Kind: model.Auth}, true, -32000, AuthRequired},
		{"no model", &model.Error{Kind: model.Unavailable}, true, -32603, ModelUnavailable},
		{"no such model", &model.Error{Kind: model.NotFound}, false, -32603, ModelUnavailable},
		{"overloaded", &model.Error{Kind: model.Overloaded, Provider: "p"}, false, -32603, ProviderError},
		{"an answer that stays empty", &model.Error{Kind: model.Empty, Message: "the model gave an empty answer 4 times"}, false, -32603, ProviderError},
		{"quota", &model.Error{Kind: model.Quota}, false, -32603, ProviderError},
		{"anything else", errors.New("open /home/me/secret: no"), false, -32603, Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newConn(Options{Log: zerolog.Nop()})
			c.client = &client{name: "test"}
			err := c.fail(t.Context(), &wire.Request{Method: "m"}, &session{chosen: tt.chosen}, fmt.Errorf("wrapped: %w", tt.err))
			we, ok := errors.AsType[*wire.Error](err)
			if !ok {
				t.Fatalf("error = %v, want a *wire.Error", err)
			}
			data, _ := we.Data.(map[string]any)
			if we.Code != tt.number || data["code"] != tt.code || data["details"] == "" {
				t.Errorf("got %d with data %v, want %d with %s", we.Code, data, tt.number, tt.code)
			}
			if first := rune(we.Message[0]); !unicode.IsUpper(first) || !strings.HasSuffix(we.Message, ".") {
				t.Errorf("message = %q, want whole sentences", we.Message)
			}
			if all := fmt.Sprint(we.Message, we.Data); strings.Contains(all, "/home/me") || strings.Contains(all, "wrapped") {
				t.Errorf("the client is shown %q", all)
			}
		})
	}
}

func TestProviderData(t *testing.T) {
	e := modelFailure(&model.Error{
		Kind: model.RateLimit, Provider: "acme", Status: 429, Code: "slow_down", RequestID: "r1", RetryAfter: 90 * time.Second, Message: "Too many.",
	}, false)
	want := map[string]any{
		"code": ProviderError, "details": "acme: rate limit: Too many.", "kind": model.RateLimit, "provider": "acme",
		"providerCode": "slow_down", "requestId": "r1", "status": 429, "retryAfterMs": int64(90_000),
	}
	if diff := cmp.Diff(want, data(e)); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if want := "The provider acme takes no more requests for now. Send the message again in 1m30s."; e.Message != want {
		t.Errorf("message = %q, want %q", e.Message, want)
	}
}

// C117: a limit for days names the day on which it ends.
func TestLimitForDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is the first of January 2000
		e := modelFailure(&model.Error{Kind: model.RateLimit, Provider: "acme", RetryAfter: (16*24 + 12) * time.Hour}, false)
		if want := "on 17 January 2000."; !strings.HasSuffix(e.Message, want) {
			t.Errorf("message = %q, want the day, %q", e.Message, want)
		}
	})
}

// Zed shows details only when they are alone, so the code stands at their end.
func TestZed(t *testing.T) {
	c := newConn(Options{Log: zerolog.Nop()})
	c.client = &client{name: "zed"}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"with details", &Error{Code: PromptAssembly, Message: "No.", Details: "why"}, `{"details":"No. why [PROMPT_ASSEMBLY]"}`},
		{"without", &Error{Code: PromptAssembly, Message: "No."}, `{"details":"No. [PROMPT_ASSEMBLY]"}`},
		{"a mistake in parameters", invalid("cwd", "is missing"), `{"details":"cwd is missing"}`},
		{"a method that is not there", wire.MethodNotFound("x"), `{"details":"method not found: x"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			we, _ := errors.AsType[*wire.Error](c.fail(t.Context(), &wire.Request{}, nil, tt.err))
			got, err := json.Marshal(we.Data)
			if err != nil || string(got) != tt.want {
				t.Errorf("data = %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

// A request that was cancelled ends with the error of its context, for which the
// connection has a code.
func TestFailureOfCancelled(t *testing.T) {
	c := newConn(Options{Log: zerolog.Nop()})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(wire.ErrCancelRequest)
	for _, err := range []error{context.Canceled, wire.ErrCancelRequest, fmt.Errorf("opening: %w", context.Canceled)} {
		if got := c.fail(ctx, &wire.Request{}, nil, err); got != context.Canceled {
			t.Errorf("fail(%v) = %v, want context.Canceled", err, got)
		}
	}
	if got, ok := errors.AsType[*wire.Error](c.fail(ctx, &wire.Request{}, nil, errors.New("other"))); !ok || got.Code != wire.CodeInternal {
		t.Errorf("another failure = %v, want −32603", got)
	}
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{"": "", "reading config: no": "Reading config: no.", "Done!": "Done!", "äh": "Äh."} {
		if got := sentence(in); got != want {
			t.Errorf("sentence(%q) = %q, want %q", in, got, want)
		}
	}
}

// storeError is an error of a store.
type storeError struct{}

func (storeError) Error() string    { return "opening /home/me/secret: no" }
func (storeError) UserText() string { return "database x.db is damaged; move it away" }

// The line of a store is for the user; its causes are not.
func TestStoreFailure(t *testing.T) {
	c := newConn(Options{Log: zerolog.Nop()})
	err := c.fail(t.Context(), &wire.Request{Method: "m"}, nil, fmt.Errorf("listing: %w", storeError{}))
	want := &wire.Error{
		Code: -32603, Message: "Database x.db is damaged; move it away.",
		Data: map[string]any{"code": Internal, "details": "Database x.db is damaged; move it away."},
	}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

// A session that is gone is named.
func TestGoneSessionIsNamed(t *testing.T) {
	c := newConn(Options{Log: zerolog.Nop()})
	err := c.fail(t.Context(), &wire.Request{Method: "m"}, &session{id: "s"}, harness.ErrNotFound)
	we, ok := errors.AsType[*wire.Error](err)
	if !ok {
		t.Fatalf("error = %v, want a *wire.Error", err)
	}
	if data, _ := we.Data.(map[string]any); data["sessionId"] != "s" {
		t.Errorf("data = %v, want the session", we.Data)
	}
}
