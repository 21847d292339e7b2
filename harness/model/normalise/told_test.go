package normalise_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
)

// R-TASK-40, R-TASK-41, C-33: when an answer is told, and how.
func TestTold(t *testing.T) {
	png := llms.BinaryContent{MIMEType: "image/png", Data: []byte{1}}
	withImage := result("b", "read", "a picture")
	withImage.Images = []llms.BinaryContent{png}
	history := []llms.MessageContent{
		human("hi"), ai(by("q/m"), thought("q/m", "hm"), "I look.\n", signed("q/m", "Now."), call("a", "ls", `{"p":1}`), model.Extra{ToolCall: call("b", "read", "{"), Provider: "q/m"}),
		tool(withImage, failed("a", "ls", "no\n such\tdirectory ")), ai(by("q/m"), "Done.\n\n"), human("so"),
	}
	ours := []llms.MessageContent{human("hi"), ai(by("p/m"), thought("p/m", "hm"), "I look.", call("a", "ls", "{}")), tool(result("a", "ls", "x")), ai(by("p/m"), thought("p/m", "hm"), "Done."), human("so")}
	first := "I look.\n\nNow.\n[已执行 ls，输出：ERROR: no such directory]\n[已执行 read，输出：a picture]"
	label, line := "Images from the result of the tool \"read\":", "[An image was attached here (image/png, 1 KiB). This model cannot see it; say so if the answer depends on it.]"
	typed := []llms.MessageContent{
		human("hi"), ai("I look.\n", "Now.", call("a", "ls", `{"p":1}`), call("b", "read", "{}")),
		tool(failed("a", "ls", "no\n such\tdirectory "), result("b", "read", "a picture\n"+line)), ai("Done.\n\n"), human("so"),
	}
	asText := normalise.Options{Text: true}
	tests := []struct {
		name     string
		d        model.Descriptor
		o        normalise.Options
		noTools  bool
		in, want []llms.MessageContent
	}{
		{"typed to a model with tools", plain, normalise.Options{}, false, history, typed},
		{"as text, where that is asked for", plain, asText, false, history,
			[]llms.MessageContent{human("hi"), ai(first), human(label, line), ai("Done."), human("so")}},
		{"with its pictures, for a model that sees", sees, asText, false, history,
			[]llms.MessageContent{human("hi"), ai(first), human(label, png), ai("Done."), human("so")}},
		{"not what the same vendor said", model.Descriptor{Provider: "q", ID: "other", Kind: "openai-chat"}, asText, false, history, typed},
		{"nor what nobody is known to have said", plain, asText, false,
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}")), tool(result("a", "ls", "x"))},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}")), tool(result("a", "ls", "x"))}},
		{"without tools all calls, whoever made them", plain, normalise.Options{}, true, ours,
			[]llms.MessageContent{human("hi"), ai("I look.\n[已执行 ls，输出：x]", thought("p/m", "hm"), "Done."), human("so")}},
		{"and others' answers", plain, normalise.Options{}, true, history,
			[]llms.MessageContent{human("hi"), ai(first), human(label, line), ai("Done."), human("so")}},
		{"in one message apart from what is typed", plain, asText, false,
			[]llms.MessageContent{human("hi"), ai(by("q/m"), "a", by("r/m"), "b", by("p/m"), thought("p/m", "hm"), "c", call("a", "ls", "{}")), tool(result("a", "ls", "x"))},
			[]llms.MessageContent{human("hi"), ai("a", "b", thought("p/m", "hm"), "c", call("a", "ls", "{}")), tool(result("a", "ls", "x"))}},
		{"with another template", plain, normalise.Options{Text: true, Executed: "{{tool}} gave {{summary}}{{tool}}"}, false,
			[]llms.MessageContent{human("hi"), ai(by("q/m"), call("a", "ls{{summary}}", "{}")), tool(result("a", "ls", "{{tool}}")), human("so")},
			[]llms.MessageContent{human("hi"), ai("ls{{summary}} gave {{tool}}ls{{summary}}"), human("so")}},
		{"a call without a result, without a name, and what says nothing", plain, asText, false,
			[]llms.MessageContent{human("hi"), ai(by("q/m"), call("a", "", "{}"), call("b", "ls", "{}")), tool(result("b", "ls", " ")), ai(by("q/m"), thought("q/m", "x"), " "), human("so")},
			[]llms.MessageContent{human("hi"), ai("[已执行 unnamed_e3b0c442，输出：ERROR: " + interrupted + "]\n[已执行 ls，输出：(The tool gave no output.)]"), human("so")}},
		{"and the model is asked after it", plain, normalise.Options{}, true,
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}")), tool(result("a", "ls", "x"))},
			[]llms.MessageContent{human("hi"), ai("[已执行 ls，输出：x]"), human("(Go on.)")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := modeltest.Ask("")
			req.Messages = tt.in
			if tt.noTools {
				req.Tools = nil
			}
			if diff := cmp.Diff(tt.want, normalise.Request(req, tt.d, tt.o).Messages); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestToldResultsAreShort(t *testing.T) { // R-TASK-41
	tests := []struct{ name, in, want string }{
		{"as long as it may be", strings.Repeat("字", 600), strings.Repeat("字", 600)},
		{"longer", strings.Repeat("字", 601), strings.Repeat("字", 599) + "…"},
		{"a space at the cut", strings.Repeat("字", 598) + " 字字字", strings.Repeat("字", 598) + "…"},
		{"lines", "\r\n a\u2028\v b \n\n", "a b"},
	}
	for _, tt := range tests {
		req := &model.Request{Messages: []llms.MessageContent{human("hi"), ai(call("a", "ls", "{}")), tool(result("a", "ls", tt.in)), human("so")}}
		got := normalise.Request(req, plain, normalise.Options{}).Messages[1].Parts[0].(llms.TextContent).Text
		if want := "[已执行 ls，输出：" + tt.want + "]"; got != want {
			t.Errorf("%s: %d characters, %q, want %q", tt.name, utf8.RuneCountInString(got), got, want)
		}
	}
}

func TestVendor(t *testing.T) {
	tests := map[string]string{
		"": "", "offline": "offline", "script:/tmp/a.jsonl": "script", "anthropic/claude-opus-4-7": "anthropic", "Work/m": "work",
		"openrouter/anthropic/claude-opus-4-7": "anthropic", "groq/openai/gpt-oss-120b": "openai", "vllm/Qwen/Qwen3-32B": "qwen",
		"gemini/gemini-3.5-flash": "gemini", "openrouter/google/gemini-3.5-flash": "gemini", "gemini/models/gemini-3.5-flash": "gemini",
		"openrouter/x-ai/grok-5": "xai", "openrouter/~openai/gpt-latest": "openai", "openrouter//x": "openrouter",
		"fireworks/accounts/fireworks/models/x": "fireworks", "together/mistralai/Mixtral": "mistral",
	}
	for ref, want := range tests {
		if got := normalise.Vendor(ref); got != want {
			t.Errorf("Vendor(%q) = %q, want %q", ref, got, want)
		}
	}
}
