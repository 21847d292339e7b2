package wirecheck_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/require"
	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/wirecheck"
)

// record reads a conversation: lines that begin with ">" go to the agent, those
// with "<" to the client. The member jsonrpc is added to objects.
func record(t *testing.T, text string) []wirecheck.Line {
	t.Helper()
	var lines []wirecheck.Line
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		dir := wirecheck.ToAgent
		if l[0] == '<' {
			dir = wirecheck.ToClient
		} else if l[0] != '>' {
			t.Fatalf("line %q has no direction", l)
		}
		body := strings.TrimSpace(l[1:])
		if strings.HasPrefix(body, `{"`) && !strings.Contains(body, `"jsonrpc"`) {
			body = `{"jsonrpc":"2.0",` + body[1:]
		}
		lines = append(lines, wirecheck.Line{Dir: dir, Text: body})
	}
	return lines
}

// start opens a connection and the session s. It is seven lines long.
const start = `
> {"id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}
< {"id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{}}}
> {"id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"id":2,"result":{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"auto","name":"Auto"}]},"configOptions":[{"id":"mode","name":"Mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"Ask"}]},{"id":"model","name":"Model","type":"select","currentValue":"m","options":[{"value":"m","name":"M"}]}]}}
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
> {"id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Hello"}}}}
`

// call announces a tool call that runs.
const call = `
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"Edit","kind":"edit","status":"pending"}}}
`

const done = `
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","rawOutput":{"anything":{"goes":1}}}}}
`

const ends = `
< {"id":3,"result":{"stopReason":"end_turn"}}
`

const good = start + call + `
< {"id":"p1","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"Edit"},"options":[{"optionId":"allow_once","name":"Allow","kind":"allow_once"},{"optionId":"reject_once","name":"Reject","kind":"reject_once"}]}}
> {"id":"p1","result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}
< {"id":"r1","method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/a","line":1}}
> {"id":"r1","result":{"content":""}}
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress","locations":[{"path":"/w/a","line":1}],"content":[{"type":"diff","path":"/w/a","oldText":"a","newText":"b"}],"_meta":{"lorimer.dev":{"x":1}}}}}
` + done + ends + `
> {"id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"again"}]}}
> {"method":"session/cancel","params":{"sessionId":"s"}}
< {"id":4,"result":{"stopReason":"cancelled"}}
> {"id":5,"method":"session/set_config_option","params":{"sessionId":"s","configId":"model","value":"nope"}}
< {"id":5,"error":{"code":-32602,"message":"no such value"}}
> {"id":6,"method":"session/close","params":{"sessionId":"s"}}
< {"id":6,"result":{}}
> this is not JSON
< {"id":null,"error":{"code":-32700,"message":"not JSON"}}
`

func schemas(t *testing.T) *wirecheck.Schemas {
	t.Helper()
	dir := require.Peer(t, require.NPM, filepath.Join("..", "node_modules", "@agentclientprotocol", "sdk", "schema"))
	s, err := wirecheck.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func check(t *testing.T, text string, s *wirecheck.Schemas) []string {
	t.Helper()
	var got []string
	for _, f := range wirecheck.Check(record(t, text), s) {
		got = append(got, f.String())
	}
	return got
}

func TestGoodConversation(t *testing.T) {
	if got := check(t, good, nil); got != nil {
		t.Errorf("findings = %q, want none", got)
	}
}

func TestGoodConversationBySchema(t *testing.T) {
	if got := check(t, good, schemas(t)); got != nil {
		t.Errorf("findings = %q, want none", got)
	}
}

// TestState feeds conversations with one fault each.
func TestState(t *testing.T) {
	const update = `< {"method":"session/update","params":{"sessionId":"s","update":`
	ask := func(method, params string) string {
		return `< {"id":"q","method":"` + method + `","params":{"sessionId":"s",` + params + "}}\n"
	}
	tests := []struct {
		name, text string
		want       []string
	}{
		{"not JSON", start + "< nonsense\n" + ends,
			[]string{"line 8: : not a JSON-RPC object: invalid character 'o' in literal null (expecting 'u')"}},
		{"a batch", start + "< []\n" + ends,
			[]string{"line 8: : not a JSON-RPC object: json: cannot unmarshal array into Go value of type map[string]json.RawMessage"}},
		{"no version", start + `< {"jsonrpc":"1.0","method":"_x"}` + ends, []string{`line 8: _x: member jsonrpc must be "2.0"`}},
		{"more members", start + `< {"method":"_x","extra":1}` + ends, []string{`line 8: _x: member "extra" is not part of a message`}},
		{"request without id", start + `< {"id":null,"method":"_x"}` + ends, []string{"line 8: _x: a request needs an id"}},
		{"result and error", start + `< {"id":3,"result":{"stopReason":"end_turn"},"error":{"code":1,"message":"x"}}`,
			[]string{"line 8: : an answer has either a result or an error"}},
		{"neither", start + `< {"id":3}`, []string{"line 8: : an answer has either a result or an error",
			"line 8: session/prompt: the answer has no stop reason"}},
		{"error without code", start + `< {"id":3,"error":{"message":"x"}}`,
			[]string{"line 8: session/prompt: an error needs an integer code and a message"}},
		{"answered twice", start + ends + ends, []string{"line 9: : no request waits for the answer to 3"}},
		{"never answered", start, []string{"line 8: session/prompt: the request of line 6 was never answered"}},
		{"before initialize", `< {"method":"_x","params":{}}`, []string{"line 1: _x: sent before the answer to initialize"}},
		{"other version", strings.Replace(start, `"result":{"protocolVersion":1`, `"result":{"protocolVersion":2`, 1) + ends,
			[]string{"line 2: initialize: version 2 was agreed on; this check knows version 1"}},
		{"no agent info", strings.Replace(start, `"agentInfo":{"name":"a","version":"1"},`, "", 1) + ends,
			[]string{"line 2: initialize: agentInfo is missing"}},
		{"terminal login", strings.Replace(start, `"agentCapabilities":{}`, `"authMethods":[{"id":"x","type":"terminal"}]`, 1) + ends,
			[]string{"line 2: initialize: method x needs a terminal, which the client has not offered"}},

		{"unknown session", start + strings.Replace(update, `"s"`, `"other"`, 1) + `{"sessionUpdate":"session_info_update"}}}` + ends,
			[]string{`line 8: session/update session_info_update: session "other" is not known to the client`}},
		{"session twice", start + `> {"id":9,"method":"session/new"}
			< {"id":9,"result":{"sessionId":"s"}}` + ends, []string{"line 9: session/new: session s exists already"}},
		{"unknown mode", start + update + `{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}}}` + ends,
			[]string{`line 8: session/update current_mode_update: mode "yolo" is not one of ask, auto`}},
		{"option outside its values", start + update + `{"sessionUpdate":"config_option_update","configOptions":[` +
			`{"id":"mode","type":"select","currentValue":"yolo","options":[{"value":"a"},{"options":[{"value":"b"}]}]},{"id":"model","type":"select","currentValue":"m","options":[{"value":"m"}]}]}}}` + ends,
			[]string{`line 8: session/update config_option_update: value "yolo" of option mode is not one of a, b`}},
		{"partial options", start + update + `{"sessionUpdate":"config_option_update","configOptions":[{"id":"mode"},{"id":"mode"}]}}}` + ends,
			[]string{"line 8: session/update config_option_update: option mode occurs twice",
				"line 8: session/update config_option_update: the list lacks option model"}},
		{"boolean option", start + update + `{"sessionUpdate":"config_option_update","configOptions":[{"id":"mode"},{"id":"model","type":"boolean"}]}}}` + ends,
			[]string{"line 8: session/update config_option_update: option model is a boolean, which the client has not offered"}},
		{"command with slash", start + update + `{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"/x"}]}}}` + ends,
			[]string{`line 8: session/update available_commands_update: command "/x" carries its slash`}},
		{"info", start + update + `{"sessionUpdate":"session_info_update","title":" ","updatedAt":"yesterday"}}}` + ends,
			[]string{"line 8: session/update session_info_update: the title is empty",
				`line 8: session/update session_info_update: updatedAt "yesterday" is no time of RFC 3339`}},
		{"usage", start + update + `{"sessionUpdate":"usage_update","used":11,"size":10}}}` + ends,
			[]string{"line 8: session/update usage_update: 11 tokens are used of 10"}},
		{"notice", start + update + `{"sessionUpdate":"notice"}}}` + ends,
			[]string{"line 8: session/update notice: the client has not offered notices"}},

		{"after the turn", start + ends + update + `{"sessionUpdate":"agent_message_chunk"}}}`,
			[]string{"line 9: session/update agent_message_chunk: sent outside a turn"}},
		{"tool call after the turn", start + ends + call + done, []string{"line 9: session/update tool_call: sent outside a turn",
			"line 10: session/update tool_call_update: sent outside a turn"}},
		{"id used twice", start + call + done + call + done + ends, []string{"line 10: session/update tool_call: id t is used already"}},
		{"no title", start + strings.Replace(call, `"Edit"`, `" "`, 1) + done + ends,
			[]string{"line 8: session/update tool_call: tool call t has no title"}},
		{"not announced", start + done + ends, []string{"line 8: session/update tool_call_update: tool call t has not been announced"}},
		{"two final states", start + call + done + strings.Replace(done, "completed", "failed", 1) + ends,
			[]string{"line 10: session/update tool_call_update: tool call t was completed already"}},
		{"no final state", start + call + ends, []string{"line 9: session/prompt: tool call t of line 8 is still pending at the end of the turn"}},
		{"relative places", start + call + update + `{"sessionUpdate":"tool_call_update","toolCallId":"t","locations":[{"path":"a","line":0}],` +
			`"content":[{"type":"diff","path":"b","oldText":"x","newText":"x"},{"type":"terminal","terminalId":"z"}]}}}` + done + ends, []string{
			`line 9: session/update tool_call_update: path "a" is not absolute`,
			"line 9: session/update tool_call_update: lines count from 1",
			`line 9: session/update tool_call_update: path "b" is not absolute`,
			"line 9: session/update tool_call_update: the diff of b changes nothing",
			`line 9: session/update tool_call_update: terminal "z" was never created`}},

		{"cancel without its reason", start + `> {"method":"session/cancel","params":{"sessionId":"s"}}` + ends,
			[]string{"line 9: session/prompt: the prompt was cancelled, but its stop reason is end_turn"}},
		{"cancel with an error", start + `> {"method":"session/cancel","params":{"sessionId":"s"}}` + "\n" + `< {"id":3,"error":{"code":1,"message":"x"}}`,
			[]string{"line 9: session/prompt: a cancelled prompt ends with the stop reason cancelled, not with an error"}},
		{"reason without cancel", start + `< {"id":3,"result":{"stopReason":"cancelled"}}`,
			[]string{"line 8: session/prompt: the stop reason is cancelled, but nobody cancelled"}},
		{"request cancelled", start + `> {"method":"$/cancel_request","params":{"requestId":3}}` + "\n" + `< {"id":3,"result":{"stopReason":"cancelled"}}`, nil},
		{"closed too early", start + `> {"id":9,"method":"session/close","params":{"sessionId":"s"}}
			< {"id":9,"result":{}}` + ends, []string{"line 9: session/close: answered before the prompt of line 6"}},
		{"tool calls of a running turn while another prompt is refused", start + call +
			`> {"id":9,"method":"session/prompt","params":{"sessionId":"s"}}
			< {"id":9,"error":{"code":-32603,"message":"busy"}}` + done + ends, nil},

		{"not offered", start + ask("fs/write_text_file", `"path":"/w/a"`) + ends, []string{"line 8: fs/write_text_file: the client has not offered it"}},
		{"elicitation", start + ask("elicitation/create", `"mode":"form"`) + ends, []string{"line 8: elicitation/create: the client has not offered it"}},
		{"relative path", start + ask("fs/read_text_file", `"path":"a","line":0`) + ends,
			[]string{`line 8: fs/read_text_file: path "a" is not absolute`, "line 8: fs/read_text_file: lines count from 1"}},
		{"id in use", start + ask("fs/read_text_file", `"path":"/a"`) + ask("fs/read_text_file", `"path":"C:\\a"`) + ends,
			[]string{`line 9: fs/read_text_file: id "q" is in use by a request without an answer`}},
		{"question outside a turn", start + call + done + ends + ask("session/request_permission", `"toolCall":{"toolCallId":"t"},"options":[]`), []string{
			"line 11: session/request_permission: no option is to allow",
			"line 11: session/request_permission: no option is to reject",
			"line 11: session/request_permission: asked outside a turn"}},
		{"question after the cancel", start + call + `> {"method":"session/cancel","params":{"sessionId":"s"}}` + "\n" +
			ask("session/request_permission", `"toolCall":{"toolCallId":"u"},"options":[{"optionId":"x","kind":"allow_once"},{"optionId":"x","kind":"reject_once"}]`) +
			done + `< {"id":3,"result":{"stopReason":"cancelled"}}`, []string{
			"line 10: session/request_permission: option x occurs twice",
			"line 10: session/request_permission: asked after the cancel",
			`line 10: session/request_permission: tool call "u" has not been announced`}},
		{"terminals", strings.Replace(start, `"fs":{"readTextFile":true}`, `"terminal":true`, 1) +
			ask("terminal/output", `"terminalId":"z"`) + `> {"id":"q","result":{}}` + "\n" +
			ask("terminal/create", `"command":"x","cwd":"w"`) + `> {"id":"q","result":{"terminalId":"t1"}}` + "\n" +
			strings.Replace(ask("terminal/create", `"command":"x"`), `"q"`, `"q2"`, 1) + `> {"id":"q2","result":{"terminalId":"t2"}}` + "\n" +
			ask("terminal/release", `"terminalId":"t1"`) + `> {"id":"q","result":{}}` + "\n" +
			ask("terminal/kill", `"terminalId":"t1"`) + ends, []string{
			`line 8: terminal/output: terminal "z" was never created`,
			`line 10: terminal/create: path "w" is not absolute`,
			`line 16: terminal/kill: terminal "t1" has been released`,
			"line 18: terminal/create: terminal t2 of line 12 was never released"}},
		{"closed and opened again", start + `> {"id":9,"method":"session/close","params":{"sessionId":"s"}}
			> {"id":10,"method":"session/resume","params":{"sessionId":"s"}}
			> {"id":11,"method":"session/prompt","params":{"sessionId":"s"}}
			` + strings.ReplaceAll(ends, "end_turn", "cancelled") + `
			< {"id":9,"result":{}}
			< {"id":10,"result":{}}
			< {"id":11,"result":{"stopReason":"end_turn"}}
			> {"id":12,"method":"session/delete","params":{"sessionId":"s"}}
			< {"id":12,"result":{}}
			> {"id":13,"method":"session/new","params":{}}
			< {"id":13,"result":{"sessionId":"s"}}`, nil},
		{"told of a session that is closed", start + ends + `
			> {"id":9,"method":"session/close","params":{"sessionId":"s"}}
			< {"id":9,"result":{}}
			< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":1}}}`,
			[]string{`line 11: session/update usage_update: session "s" is not known to the client`}},
		{"replay", start + ends + `> {"id":9,"method":"session/load","params":{"sessionId":"old"}}` + "\n" +
			strings.ReplaceAll(call+done, `"s"`, `"old"`) + `< {"id":9,"result":{}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, check(t, tt.text, nil)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSchema feeds messages that the rules of state do not look at.
func TestSchema(t *testing.T) {
	s := schemas(t)
	const update = `< {"method":"session/update","params":{"sessionId":"s","update":`
	tests := []struct {
		name, line, want string // want is in one of the findings; "" is no finding
	}{
		{"misspelt field", update + `{"sessionUpdate":"agent_message_chunk","mesageId":"x","content":{"type":"text","text":""}}}}`, "mesageId"},
		{"misspelt field further in", update + `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"","txt":1}}}}`, "txt"},
		{"our data", update + `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"","_meta":{"x":{"y":1}}},"_meta":{"x":1}}}}`, ""},
		{"unknown update", update + `{"sessionUpdate":"weather"}}}`, "sessionUpdate"},
		{"wrong type", update + `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":5}}}}`, "text"},
		{"missing field", update + `{"sessionUpdate":"agent_message_chunk"}}}`, "content"},
		{"free input", update + `{"sessionUpdate":"tool_call","toolCallId":"x","title":"T","status":"failed","rawInput":{"a":{"b":[1]}}}}}`, ""},
		{"number out of range", update + `{"sessionUpdate":"usage_update","used":-1,"size":10}}}`, "used"},
		{"unknown method", `< {"method":"session/weather","params":{}}`, "no such notification"},
		{"method of the other side", `< {"id":"q","method":"session/new","params":{}}`, "no such request"},
		{"extension", `< {"method":"_lorimer.dev/x","params":{"a":1}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := check(t, start+tt.line+ends, s)
			if tt.want == "" && got != nil {
				t.Errorf("findings = %q, want none", got)
			}
			if tt.want != "" && !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("findings = %q, want one about %q", got, tt.want)
			}
		})
	}
	if got := check(t, start+`< {"id":3,"result":{"stopReason":"bored"}}`, s); len(got) == 0 || !strings.Contains(got[0], "stopReason") {
		t.Errorf("findings = %q, want one about the stop reason", got)
	}
}

// TestSchemasAreShared judges conversations at the same time, which the race
// detector watches.
func TestSchemasAreShared(t *testing.T) {
	s := schemas(t)
	lines := record(t, good)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for _, f := range wirecheck.Check(lines, s) {
				t.Error(f)
			}
		})
	}
	all.Wait()
}

func TestLoadFaults(t *testing.T) {
	dir := t.TempDir()
	if _, err := wirecheck.Load(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want that the file is missing", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "v1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "[]", `{"$defs":{}}`} {
		if err := os.WriteFile(filepath.Join(dir, "v1", "schema.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := wirecheck.Load(dir); err == nil || !strings.Contains(err.Error(), "schema.json") {
			t.Errorf("schema %q: error = %v, want one that names the file", text, err)
		}
	}
}
