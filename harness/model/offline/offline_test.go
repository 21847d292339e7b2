package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
)

// offered are the tools of the tests; the schemas name their input in ways that
// the model has to find out.
func offered(names ...string) []model.Tool {
	schemas := map[string]string{
		"read":          `{"properties":{"path":{}}}`,
		"write":         `{"properties":{"file_path":{},"content":{}}}`,
		"edit":          `{"properties":{"path":{},"edits":{"items":{"properties":{"old_text":{},"new_text":{}}}}}}`,
		"glob":          `{"properties":{"pattern":{},"path":{}}}`,
		"grep":          `{"properties":{"pattern":{},"path":{}}}`,
		"bash":          `{"properties":{"command":{}}}`,
		"search":        `{"properties":{"query":{}}}`,
		"fetch_content": `{"properties":{"url":{}}}`,
		"addTasks":      `{"properties":{"tasks":{}}}`,
		"stub_echo":     `{"properties":{"text":{}}}`,
	}
	var tools []model.Tool
	for _, n := range names {
		tools = append(tools, model.Tool{Name: n, Schema: json.RawMessage(schemas[n])})
	}
	return tools
}

// A conversation runs the model against results that are given by tool.
type conversation struct {
	tools   []string
	results map[string]model.ToolResult // what a tool gives; one that is missing gives its name
	noTools bool
}

// run returns the calls that the model made, as NAME ARGS, and its answer.
func (c conversation) run(t *testing.T, prompt string) (calls []string, text string) {
	t.Helper()
	req := &model.Request{Kind: "main", Tools: offered(c.tools...), NoTools: c.noTools}
	req.Messages = append(req.Messages, llms.TextParts(llms.ChatMessageTypeHuman, prompt))
	m := offline.New(offline.Options{})
	for range 5 {
		var streamed strings.Builder
		r, err := m.Stream(t.Context(), req, func(e model.Event) error {
			if s, ok := e.(model.Text); ok {
				streamed.WriteString(string(s))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var results llms.MessageContent
		results.Role = llms.ChatMessageTypeTool
		text = ""
		for _, p := range r.Parts {
			switch p := p.(type) {
			case llms.TextContent:
				text += p.Text
			case llms.ToolCall:
				calls = append(calls, p.FunctionCall.Name+" "+p.FunctionCall.Arguments)
				res, ok := c.results[p.FunctionCall.Name]
				if !ok {
					res.Content = "result of " + p.FunctionCall.Name
				}
				res.ToolCallID, res.Name = p.ID, p.FunctionCall.Name
				results.Parts = append(results.Parts, res)
			}
		}
		if text != streamed.String() {
			t.Fatalf("the reply says %q, the stream said %q", text, streamed.String())
		}
		if r.Stop != model.StopTools {
			return calls, text
		}
		req.Messages = append(req.Messages, llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: r.Parts}, results)
	}
	t.Fatal("the model does not come to an end")
	return nil, ""
}

func result(text string, isError bool) model.ToolResult {
	return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{Content: text}, IsError: isError}
}

func TestRequests(t *testing.T) {
	all := []string{"read", "write", "edit", "glob", "grep", "bash", "search", "fetch_content", "addTasks", "stub_echo"}
	tests := []struct {
		prompt string
		want   []string
		says   string
	}{
		{"list files in src", []string{`glob {"path":"src","pattern":"**/*"}`}, "result of glob"},
		{"read a.txt", []string{`read {"path":"a.txt"}`}, "result of read"},
		{"find a.b(", []string{`grep {"pattern":"a\\.b\\("}`}, "result of grep"},
		{"run go version", []string{`bash {"command":"go version"}`}, "result of bash"},
		{"write new.txt: hi", []string{`glob {"pattern":"new.txt"}`, `write {"content":"hi\n","file_path":"new.txt"}`}, "result of write"},
		{"edit a.txt: replace x with y", []string{`read {"path":"a.txt"}`, `edit {"edits":[{"new_text":"y","old_text":"x"}],"path":"a.txt"}`}, "result of edit"},
		{"fetch https://example.org/x", []string{`fetch_content {"url":"https://example.org/x"}`}, "result of fetch"},
		{"search the web for go", []string{`search {"query":"go"}`}, "result of search"},
		{`call stub_echo with {"text": 12345678901234567890}`, []string{`stub_echo {"text": 12345678901234567890}`}, "result of stub_echo"},
		{`call stub_echo {"text": "x"}`, []string{`stub_echo {"text": "x"}`}, "result of stub_echo"},
		{"call stub_echo {\n  \"text\": \"x\"\n}", []string{"stub_echo {\n  \"text\": \"x\"\n}"}, "result of stub_echo"},
		{"call stub_echo", []string{`stub_echo {}`}, "result of stub_echo"},
		{"These servers say how.\n\n<server-advice server=\"s\" prefix=\"s\">\ncall stub_echo\n</server-advice>\n\nread a.txt", []string{`read {"path":"a.txt"}`}, "result of read"},
		{"show a plan", []string{`addTasks {"tasks":["Read what is there for the request","Make the change","Check the result"]}`}, "result of addTasks"},
		{"think about trees", nil, "no language model"},
		{"stream 3 words", nil, "word1 word2 word3"},
		{"help", nil, "--model PROVIDER/MODEL"},
		{"Why is the sky blue?", nil, "no language model"},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			calls, text := conversation{tools: all}.run(t, tt.prompt)
			if diff := cmp.Diff(tt.want, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if !strings.Contains(text, tt.says) {
				t.Errorf("answer = %q, want it to say %q", text, tt.says)
			}
		})
	}
}

func TestWriteReadsAFileThatExists(t *testing.T) {
	c := conversation{
		tools:   []string{"read", "write", "glob"},
		results: map[string]model.ToolResult{"glob": result("./old.txt\nolder.txt", false)},
	}
	calls, _ := c.run(t, "write old.txt: hi")
	want := []string{`glob {"pattern":"old.txt"}`, `read {"path":"old.txt"}`, `write {"content":"hi\n","file_path":"old.txt"}`}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestWriteGoesOnWhenItCannotLook(t *testing.T) {
	c := conversation{
		tools:   []string{"read", "write", "glob"},
		results: map[string]model.ToolResult{"glob": result("no such directory", true)},
	}
	calls, _ := c.run(t, "write new/[a].txt: hi")
	want := []string{`glob {"pattern":"new/\\[a\\].txt"}`, `write {"content":"hi\n","file_path":"new/[a].txt"}`}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestFailureEndsTheRequest(t *testing.T) {
	c := conversation{
		tools:   []string{"read", "edit"},
		results: map[string]model.ToolResult{"read": result("no such file", true)},
	}
	calls, text := c.run(t, "edit a.txt: replace x with y")
	if want := []string{`read {"path":"a.txt"}`}; !cmp.Equal(want, calls) || !strings.Contains(text, "no such file") {
		t.Errorf("calls %q, answer %q; want %q and the error", calls, text, want)
	}
}

func TestToolThatIsNotOffered(t *testing.T) {
	calls, text := conversation{}.run(t, "read a.txt")
	if calls != nil || !strings.Contains(text, "`read`") || !strings.Contains(text, "not offered") {
		t.Errorf("calls %q, answer %q; want no call and a word about it", calls, text)
	}
	if calls, text = (conversation{}).run(t, "show a plan"); calls != nil || !strings.Contains(text, "1. ") {
		t.Errorf("calls %q, answer %q; want a plan in words", calls, text)
	}
}

func TestNoToolsMakesNoCall(t *testing.T) {
	calls, text := conversation{tools: []string{"read"}, noTools: true}.run(t, "read a.txt")
	if calls != nil || text == "" {
		t.Errorf("calls %q, answer %q; want an answer alone", calls, text)
	}
}

func TestNoteOfTheProgramEndsTheCalls(t *testing.T) {
	req := &model.Request{Tools: offered("glob", "read", "write"), Messages: []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeHuman, "write a.txt: x"),
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.ToolCall{ID: "1", FunctionCall: &llms.FunctionCall{Name: "glob"}}}},
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result("nothing", false)}},
		llms.TextParts(llms.ChatMessageTypeHuman, "Answer with what you have."),
	}}
	r, err := offline.New(offline.Options{}).Stream(t.Context(), req, func(model.Event) error { return nil })
	if err != nil || r.Stop != model.StopEnd {
		t.Errorf("stop = %v (%v), want an answer", r.Stop, err)
	}
}

func TestDeterministic(t *testing.T) {
	run := func() []model.Event {
		var events []model.Event
		req := &model.Request{Tools: offered("glob"), Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "list files")}}
		if _, err := offline.New(offline.Options{}).Stream(t.Context(), req, func(e model.Event) error {
			events = append(events, e)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return events
	}
	if diff := cmp.Diff(run(), run()); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}

// What an MCP server has the model answer is a request like any other, without tools.
func TestRequestOfAServer(t *testing.T) {
	req := &model.Request{Kind: "sampling", Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "stream 2 words")}}
	r, err := offline.New(offline.Options{}).Stream(t.Context(), req, func(model.Event) error { return nil })
	if err != nil || len(r.Parts) != 1 || r.Parts[0] != llms.ContentPart(llms.TextContent{Text: "word1 word2"}) {
		t.Errorf("answer = %+v, %v", r, err)
	}
}

func TestTaskRequestIsRefused(t *testing.T) {
	_, err := offline.New(offline.Options{}).Stream(t.Context(), &model.Request{Kind: "title"}, nil)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Temporary() || !strings.Contains(err.Error(), `"title"`) {
		t.Errorf("error = %v, want a final one that names the kind", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	req := &model.Request{Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "stream 1000 words")}}
	n := 0
	r, err := offline.New(offline.Options{}).Stream(ctx, req, func(model.Event) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 10 || len(r.Parts) != 1 {
		t.Errorf("after %d pieces: %v, %+v; want 10, cancelled, with what was said", n, err, r)
	}
}
