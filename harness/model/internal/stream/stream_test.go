package stream_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

const key = "sk-very-secret-0123456789"

// do posts to url and takes every event as a part of the answer until "end".
func do(ctx context.Context, p stream.Post) (events []string, err error) {
	_, err = p.Do(ctx, func(data []byte) (stream.Progress, error) {
		events = append(events, string(data))
		switch string(data) {
		case "ping":
			return stream.Alive, nil
		case "whole":
			return stream.Ending, nil
		case "end":
			return stream.Done, nil
		case "bad":
			return 0, errors.New("cannot be read")
		}
		return stream.More, nil
	})
	return events, err
}

func fault(t *testing.T, err error) *model.Error {
	t.Helper()
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		t.Fatalf("error = %v, want a *model.Error", err)
	}
	return e
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header string // NAME: VALUE
		body   string
		want   model.Error // Kind, Code, Message, RetryAfter, Final
	}{
		{"openai key", 401, "X-Request-Id: req_1", `{"error":{"message":"Incorrect API key provided: sk-ab***************yz. See the docs.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
			model.Error{Kind: model.Auth, Code: "invalid_api_key", Message: "Incorrect API key provided: [secret]. See the docs.", RequestID: "req_1"}},
		{"key quoted in full", 401, "", `{"error":{"message":"bad key ` + key + `"}}`, model.Error{Kind: model.Auth, Message: "bad key [secret]"}},
		{"anthropic key", 401, "", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
			model.Error{Kind: model.Auth, Code: "authentication_error", Message: "invalid x-api-key"}},
		{"C018 payment", 402, "", `{"error":{"message":"Insufficient Balance"}}`, model.Error{Kind: model.Quota, Message: "Insufficient Balance"}},
		{"C018 no such model", 404, "", `{"error":{"message":"The model 'x' does not exist","code":"model_not_found"}}`,
			model.Error{Kind: model.NotFound, Code: "model_not_found", Message: "The model 'x' does not exist"}},
		{"C018 content refused", 400, "", `{"error":{"message":"The response was filtered due to the prompt triggering our content management policy","code":"content_filter"}}`,
			model.Error{Kind: model.Refused, Code: "content_filter", Message: "The response was filtered due to the prompt triggering our content management policy"}},
		{"rate limit with seconds", 429, "Retry-After: 7", `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`,
			model.Error{Kind: model.RateLimit, Code: "rate_limit_exceeded", Message: "slow", RetryAfter: 7 * time.Second}},
		{"rate limit with milliseconds", 429, "Retry-After-Ms: 250", `{}`,
			model.Error{Kind: model.RateLimit, Message: "HTTP 429 Too Many Requests", RetryAfter: 250 * time.Millisecond}},
		{"rate limit in words", 429, "", `{"error":{"message":"Rate limit reached. Please try again in 1m26.4s. Visit us."}}`,
			model.Error{Kind: model.RateLimit, Message: "Rate limit reached. Please try again in 1m26.4s. Visit us.", RetryAfter: 86400 * time.Millisecond}},
		{"rate limit of Google", 429, "", `[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"RetryInfo","retryDelay":"21s"}]}}]`,
			model.Error{Kind: model.RateLimit, Code: "RESOURCE_EXHAUSTED", Message: "You exceeded your current quota.", RetryAfter: 21 * time.Second}},
		{"C117 quota of Google for a day", 429, "", `{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 18.2s.","status":"RESOURCE_EXHAUSTED","details":[` +
			`{"@type":"QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"},{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"20"}]},` +
			`{"@type":"RetryInfo","retryDelay":"18s"}]}}`,
			model.Error{Kind: model.Quota, Code: "RESOURCE_EXHAUSTED", Message: "You exceeded your current quota. Please retry in 18.2s."}},
		{"C117 quota of Google that is none", 429, "", `{"error":{"code":429,"message":"limit: 0","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"InputTokensPerMinute","quotaValue":"0"}]}]}}`,
			model.Error{Kind: model.Quota, Code: "RESOURCE_EXHAUSTED", Message: "limit: 0"}},
		{"limit of Google for a minute", 429, "", `{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"retryDelay":"36s"}]}}`,
			model.Error{Kind: model.RateLimit, Code: "RESOURCE_EXHAUSTED", Message: "slow", RetryAfter: 36 * time.Second}},
		{"C117 limit of a month", 429, "Retry-After: 1382400", `{"error":{"message":"monthly limit, resets in 16 days"}}`,
			model.Error{Kind: model.RateLimit, Message: "monthly limit, resets in 16 days", RetryAfter: 16 * 24 * time.Hour}},
		{"C117 quota", 429, "", `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`,
			model.Error{Kind: model.Quota, Code: "insufficient_quota", Message: "You exceeded your current quota"}},
		{"credit of Anthropic", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`,
			model.Error{Kind: model.Quota, Code: "invalid_request_error", Message: "Your credit balance is too low to access the Anthropic API."}},
		{"window of OpenAI", 400, "", `{"error":{"message":"This model's maximum context length is 128000 tokens.","code":"context_length_exceeded"}}`,
			model.Error{Kind: model.TokenLimit, Code: "context_length_exceeded", Message: "This model's maximum context length is 128000 tokens."}},
		{"window of Anthropic", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
			model.Error{Kind: model.TokenLimit, Code: "invalid_request_error", Message: "prompt is too long: 210000 tokens > 200000 maximum"}},
		{"window of llama.cpp", 400, "", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`,
			model.Error{Kind: model.TokenLimit, Code: "exceed_context_size_error", Message: "the request exceeds the available context size"}},
		{"C118 overloaded", 529, "X-Should-Retry: true", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			model.Error{Kind: model.Overloaded, Code: "overloaded_error", Message: "Overloaded"}},
		{"the provider says not to repeat", 500, "X-Should-Retry: false", `{"error":{"message":"no"}}`, model.Error{Kind: model.Overloaded, Message: "no", Final: true}},
		{"a page of a proxy", 502, "", `<html>Bad Gateway</html>`, model.Error{Kind: model.Overloaded, Message: "HTTP 502 Bad Gateway"}},
		{"error as a string", 404, "", `{"error":"model 'x' not found"}`, model.Error{Kind: model.NotFound, Message: "model 'x' not found"}},
		{"error without a wrapper", 422, "", `{"object":"error","message":"extra field","type":"invalid_request_error","code":null}`,
			model.Error{Kind: model.Invalid, Code: "invalid_request_error", Message: "extra field"}},
		{"error as a detail", 422, "", `{"detail":"not like this"}`, model.Error{Kind: model.Invalid, Message: "not like this"}},
		{"in a stream, with a number", 200, "", `{"error":{"message":"Provider overloaded","code":529}}`, model.Error{Kind: model.Overloaded, Message: "Provider overloaded"}},
		{"in a stream, with a name", 200, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			model.Error{Kind: model.Overloaded, Code: "overloaded_error", Message: "Overloaded"}},
		{"in a stream, of the type error", 200, "", `{"type":"error","code":null,"message":"odd","param":null}`, model.Error{Kind: model.Unknown, Message: "odd"}},
		{"in a stream, by its code", 200, "", `{"type":"error","code":"server_error","message":"retry"}`,
			model.Error{Kind: model.Overloaded, Code: "server_error", Message: "retry"}},
		{"in a stream, a limit of a minute", 200, "", `{"code":"rate_limit_exceeded","message":"Too many tokens per min. Please try again in 1.5s."}`,
			model.Error{Kind: model.RateLimit, Code: "rate_limit_exceeded", Message: "Too many tokens per min. Please try again in 1.5s.", RetryAfter: 1500 * time.Millisecond}},
		{"in a stream, a limit that one request exceeds", 200, "", `{"code":"rate_limit_exceeded","message":"Request too large for gpt-5.5 on tokens per min."}`,
			model.Error{Kind: model.TokenLimit, Code: "rate_limit_exceeded", Message: "Request too large for gpt-5.5 on tokens per min."}},
		{"in a stream, slow down", 200, "", `{"code":"slow_down","message":"m"}`, model.Error{Kind: model.Overloaded, Code: "slow_down", Message: "m"}},
		{"in a stream, a prompt that is refused", 200, "", `{"code":"invalid_prompt","message":"m"}`, model.Error{Kind: model.Refused, Code: "invalid_prompt", Message: "m"}},
		{"in a stream, a policy", 200, "", `{"code":"bio_policy","message":"m"}`, model.Error{Kind: model.Refused, Code: "bio_policy", Message: "m"}},
		{"in a stream, a picture", 200, "", `{"code":"image_parse_error","message":"m"}`, model.Error{Kind: model.Invalid, Code: "image_parse_error", Message: "m"}},
		{"in a stream, a plan that is used up", 200, "", `{"code":"usage_limit_reached","message":"m"}`, model.Error{Kind: model.Quota, Code: "usage_limit_reached", Message: "m"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			if k, v, ok := strings.Cut(tt.header, ": "); ok {
				h.Set(k, v)
			}
			p := stream.Post{Provider: "p", Secrets: []string{key}}
			got := p.Fault(tt.status, h, []byte(tt.body))
			if got.Kind != tt.want.Kind || got.Code != tt.want.Code || got.Message != tt.want.Message ||
				got.RetryAfter != tt.want.RetryAfter || got.Final != tt.want.Final || got.RequestID != tt.want.RequestID {
				t.Errorf("got  %+v\nwant %+v", *got, tt.want)
			}
		})
	}
}

// Every server has its own words for a prompt that is larger than the window.
func TestWindowInWords(t *testing.T) {
	for _, said := range []string{
		"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again",
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		"Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
		"Prompt exceeds max length",
		"Range of input length should be [1, 129024]",
		"The decoder prompt (length 21535) is longer than the maximum model length of 16384.",
		"The prompt (total length 25938) is too long to fit into the model (context length 4096).",
		"You passed 202753 input tokens and requested 0 output tokens. However, the model's context length is only 202752 tokens, resulting in a maximum input length of 202752 tokens.",
		"Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
		"The input (5000 tokens) is longer than the model's context length (4096 tokens).",
		"Context size has been exceeded.",
		"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
		"Reached context length of 32000 tokens with model (arch: gpt-oss) that does not currently support mid-generation context overflow.",
	} {
		p := stream.Post{}
		for _, status := range []int{400, 200} {
			if got := p.Fault(status, nil, fmt.Appendf(nil, `{"error":{"message":%q}}`, said)).Kind; got != model.TokenLimit {
				t.Errorf("status %d, %s: kind %q, want %q", status, said, got, model.TokenLimit)
			}
		}
	}
}

func TestSecretsAreKeptOutOfErrors(t *testing.T) { // R-ACP-51
	for name, p := range map[string]stream.Post{
		"key":                  {Secrets: []string{"opaque-0123"}},
		"header with a scheme": {Secrets: []string{"Token opaque-0123"}},
		"password of the URL":  {URL: "https://ada:opaque-0123@host/v1"},
		"query of the URL":     {URL: "https://host/v1?api-version=1&api-key=opaque-0123"},
	} {
		e := p.Fault(401, nil, []byte(`{"error":{"message":"no access with opaque-0123"}}`))
		if want := "no access with [secret]"; e.Message != want {
			t.Errorf("%s: message = %q, want %q", name, e.Message, want)
		}
	}
}

func TestRetryAfterDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) []string { return []string{time.Now().Add(d).UTC().Format(http.TimeFormat)} }
		for name, h := range map[string]http.Header{
			"without the server's time": {"Retry-After": in(90 * time.Second)},
			"a time that is none":       {"Retry-After": in(90 * time.Second), "Date": {"today"}},
			"a clock that is behind":    {"Retry-After": in(90*time.Second - time.Hour), "Date": in(-time.Hour)},
			"a clock that is ahead":     {"Retry-After": in(90*time.Second + time.Hour), "Date": in(time.Hour)},
		} {
			p := stream.Post{}
			if got := p.Fault(429, h, nil).RetryAfter; got != 90*time.Second {
				t.Errorf("%s: RetryAfter = %v, want 90s", name, got)
			}
		}
	})
}

// A wait that is too long for a number is a long one, and no other than that.
func TestRetryAfterWithoutEnd(t *testing.T) {
	for _, h := range []http.Header{
		{"Retry-After": {"99999999999999999999"}}, {"Retry-After": {"9223372036.854775807"}}, {"Retry-After-Ms": {"1e300"}},
	} {
		p := stream.Post{}
		if got := p.Fault(429, h, nil).RetryAfter; got < 100*365*24*time.Hour {
			t.Errorf("%v: RetryAfter = %v, want more than a hundred years", h, got)
		}
	}
}

func TestAnswersThatAreNoStream(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		kind    model.Kind
		text    string
	}{
		{"a page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<html>log in</html>")
		}, model.Malformed, "check base_url"},
		{"an error under status 200", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"error":{"message":"busy","code":503}}`)
		}, model.Overloaded, "busy"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://user:word@example.com/v2", http.StatusMovedPermanently)
		}, model.Invalid, "https://user:xxxxx@example.com/v2; set base_url"},
		{"a redirect to nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) }, model.Invalid, "without saying where to (HTTP 302); check base_url"},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, model.Malformed, "HTTP 204 No Content, not with"},
		{"a compression that nobody asked for", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, "\x8b\x00\x80abc\x03")
		}, model.Malformed, "compressed (br)"},
		{"an error that is compressed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(http.StatusBadRequest)
			pack(w, `{"error":{"message":"no such field"}}`)
		}, model.Invalid, "no such field"},
		{"a compressed answer that is cut", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			var b bytes.Buffer
			pack(&b, "data: a\n\ndata: end\n\n")
			w.Write(b.Bytes()[:b.Len()-15])
		}, model.Connection, "middle"},
		{"malformed data", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "data: bad\n\n") }, model.Malformed, `"bad"`},
		{"end without an end", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "data: a\n\n") }, model.Connection, "middle"},
		{"nothing at all", func(http.ResponseWriter, *http.Request) {}, model.Connection, "middle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(tt.handler)
			defer s.Close()
			_, err := do(t.Context(), stream.Post{URL: s.URL, Secrets: []string{key}})
			if e := fault(t, err); e.Kind != tt.kind || !strings.Contains(e.Message, tt.text) {
				t.Errorf("error = %v (%s), want %s with %q", err, e.Kind, tt.kind, tt.text)
			}
		})
	}
}

// pack writes text as gzip does.
func pack(w io.Writer, text string) {
	z := gzip.NewWriter(w)
	io.WriteString(z, text)
	z.Close()
}

// A gateway that compresses though it was not asked to may do so event by event.
func TestCompressedStream(t *testing.T) {
	told := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "GZIP")
		z := gzip.NewWriter(w)
		io.WriteString(z, "data: a\n\n")
		z.Flush()
		w.(http.Flusher).Flush()
		<-told // the first event is read before the second is written
		io.WriteString(z, "data: end\n\n")
		z.Close()
	}))
	defer s.Close()
	var events []string
	p := stream.Post{URL: s.URL}
	_, err := p.Do(t.Context(), func(data []byte) (stream.Progress, error) {
		events = append(events, string(data))
		if string(data) == "end" {
			return stream.Done, nil
		}
		close(told)
		return stream.More, nil
	})
	if got := strings.Join(events, " "); got != "a end" || err != nil {
		t.Errorf("events = %q, %v, want a end", got, err)
	}
}

func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, err = do(t.Context(), stream.Post{URL: "http://name:" + key + "@" + addr + "/v1", Secrets: []string{key}})
	e := fault(t, err)
	if e.Kind != model.Connection || !e.Temporary() || !strings.Contains(e.Message, addr) || strings.Contains(fmt.Sprintf("%v %+v", err, e.Err), key) {
		t.Errorf("error = %v, want a connection error that names %s and no key", err, addr)
	}
	for name, p := range map[string]stream.Post{
		"no scheme of ours": {URL: "foo://x"},
		"no port":           {URL: "http://127.0.0.1:99999/v1"},
		"no way":            {URL: "http://example.invalid", Client: &http.Client{Transport: lost{}}},
	} {
		_, err = do(t.Context(), p)
		if e := fault(t, err); e.Temporary() {
			t.Errorf("%s: error = %v is temporary", name, err)
		}
	}
}

// lost is a transport that fails for good.
type lost struct{}

func (l lost) RoundTrip(*http.Request) (*http.Response, error) { return nil, l }
func (lost) Error() string                                     { return "no way there" }
func (lost) Permanent() bool                                   { return true }

func TestOneConnectionForManyRequests(t *testing.T) {
	var mu sync.Mutex
	conns := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		conns[r.RemoteAddr] = true
		io.WriteString(w, "data: a\n\ndata: end\n\n")
	}))
	defer s.Close()
	for range 5 {
		if _, err := do(t.Context(), stream.Post{URL: s.URL, Client: s.Client()}); err != nil {
			t.Fatal(err)
		}
	}
	if len(conns) != 1 {
		t.Errorf("%d connections for 5 requests, want 1", len(conns))
	}
}

// A feed is a server in the bubble of a test: it writes the stream.
type feed func(w io.Writer, ctx context.Context)

func (f feed) RoundTrip(req *http.Request) (*http.Response, error) {
	r, w := io.Pipe()
	go func() {
		f(w, req.Context())
		w.Close()
	}()
	stop := context.AfterFunc(req.Context(), func() { w.CloseWithError(context.Cause(req.Context())) })
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &feedBody{r, stop}}, nil
}

type feedBody struct {
	*io.PipeReader
	stop func() bool
}

func (b *feedBody) Close() error {
	b.stop()
	return b.PipeReader.Close()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func TestSilence(t *testing.T) {
	every := func(d time.Duration, text string) feed {
		return func(w io.Writer, ctx context.Context) {
			io.WriteString(w, "data: a\n\n")
			for ctx.Err() == nil {
				pause(ctx, d)
				io.WriteString(w, text)
			}
		}
	}
	tests := []struct {
		name string
		feed feed
		want time.Duration
		kind model.Kind // "" is success
	}{
		{"C031 headers, then nothing", func(_ io.Writer, ctx context.Context) { <-ctx.Done() }, 300 * time.Second, model.Idle},
		{"C031 one event, then nothing", every(time.Hour, ""), 120 * time.Second, model.Idle},
		{"C110 comments only", every(10*time.Second, ": alive\n\n"), 300 * time.Second, model.Idle},
		{"C110 pings only", every(10*time.Second, "data: ping\n\n"), 300 * time.Second, model.Idle},
		{"slow but steady", func(w io.Writer, ctx context.Context) {
			for range 20 {
				pause(ctx, 119*time.Second)
				io.WriteString(w, "data: a\n\n")
			}
			io.WriteString(w, "data: end\n\n")
		}, 20 * 119 * time.Second, ""},
		{"whole, but never closed", func(w io.Writer, ctx context.Context) {
			io.WriteString(w, "data: whole\n\n")
			<-ctx.Done()
		}, 5 * time.Second, ""},
		{"whole, and then cut", func(w io.Writer, _ context.Context) { io.WriteString(w, "data: whole\n\nda") }, 0, ""},
		{"at its end, but never closed", func(w io.Writer, ctx context.Context) {
			io.WriteString(w, "data: end\n\n")
			<-ctx.Done()
		}, 100 * time.Millisecond, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := do(t.Context(), stream.Post{URL: "http://bubble", Client: &http.Client{Transport: tt.feed}})
				kind := model.Kind("")
				if err != nil {
					kind = fault(t, err).Kind
				}
				if got := time.Since(start); kind != tt.kind || got != tt.want {
					t.Errorf("error = %v after %v, want %q after %v", err, got, tt.kind, tt.want)
				}
			})
		})
	}
}

func TestCancelClosesTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		f := feed(func(w io.Writer, ctx context.Context) {
			io.WriteString(w, "data: a\n\n")
			<-ctx.Done()
			close(gone)
		})
		time.AfterFunc(time.Second, cancel)
		_, err := do(ctx, stream.Post{URL: "http://bubble", Client: &http.Client{Transport: f}})
		if e := fault(t, err); e.Kind != model.Canceled || !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want a cancelled request", err)
		}
		<-gone
	})
}
