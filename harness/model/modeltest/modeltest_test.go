package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
)

func TestStreamer(t *testing.T) {
	modeltest.TestStreamer(t, func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
		return modeltest.NewStreamer(replies...)
	})
}

// post sends body and returns the status and the answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestStrictOpenAI(t *testing.T) {
	const (
		user  = `{"role":"user","content":"hi"}`
		calls = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
		resA  = `{"role":"tool","tool_call_id":"a","content":"x"}`
		resB  = `{"role":"tool","tool_call_id":"b","content":""}`
		tool  = `"tools":[{"type":"function","function":{"name":"ls","description":"","parameters":{"type":"object"}}}]`
	)
	one := func(id, name, args string) string {
		return user + `,{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":` + modeltest.JSON(args) + `}}]}`
	}
	tests := []struct{ name, model, extra, msgs, want string }{
		{"all is well", "m", tool, user + "," + calls + "," + resA + "," + resB, ""},
		{"a call without a result", "m", tool, user + "," + calls + "," + resA + "," + user, "calls without a result: b"},
		{"nor at the end", "m", tool, user + "," + calls, "calls without a result: a, b"},
		{"wrong order", "m", tool, user + "," + calls + "," + resB + "," + resA, "where that of"},
		{"a result without a call", "m", tool, user + "," + resA, "does not follow its call"},
		{"an id twice", "m", tool, user + "," + calls + "," + resA + "," + resB + "," + calls, "is not unique"},
		{"a bad id", "m", tool, one("a b", "ls", "{}"), "id"},
		{"a bad name", "m", tool, one("a", "l.s", "{}"), "name"},
		{"arguments that are no object", "m", tool, one("a", "ls", "[]"), "not an object"},
		{"an empty message", "m", "", `{"role":"user","content":""}`, "empty"},
		{"an empty answer", "m", "", user + `,{"role":"assistant","content":""},` + user, "empty"},
		{"an empty part", "m", "", `{"role":"user","content":[{"type":"text","text":""}]}`, "empty or unknown"},
		{"a late system message", "m", "", user + `,{"role":"system","content":"x"}`, "first"},
		{"the model has the last word", "m", "", user + `,{"role":"assistant","content":"x"}`, "last message"},
		{"no messages", "m", "", "", "messages is empty"},
		{"no model", "", "", user, "model is missing"},
		{"an unknown field", "m", `"top_k":1`, user, "extra inputs"},
		{"a choice without tools", "m", `"tool_choice":"none"`, user, "only allowed with tools"},
		{"a tool twice", "m", `"tools":[{"type":"function","function":{"name":"l","parameters":{"type":"object"}}},{"type":"function","function":{"name":"l","parameters":{"type":"object"}}}]`, user, "not unique"},
		{"a schema of something else", "m", `"tools":[{"type":"function","function":{"name":"l","parameters":{"type":"string"}}}]`, user, "not that of an object"},
		{"temperature for a model that takes none", "gpt-5.2", `"temperature":0`, user, "temperature"},
		{"C107 reasoning that is missing", "deepseek-v4", tool, user + "," + calls + "," + resA + "," + resB, "reasoning_content"},
		{"C107 signature that is missing", "gemini-3", tool, user + "," + calls + "," + resA + "," + resB, "thought_signature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
			extra := tt.extra
			if extra != "" {
				extra += ","
			}
			body := fmt.Sprintf(`{"model":%q,"stream":true,%s"messages":[%s]}`, tt.model, extra, tt.msgs)
			checkVerdict(t, s, s.OpenAI()+"/chat/completions", body, tt.want)
		})
	}
}

// checkVerdict posts body and wants it rejected for a reason with want, or, if
// that is "", accepted.
func checkVerdict(t *testing.T, s *modeltest.Server, url, body, want string) {
	t.Helper()
	status, answer := post(t, url, body)
	if want == "" {
		if status != http.StatusOK || len(s.Rejected()) > 0 {
			t.Errorf("status %d: %s", status, answer)
		}
		return
	}
	if status != http.StatusBadRequest || !strings.Contains(answer, want) || len(s.Rejected()) != 1 {
		t.Errorf("status %d: %s, want 400 with %q", status, answer, want)
	}
}

func TestStrictAnthropic(t *testing.T) {
	const (
		user = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
		use  = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}`
		resA = `{"type":"tool_result","tool_use_id":"a","content":"x"}`
		resB = `{"type":"tool_result","tool_use_id":"b"}`
		tool = `"tools":[{"name":"ls","description":"","input_schema":{"type":"object"}}]`
		said = `{"role":"assistant","content":[{"type":"text","text":"ok"}]}`
	)
	results := func(blocks ...string) string {
		return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
	}
	mark := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	tests := []struct{ name, extra, msgs, want string }{
		{"all is well", tool, user + "," + use + "," + results(resA, resB, mark), ""},
		{"a call without a result", tool, user + "," + use + "," + results(resA), "calls without a result: b"},
		{"wrong order", tool, user + "," + use + "," + results(resB, resA), "where that of"},
		{"text before results", tool, user + "," + use + "," + results(mark, resA, resB), "calls without a result"},
		{"a result without a call", tool, results(resA), "does not follow its call"},
		{"roles in a row", "", user + "," + user, "alternate"},
		{"the model first", "", said + "," + user, "alternate"},
		{"the model last", "", user + "," + said, "prefill"},
		{"an empty text", "", results(`{"type":"text","text":" "}`), "non-whitespace"},
		{"an empty message", "", `{"role":"user","content":[]}`, "empty"},
		{"a failure without a word", tool, user + "," + use + "," + results(`{"type":"tool_result","tool_use_id":"a","is_error":true}`, resB), "is_error"},
		{"five marks", "", results(mark, mark, mark, mark, mark), "cache_control"},
		{"a signature of someone else", "", user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"ok"}]},` + user, "invalid signature"},
		{"a thought of the user", "", results(`{"type":"thinking","thinking":"hm","signature":"x"}`), "role user"},
		{"an image of a kind that is not taken", "", results(`{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":"eA=="}}`), "image source"},
		{"temperature", `"temperature":1`, user, "temperature"},
		{"a budget", `"thinking":{"type":"enabled","budget_tokens":1024}`, user, "not supported"},
		{"an unknown field", `"top_k":1`, user, "extra inputs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
			extra := tt.extra
			if extra != "" {
				extra += ","
			}
			body := `{"model":"claude-opus-4-7","max_tokens":2000,"stream":true,` + extra + `"messages":[` + tt.msgs + `]}`
			checkVerdict(t, s, s.Anthropic()+"/v1/messages", body, tt.want)
		})
	}
	t.Run("no limit", func(t *testing.T) {
		s := modeltest.New(t, modeltest.Reply{})
		checkVerdict(t, s, s.Anthropic()+"/v1/messages", `{"model":"m","stream":true,"messages":[`+user+`]}`, "max_tokens")
	})
}

func TestScript(t *testing.T) {
	s := modeltest.NewStreamer(
		modeltest.Reply{Match: "red", Text: []string{"1"}},
		modeltest.Reply{Text: []string{"2"}, Repeat: 1},
		modeltest.Reply{Match: "blue", Text: []string{"3"}, Repeat: -1},
	)
	var got []string
	for _, ask := range []string{"a", "red", "b", "blue", "blue", "red"} {
		_, reply, err := modeltest.Collect(t.Context(), s, modeltest.Ask(ask))
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprint(reply.Parts[0]))
	}
	want := []string{"2", "1", "2", "3", "3", `modeltest: invalid request: no reply is left for a request that ends in "red"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What changes in a request costs what stands behind it.
func TestReuse(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}, Repeat: -1})
	c := openai.New(model.Descriptor{ID: "m", BaseURL: s.OpenAI()}, openai.Options{})
	for _, system := range []string{"it is 12:00", "it is 12:01"} { // C122
		req := modeltest.Ask("hi")
		req.System = system
		if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
	}
	r := s.Reuse()
	if len(r) != 1 || r[0].Ratio() > 0.9 || r[0].Ratio() < 0.5 || r[0].Before != r[0].After {
		t.Errorf("Reuse() = %+v, want the model and the tools of one comparison", r)
	}
}

func TestRoutes(t *testing.T) {
	s := modeltest.New(t)
	for path, want := range map[string]string{"/v1/models": "data", "/api/tags": "models", "/api/show": "capabilities", "/nope": "error"} {
		_, body := post(t, s.URL+path, "{}")
		var v map[string]any
		if err := json.Unmarshal([]byte(body), &v); err != nil || v[want] == nil {
			t.Errorf("%s: %s (%v), want %q in it", path, body, err, want)
		}
	}
}

func TestGone(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: []string{"a"}, Hang: true})
	c := openai.New(model.Descriptor{ID: "m", BaseURL: s.OpenAI()}, openai.Options{})
	if _, err := c.Stream(t.Context(), modeltest.Ask("hi"), func(model.Event) error { return io.EOF }); err != io.EOF {
		t.Errorf("error = %v, want io.EOF", err)
	}
	<-s.Gone() // the client closed the connection
}
