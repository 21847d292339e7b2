package gemini_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// roundTrip is a server that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\r\n\r\n")
	}
	return b.String()
}

func client(c *http.Client) *gemini.Client {
	return gemini.New(model.Descriptor{Provider: "google", ID: third}, gemini.Options{Client: c})
}

// parts is a chunk with parts.
func parts(list ...string) string {
	return `{"candidates":[{"content":{"parts":[` + strings.Join(list, ",") + `],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r1"}`
}

// end is the chunk that ends an answer.
func end(reason string) string {
	return `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"` + reason + `","index":0}]}`
}

type call struct{ ID, Name, Args, Content string }

// callsOf returns the calls of r, with "new" for an id that was made up.
func callsOf(r *model.Reply) (out []call) {
	for _, p := range r.Parts {
		if x, ok := p.(model.Extra); ok {
			out = append(out, call{made(x.ID), x.FunctionCall.Name, x.FunctionCall.Arguments, string(x.Content)})
		}
	}
	return out
}

func made(id string) string {
	if strings.HasPrefix(id, "call_") && len(id) == 21 {
		return "new"
	}
	return id
}

func TestParts(t *testing.T) {
	const ref = "google/" + third
	text := func(s string) llms.TextContent { return llms.TextContent{Text: s} }
	signed := func(s, content string) model.SignedText {
		return model.SignedText{TextContent: text(s), Provider: ref, Content: json.RawMessage(content)}
	}
	thought := func(s, sig string) model.Reasoning {
		return model.Reasoning{TextContent: text(s), Provider: ref, Signature: sig}
	}
	tests := []struct {
		name   string
		chunks []string
		want   []llms.ContentPart
	}{
		{"text in pieces", []string{parts(`{"text":"He"}`), parts(`{"text":"llo"}`, `{"text":"."}`), end("STOP")}, []llms.ContentPart{text("Hello.")}},
		{"a signature in an empty part", []string{parts(`{"text":"He"}`), parts(`{"text":"llo."}`), parts(`{"text":"","thoughtSignature":"S=="}`), end("STOP")},
			[]llms.ContentPart{signed("Hello.", `[{"len":6},{"len":0,"thoughtSignature":"S=="}]`)}},
		{"a signature without a text", []string{parts(`{"text":"Hello."}`), parts(`{"thoughtSignature":"S=="}`), end("STOP")},
			[]llms.ContentPart{signed("Hello.", `[{"len":6},{"len":0,"thoughtSignature":"S=="}]`)}},
		{"a signature inside a word", []string{parts(`{"text":"Hel","thoughtSignature":"S=="}`), parts(`{"text":"l"}`), parts(`{"text":"o."}`), end("STOP")},
			[]llms.ContentPart{signed("Hello.", `[{"len":3,"thoughtSignature":"S=="},{"len":3}]`)}},
		{"a signature and nothing else", []string{parts(`{"text":"","thoughtSignature":"S=="}`), end("STOP")}, nil},
		{"thoughts", []string{parts(`{"text":"h","thought":true}`), parts(`{"text":"m","thought":true}`, `{"text":"Hello."}`), end("STOP")},
			[]llms.ContentPart{thought("hm", ""), text("Hello.")}},
		{"thoughts between texts", []string{parts(`{"text":"a"}`, `{"text":"hm","thought":true}`, `{"text":"b"}`), end("STOP")},
			[]llms.ContentPart{text("a"), thought("hm", ""), text("b")}},
		{"signed thoughts", []string{parts(`{"text":"hm","thought":true}`), parts(`{"text":"","thought":true,"thoughtSignature":"S=="}`), parts(`{"text":"ah","thought":true}`), parts(`{"text":"oh","thought":true,"thoughtSignature":"T=="}`), end("STOP")},
			[]llms.ContentPart{thought("hm", ""), thought("", "S=="), thought("ah", ""), thought("oh", "T==")}},
		{"nothing", []string{end("STOP")}, nil},
		{"parts of Google's own tools", []string{parts(`{"executableCode":{"language":"PYTHON","code":"1"}}`, `{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}`, `{"inlineData":{"mimeType":"image/png","data":""}}`, `{"text":"Hello."}`), end("STOP")},
			[]llms.ContentPart{text("Hello.")}},
		{"another candidate is not ours", []string{`{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]}}]}`, parts(`{"text":"Hello."}`), end("STOP")}, []llms.ContentPart{text("Hello.")}},
		{"chunks that say nothing", []string{`{}`, `{"candidates":[]}`, `{"candidates":[{"content":null}]}`, `{"promptFeedback":{"safetyRatings":[]}}`, parts(`{"text":"Hello."}`), end("STOP"), "[DONE]"}, []llms.ContentPart{text("Hello.")}},
		{"nothing is left over from the chunks before", []string{parts(`{"text":"a","thought":true,"thoughtSignature":"S=="}`, `{"text":"b","thought":true,"thoughtSignature":"T=="}`), parts(`{"text":"c"}`), parts(`{"text":"d"}`, `{"text":"e"}`), end("STOP")},
			[]llms.ContentPart{thought("a", "S=="), thought("b", "T=="), text("cde")}},
		{"nor from those that are not ours", []string{`{"candidates":[{"index":0},{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"SAFETY"}]}`, `{"candidates":[{"index":0}]}`,
			`{"candidates":[{"index":0},{"content":{"parts":[{"text":"Hello."}]}}]}`, end("STOP")}, []llms.ContentPart{text("Hello.")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			told, reply, err := modeltest.Collect(t.Context(), client(streamtest.Client(events(tt.chunks...))), modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reply.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			checkEvents(t, told, reply)
		})
	}
}

func TestCalls(t *testing.T) {
	tests := []struct {
		name   string
		chunks []string
		want   []call
	}{
		{"with an id and a signature", []string{parts(`{"functionCall":{"id":"x1","name":"read","args":{"z":1, "a":12345678901234567890,"h":"<&>"}},"thoughtSignature":"S=="}`)},
			[]call{{"x1", "read", `{"z":1, "a":12345678901234567890,"h":"<&>"}`, `{"id":"x1","thoughtSignature":"S=="}`}}},
		{"without either", []string{parts(`{"functionCall":{"name":"read","args":{}}}`)}, []call{{"new", "read", "{}", "{}"}}},
		{"C102 without arguments", []string{parts(`{"functionCall":{"name":"a"}}`, `{"functionCall":{"name":"b","args":null}}`)}, []call{{"new", "a", "{}", "{}"}, {"new", "b", "{}", "{}"}}},
		{"C102 arguments that are no object", []string{parts(`{"functionCall":{"name":"a","args":[1]}}`)}, []call{{"new", "a", "[1]", "{}"}}},
		{"C114 without a name", []string{parts(`{"functionCall":{"args":{}}}`)}, []call{{"new", "", "{}", "{}"}}},
		{"two in one chunk", []string{parts(`{"functionCall":{"id":"x1","name":"read","args":{"p":1}},"thoughtSignature":"S=="}`, `{"functionCall":{"id":"x2","name":"read","args":{"p":2}}}`)},
			[]call{{"x1", "read", `{"p":1}`, `{"id":"x1","thoughtSignature":"S=="}`}, {"x2", "read", `{"p":2}`, `{"id":"x2"}`}}},
		{"two in two chunks", []string{parts(`{"functionCall":{"name":"read","args":{"p":1}}}`), parts(`{"functionCall":{"name":"read","args":{"p":1}}}`)},
			[]call{{"new", "read", `{"p":1}`, "{}"}, {"new", "read", `{"p":1}`, "{}"}}},
		{"C105 one twice", []string{parts(`{"functionCall":{"id":"x1","name":"read","args":{"p":1}}}`), parts(`{"functionCall":{"id":"x1","name":"read","args":{"p":1}}}`)},
			[]call{{"x1", "read", `{"p":1}`, `{"id":"x1"}`}}},
		{"two under one id", []string{parts(`{"functionCall":{"id":"x1","name":"read","args":{"p":1}}}`), parts(`{"functionCall":{"id":"x1","name":"read","args":{"p":2}}}`)},
			[]call{{"x1", "read", `{"p":1}`, `{"id":"x1"}`}, {"new", "read", `{"p":2}`, `{"id":"x1"}`}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			told, reply, err := modeltest.Collect(t.Context(), client(streamtest.Client(events(append(tt.chunks, end("STOP"))...))), modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, callsOf(reply)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if reply.Stop != model.StopTools {
				t.Errorf("Stop = %q, want %q", reply.Stop, model.StopTools)
			}
			checkEvents(t, told, reply)
		})
	}
}

// checkEvents checks that events say what r says.
func checkEvents(t *testing.T, told []model.Event, r *model.Reply) {
	t.Helper()
	type all struct {
		text, think string
		calls       []call
	}
	var got, want all
	for _, e := range told {
		switch e := e.(type) {
		case model.Text:
			got.text += string(e)
		case model.Think:
			got.think += string(e)
		case model.ToolStart:
			if e.Index != len(got.calls) {
				t.Errorf("event %+v after %d calls", e, len(got.calls))
			}
			got.calls = append(got.calls, call{ID: e.ID, Name: e.Name})
		case model.ToolArgs:
			got.calls[e.Index].Args += e.Fragment
		}
	}
	seen := map[string]bool{}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			want.text += p.Text
		case model.SignedText:
			want.text += p.Text
		case model.Reasoning:
			want.think += p.Text
		case model.Extra:
			want.calls = append(want.calls, call{ID: p.ID, Name: p.FunctionCall.Name, Args: p.FunctionCall.Arguments})
			if p.ID == "" || seen[p.ID] {
				t.Errorf("id %q is empty or not unique", p.ID)
			}
			seen[p.ID] = true
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(all{})); diff != "" {
		t.Errorf("events (-reply +events):\n%s", diff)
	}
}

func TestStops(t *testing.T) {
	text := parts(`{"text":"part"}`)
	for raw, want := range map[string]model.Stop{
		"STOP": model.StopEnd, "OTHER": model.StopEnd, "SOMETHING_NEW": model.StopEnd, "MAX_TOKENS": model.StopLength, "CONTINUATION": model.StopLength,
		"SAFETY": model.StopRefusal, "RECITATION": model.StopRefusal, "BLOCKLIST": model.StopRefusal, "PROHIBITED_CONTENT": model.StopRefusal,
		"SPII": model.StopRefusal, "LANGUAGE": model.StopRefusal, "IMAGE_SAFETY": model.StopRefusal,
	} {
		_, reply, err := modeltest.Collect(t.Context(), client(streamtest.Client(events(text, end(raw)))), modeltest.Ask("go"))
		if err != nil || reply.Stop != want || reply.RawStop != raw {
			t.Errorf("%s: Stop = %q (%v), want %q", raw, reply.Stop, err, want)
		}
	}
	// A reason with every chunk, as older models sent it, and counts after the last.
	_, reply, err := modeltest.Collect(t.Context(), client(streamtest.Client(events(
		`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"MAX_TOKENS"}]}`,
		`{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}],"usageMetadata":{"promptTokenCount":3}}`))), modeltest.Ask("go"))
	if err != nil || reply.Stop != model.StopLength || reply.Usage.Input != 3 || len(reply.Parts) != 1 {
		t.Errorf("reply = %+v (%v), want one text that met its limit", reply, err)
	}
	if reply.RequestID != "" || reply.Model != "" {
		t.Errorf("reply = %+v, want neither id nor model", reply)
	}
}

func TestBreaks(t *testing.T) {
	text, thinks := parts(`{"text":"part"}`), `{"usageMetadata":{"promptTokenCount":9},`+parts(`{"text":"hm","thought":true}`)[1:]
	called := parts(`{"functionCall":{"name":"read","args":{}}}`)
	overloaded := `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`
	tests := []struct {
		name    string
		stream  string
		kind    model.Kind
		message string
	}{
		{"C110 end without a reason", events(thinks, text), model.Connection, ""},
		{"C110 end after a call", events(thinks, text, called), model.Connection, ""},
		{"C110 end inside an event", events(thinks, text) + "data: {", model.Malformed, ""},
		{"C118 an error in the stream", events(thinks, text, overloaded), model.Overloaded, "The model is overloaded."},
		{"an error in a list", events(thinks, text, "["+overloaded+"]"), model.Overloaded, "The model is overloaded."},
		{"an error that is no event", events(thinks, text) + "{\n\"error\": {\n\"code\": 503,\n\"message\": \"The model is overloaded.\"\n}\n}\n", model.Overloaded, "The model is overloaded."},
		{"an error after the end", events(thinks, text, end("STOP"), overloaded), model.Overloaded, "The model is overloaded."},
		{"a limit in the stream", events(thinks, text, `{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7s"}]}}`), model.RateLimit, "slow"},
		{"a chunk that is cut", events(thinks, text, `{"candidates":[{"content":{"pa`), model.Malformed, ""},
		{"a chunk that is a list", events(thinks, text, `[{"candidates":[]}]`), model.Malformed, ""},
		{"a call that cannot be read", events(thinks, text, `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(default_api.read(\n"}]}`), model.Malformed,
			"the model called a tool in a way that cannot be read: Malformed function call: print(default_api.read("},
		{"a call of what is not there", events(thinks, text, called, end("UNEXPECTED_TOOL_CALL")), model.Malformed, "the model called a tool in a way that cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, reply, err := modeltest.Collect(t.Context(), client(streamtest.Client(tt.stream)), modeltest.Ask("go"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.kind || !e.Partial || !e.Temporary() || e.RequestID != "r1" {
				t.Fatalf("error = %v (%+v), want a partial, temporary one of kind %q", err, e, tt.kind)
			}
			if tt.message != "" && e.Message != tt.message {
				t.Errorf("message = %q, want %q", e.Message, tt.message)
			}
			if tt.kind == model.RateLimit && e.RetryAfter != 7*time.Second {
				t.Errorf("RetryAfter = %v, want 7s", e.RetryAfter)
			}
			if !reply.Usage.Known || reply.Usage.Input != 9 {
				t.Errorf("usage = %+v, want that of the last event before the break", reply.Usage)
			}
			want := []llms.ContentPart{
				model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: "google/" + third}, llms.TextContent{Text: "part"}}
			if diff := cmp.Diff(want, reply.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   model.Error
	}{
		{"a prompt that is blocked", 200, events(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`),
			model.Error{Kind: model.Refused, Code: "PROHIBITED_CONTENT", Message: "the prompt is blocked: PROHIBITED_CONTENT; say it in other words"}},
		{"a signature that is missing", 200, events(end("MISSING_THOUGHT_SIGNATURE")),
			model.Error{Kind: model.Invalid, Code: "MISSING_THOUGHT_SIGNATURE", Message: "the provider misses the signature of an earlier call"}},
		{"a key that is none", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`,
			model.Error{Kind: model.Auth, Status: 400, Code: "INVALID_ARGUMENT", Message: "API key not valid. Please pass a valid API key."}},
		{"a list", 429, `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"@type":"RetryInfo","retryDelay":"21s"}]}}]`,
			model.Error{Kind: model.RateLimit, Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "slow", RetryAfter: 21 * time.Second}},
		{"C117 the quota of a day", 429, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"21s"}]}}`,
			model.Error{Kind: model.Quota, Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "quota"}},
		{"a window that is full", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
			model.Error{Kind: model.TokenLimit, Status: 400, Code: "INVALID_ARGUMENT", Message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}},
		{"no such model", 404, `{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}`,
			model.Error{Kind: model.NotFound, Status: 404, Code: "NOT_FOUND", Message: "models/x is not found"}},
		{"busy", 503, `{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`, model.Error{Kind: model.Overloaded, Status: 503, Code: "UNAVAILABLE", Message: "busy"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := &streamtest.Server{Answers: []streamtest.Answer{{Status: tt.status, Body: tt.body}}}
			c := client(server.Client())
			_, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok {
				t.Fatalf("error = %v, want a *model.Error", err)
			}
			tt.want.Provider = "google"
			if diff := cmp.Diff(tt.want, *e); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name   string
		counts []string
		want   model.Usage
	}{
		{"C127 cached is part of the prompt, thoughts are part of the answer", []string{`{"promptTokenCount":10000,"cachedContentTokenCount":9000,"candidatesTokenCount":5,"thoughtsTokenCount":30,"totalTokenCount":10035}`},
			model.Usage{Input: 10000, Output: 35, CacheRead: 9000, Reasoning: 30, Known: true}},
		{"thoughts counted among the candidates", []string{`{"promptTokenCount":100,"candidatesTokenCount":35,"thoughtsTokenCount":30,"totalTokenCount":135}`},
			model.Usage{Input: 100, Output: 35, Reasoning: 30, Known: true}},
		{"the prompts of tools", []string{`{"promptTokenCount":100,"toolUsePromptTokenCount":50,"candidatesTokenCount":5,"totalTokenCount":155}`}, model.Usage{Input: 150, Output: 5, Known: true}},
		{"C127 totals are not added up", []string{`{"promptTokenCount":100,"thoughtsTokenCount":20,"totalTokenCount":120}`, `{"promptTokenCount":100,"candidatesTokenCount":5,"thoughtsTokenCount":30,"totalTokenCount":135}`, `{"promptTokenCount":100,"totalTokenCount":135}`},
			model.Usage{Input: 100, Output: 35, Reasoning: 30, Known: true}},
		{"C127 missing", []string{`null`, `{}`}, model.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks := []string{parts(`{"text":"x"}`), end("STOP")}
			for _, c := range tt.counts {
				chunks = append(chunks, `{"usageMetadata":`+c+`}`)
			}
			_, reply, err := modeltest.Collect(t.Context(), client(streamtest.Client(events(chunks...))), modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reply.Usage); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSilence(t *testing.T) { // C031
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		stalled := roundTrip(func(req *http.Request) (*http.Response, error) {
			go func() {
				io.WriteString(w, events(parts(`{"text":"part"}`)))
				<-req.Context().Done()
				w.CloseWithError(req.Context().Err())
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r}, nil
		})
		start := time.Now()
		_, reply, err := modeltest.Collect(t.Context(), client(&http.Client{Transport: stalled}), modeltest.Ask("go"))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Idle || !e.Partial || time.Since(start) != 2*time.Minute {
			t.Errorf("error = %v after %v, want a partial one of kind %q after 2m", err, time.Since(start), model.Idle)
		}
		if len(reply.Parts) != 1 {
			t.Errorf("parts = %v, want the text", reply.Parts)
		}
	})
}

// outcome is what a stream comes to, without what is made up.
func outcome(t *testing.T, c *gemini.Client) string {
	t.Helper()
	told, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
	if e, ok := errors.AsType[*model.Error](err); err != nil && !ok {
		t.Errorf("error = %v, want a *model.Error", err)
	} else if ok {
		return fmt.Sprint(e.Kind, e.Partial, reply.Parts)
	}
	checkEvents(t, told, reply)
	s := fmt.Sprint(reply.Stop, reply.Usage)
	for _, p := range reply.Parts {
		if x, ok := p.(model.Extra); ok {
			p = llms.TextContent{Text: fmt.Sprint(made(x.ID), *x.FunctionCall, string(x.Content))}
		}
		s += fmt.Sprintf("\n%T %v", p, p)
	}
	return s
}

// Whatever a server sends, an answer is a typed error, or its events say what it
// says; how the stream is cut into packets does not change it.
func FuzzStream(f *testing.F) {
	f.Add(events(parts(`{"text":"a"}`, `{"text":"b","thoughtSignature":"S"}`), end("STOP")))
	f.Add(events(parts(`{"functionCall":{"id":"x","name":"n","args":[1]}}`, `{"functionCall":{"id":"x","name":"n"}}`), end("MAX_TOKENS")))
	f.Add(events(parts(`{"text":"a","thought":true}`), `{"usageMetadata":{"promptTokenCount":-1}}`) + `{"error":{"code":"x"}}`)
	f.Fuzz(func(t *testing.T, s string) {
		whole := outcome(t, client(streamtest.Client(s)))
		bytewise := outcome(t, client(streamtest.Packets(s, 1)))
		if whole != bytewise {
			t.Errorf("%q: whole %s, byte by byte %s", s, whole, bytewise)
		}
	})
}

// How a text is cut into chunks does not change the reply.
func FuzzPieces(f *testing.F) {
	f.Add("Grüße, 世界 \U0001F600", uint8(3), false)
	f.Add("hm \" \\ <&>\n", uint8(1), true)
	f.Fuzz(func(t *testing.T, text string, size uint8, thought bool) {
		part := func(s string) string {
			b, err := json.Marshal(map[string]any{"text": s, "thought": thought})
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		text = strings.ToValidUTF8(text, "?")
		var cut []string
		for rest := []rune(text); len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			cut = append(cut, parts(part(string(rest[:n]))))
			rest = rest[n:]
		}
		whole := outcome(t, client(streamtest.Client(events(parts(part(text)), end("STOP")))))
		if got := outcome(t, client(streamtest.Client(events(append(cut, end("STOP"))...)))); got != whole {
			t.Errorf("in pieces %s, whole %s", got, whole)
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	const n = 1000
	s := strings.Repeat(events(`{"candidates": [{"content": {"parts": [{"text": " word"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 12034,"candidatesTokenCount": 17,"totalTokenCount": 12051,"cachedContentTokenCount": 8120,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 12034}],"cacheTokensDetails": [{"modality": "TEXT","tokenCount": 8120}]},"modelVersion": "gemini-3.5-flash","responseId": "k3m_aNqZ"}`), n) +
		events(end("STOP"))
	c := client(streamtest.Client(s))
	req := modeltest.Ask("go")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Stream(b.Context(), req, func(model.Event) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/chunk")
}
