//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// nulls waits until the agent has answered n times with the id null, and returns
// the codes in order.
func (e *editor) nulls(n int) (codes []int) {
	e.t.Helper()
	e.until(fmt.Sprintf("answer %d with id null", n), func(f frameIn) bool {
		if f.Method == "" && f.Error != nil && (f.ID == nil || string(f.ID) == "null") {
			codes = append(codes, f.Error.Code)
		}
		return len(codes) == n
	})
	return codes
}

// Row 175 (R-ACP-01, R-ACP-02): whatever comes in, the right code goes out, and
// then a prompt works. That only frames come out is checked of every frame by
// the editor itself.
func TestRow175MalformedLines(t *testing.T) {
	t.Parallel()
	const secret = "raw-text-of-a-frame"
	tests := []struct {
		name string
		line string
		want int
	}{
		{"no JSON", secret, -32700},
		{"half a frame", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"` + secret, -32700},
		{"two frames on a line", `{"jsonrpc":"2.0","id":7,"method":"x"}{"jsonrpc":"2.0","id":8,"method":"x"}`, -32700},
		{"NUL", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"" + secret + "\x00\"}", -32700},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"" + secret + "\xff\"}", -32700},
		{"a number", `42`, -32600},
		{"a batch", `[{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}]`, -32600},
		{"neither id nor method", `{"jsonrpc":"2.0","params":{"x":"` + secret + `"}}`, -32600},
		{"an id that is none", `{"jsonrpc":"2.0","id":{"a":1},"method":"` + secret + `"}`, -32600},
	}
	e := edit(t, always).breaks()
	var want []int
	for _, tt := range tests {
		e.raw(tt.line + "\n")
		want = append(want, tt.want)
	}
	for i, got := range e.nulls(len(tests)) {
		if got != want[i] {
			t.Errorf("%s: code %d, want %d", tests[i].name, got, want[i])
		}
	}
	for name, tt := range map[string]struct {
		line string
		id   int
		want int
	}{
		"no version":       {`{"id":901,"method":"initialize","params":{}}`, 901, -32600},
		"method a number":  {`{"jsonrpc":"2.0","id":902,"method":5}`, 902, -32600},
		"params a string":  {`{"jsonrpc":"2.0","id":903,"method":"initialize","params":"x"}`, 903, -32602},
		"before the start": {`{"jsonrpc":"2.0","id":904,"method":"session/new","params":{"cwd":"/"}}`, 904, -32600},
	} {
		e.raw(tt.line + "\n")
		if f := e.wait(tt.id); f.Error == nil || f.Error.Code != tt.want {
			t.Errorf("%s: %s, want code %d", name, f.Raw, tt.want)
		}
	}

	s := e.open(nil)
	for method, want := range map[string]int{
		"no/such_method": -32601, "_lorimer.dev/unknown": -32601, "session/no_such": -32601, "session/load": -32602,
	} {
		if f := e.wait(e.send(method, object{"sessionId": s, "x": secret})); f.Error == nil || f.Error.Code != want {
			t.Errorf("%s: %s, want code %d", method, f.Raw, want)
		}
	}
	if stop := e.prompt(s, "and now?"); stop != "end_turn" || e.text(s) != "fine" {
		t.Errorf("prompt after all that: %s with %q, want end_turn with fine", stop, e.text(s))
	}
	if code := e.leave(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if strings.Contains(e.stderr.String(), secret) {
		t.Errorf("the log has what a frame held:\n%s", e.stderr.String())
	}
}

// Row 175: bad parameters are named.
func TestRow175BadParameters(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	s := e.open(nil)
	file := e.file("plain", "a file")
	text := []any{object{"type": "text", "text": "hi"}}
	tests := []struct {
		method string
		params object
		field  string
	}{
		{"session/new", object{}, "cwd"},
		{"session/new", object{"cwd": "relative/path"}, "cwd"},
		{"session/new", object{"cwd": filepath.Join(e.home, "missing")}, "cwd"},
		{"session/new", object{"cwd": file}, "cwd"},
		{"session/new", object{"cwd": 5}, "cwd"},
		{"session/new", object{"cwd": e.cwd, "mcpServers": "x"}, "mcpServers"},
		{"session/new", object{"cwd": e.cwd, "mcpServers": []any{object{"name": "x", "type": "carrier-pigeon"}}}, "mcpServers[0].type"},
		{"session/new", object{"cwd": e.cwd, "additionalDirectories": []any{"x"}}, "additionalDirectories[0]"},
		{"session/prompt", object{"prompt": text}, "sessionId"},
		{"session/prompt", object{"sessionId": s}, "prompt"},
		{"session/prompt", object{"sessionId": s, "prompt": []any{}}, "prompt"},
		{"session/prompt", object{"sessionId": s, "prompt": []any{object{"type": "text", "text": " \n"}}}, "prompt"},
		{"session/prompt", object{"sessionId": s, "prompt": []any{text[0], object{"type": "text"}}}, "prompt[1].text"},
		{"session/prompt", object{"sessionId": s, "prompt": []any{"hi"}}, "prompt[0]"},
		{"session/set_mode", object{"sessionId": s}, "modeId"},
		{"session/set_config_option", object{"sessionId": s, "configId": "model"}, "value"},
		{"authenticate", object{"methodId": "magic"}, "methodId"},
	}
	for _, tt := range tests {
		f := e.wait(e.send(tt.method, tt.params))
		if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, tt.field) {
			t.Errorf("%s %v: %s, want -32602 that names %s", tt.method, tt.params, f.Raw, tt.field)
		}
	}
	if stop := e.prompt(s, "and now?"); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
}

// Row 175 and C026: frames of any size up to 64 MiB, in any pieces.
func TestRow175Frames(t *testing.T) {
	t.Parallel()
	e := edit(t, always).breaks()
	s := e.open(nil)
	t.Run("C026 byte by byte, blank lines and CRLF", func(t *testing.T) {
		text, id := e.line("session/prompt", say(s, "slowly"))
		for _, b := range []byte("\n\r\n  \n" + strings.TrimSuffix(text, "\n") + "\r\n") {
			e.raw(string(b))
		}
		if f := e.wait(id); f.Error != nil {
			t.Errorf("prompt: %s", f.Raw)
		}
	})
	t.Run("C026 two frames in one write", func(t *testing.T) {
		a, first := e.line("session/prompt", say(s, "one"))
		b, second := e.line("session/prompt", say(s, "two"))
		e.raw(a + b)
		if f, g := e.wait(first), e.wait(second); f.Error != nil || g.Error != nil || f.N > g.N {
			t.Errorf("prompts: %s, then %s", f.Raw, g.Raw)
		}
	})
	t.Run("C026 a picture of 20 MB", func(t *testing.T) {
		size := 20 << 20
		if underRace {
			size /= 10 // the race detector makes half a minute of it
		}
		f := e.wait(e.send("session/prompt", object{"sessionId": s, "prompt": []any{
			object{"type": "image", "mimeType": "image/png", "data": strings.Repeat("iVBORw0K", size/8)},
			object{"type": "text", "text": "what is it?"},
		}}))
		if f.Error != nil {
			t.Errorf("prompt: %.200s", f.Raw)
		}
	})
	t.Run("longer than 64 MiB", func(t *testing.T) {
		text, id := e.line("session/prompt", say(s, strings.Repeat("too long ", 64<<20/9+1)))
		e.raw(text)
		if f := e.wait(id); f.Error == nil || f.Error.Code != -32600 {
			t.Errorf("prompt: %.200s, want -32600", f.Raw)
		}
	})
	if stop := e.prompt(s, "and now?"); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
}

// Row 175 (R-CMD-01): without arguments the program speaks the protocol too, and
// what a command prints stays out of the stream.
func TestRow175WithoutArguments(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	script := e.file("script.jsonl", `{"tools": [{"name": "bash", "args": {"command": "echo not-a-frame; echo not-a-frame >&2; echo not-a-frame >/dev/stderr"}}]}
{"text": "done"}`)
	e.env = []string{"LORIMER_MODEL=script:" + script, "LORIMER_MODE=auto", "LORIMER_TRACE=" + filepath.Join(e.home, "trace")}
	e.start(nil)
	s := e.open(nil)
	if stop := e.prompt(s, "go"); stop != "end_turn" || e.text(s) != "done" {
		t.Errorf("prompt: %s with %q, want end_turn with done", stop, e.text(s))
	}
	msgs := e.lastRequest(s).Messages
	if got := msgs[len(msgs)-1].text(); strings.Count(got, "not-a-frame") != 3 {
		t.Errorf("the command gave %q, want its three lines", got)
	}
	e.leave()
	if strings.Contains(e.stderr.String(), "not-a-frame") {
		t.Errorf("the command wrote into the agent's standard error:\n%s", e.stderr.String())
	}
}

// Row 191 (R-ACP-03, R-ACP-28): what is unknown is ignored where it does no
// harm, and named where it would be lost.
func TestRow191Unknown(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	t.Run("C021 unknown and missing members", func(t *testing.T) {
		e.notify("$/setTrace", object{"value": "off"})
		e.call("initialize", object{"protocolVersion": 1, "clientCapabilities": nil, "clientInfo": nil, "later": object{"a": []any{1}},
			"_meta": object{"x": 1}}, nil)
	})
	var s struct{ SessionID string }
	t.Run("C023 no servers", func(t *testing.T) {
		for _, params := range []object{
			{"cwd": e.cwd},
			{"cwd": e.cwd, "mcpServers": nil, "additionalDirectories": nil, "_meta": nil, "later": true},
			{"cwd": e.cwd, "mcpServers": []any{}},
		} {
			e.call("session/new", params, &s)
		}
	})
	t.Run("notifications", func(t *testing.T) {
		before := len(e.heard())
		e.notify("no/such", object{"sessionId": s.SessionID})
		e.notify("_lorimer.dev/nothing", nil)
		e.notify("$/cancel_request", object{"requestId": 4711})
		e.notify("session/cancel", object{"sessionId": "nobody"})
		params := say(s.SessionID, "hello")
		params["later"] = "x"
		params["prompt"] = append(params["prompt"].([]any), object{"type": "text", "text": "more", "annotations": object{}, "later": 1})
		e.call("session/prompt", params, nil)
		for _, f := range e.heard()[before:] {
			if f.Error != nil {
				t.Errorf("an answer to what is ignored: %s", f.Raw)
			}
		}
	})
	for _, kind := range []string{"hologram", "Text", "audio", ""} {
		t.Run("block "+kind, func(t *testing.T) {
			params := say(s.SessionID, "hello")
			params["prompt"] = append(params["prompt"].([]any), object{"type": kind, "text": "x", "data": "AAAA", "mimeType": "audio/wav"})
			f := e.wait(e.send("session/prompt", params))
			if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "prompt[1].type") ||
				!strings.Contains(f.Error.Message, fmt.Sprintf("%q", kind)) {
				t.Errorf("prompt: %s, want -32602 that names the kind %q", f.Raw, kind)
			}
		})
	}
	if n := len(e.requests(s.SessionID)); n != 1 {
		t.Errorf("%d requests, want 1: a prompt that is refused asks no model", n)
	}
}

// Row 192 (R-ACP-04), the codes that the program can give: those of quotas,
// gates and billing have nothing yet to come from, nor has a tool of the user's
// own whose crash other sessions survive.
func TestRow192ErrorCodes(t *testing.T) {
	t.Parallel()
	const key = "sk-secret-0123456789abcdef"
	m := modeltest.New(t,
		modeltest.Reply{Match: "hello", Text: []string{"fine"}, Repeat: -1},
		modeltest.Reply{Match: "refuse the key", Status: 401, Code: "invalid_api_key", Error: "Incorrect API key provided: " + key, Repeat: -1},
		modeltest.Reply{Match: "no such model", Status: 404, Code: "model_not_found", Error: "no model for " + key, Repeat: -1},
		modeltest.Reply{Match: "no money", Status: 402, Error: "pay first, " + key, Repeat: -1},
		modeltest.Reply{Match: "filtered", Status: 400, Code: "content_filter", Error: "not this", Repeat: -1},
		modeltest.Reply{Match: "bad request", Status: 400, Error: "you sent Bearer " + key, Repeat: -1},
	)
	tests := []struct {
		name   string
		config string
		flags  []string
		prompt object
		number int
		code   string
	}{
		{"session that is not there", "", nil, say("nobody", "hello"), -32002, "SESSION_NOT_FOUND"},
		{"unreadable picture", "", nil, object{"prompt": []any{object{"type": "image", "mimeType": "image/png", "data": "%%"}}}, -32602, "INVALID_ATTACHMENT"},
		{"key refused", "", []string{"--model", "openai/m"}, say("", "refuse the key"), -32000, "AUTH_REQUIRED"},
		{"no such model", "", nil, say("", "no such model"), -32603, "MODEL_UNAVAILABLE"},
		{"C018 no money", "", nil, say("", "no money"), -32603, "PROVIDER_ERROR"},
		{"C018 content refused", "", nil, say("", "filtered"), -32603, "PROVIDER_ERROR"},
		{"request refused", "", nil, say("", "bad request"), -32603, "PROVIDER_ERROR"},
		{"tool order without the tool", "tool_order = [\"no_such_tool\", \"<unlisted-tools>\"]\n", nil, say("", "hello"), -32603, "PROMPT_ASSEMBLY"},
		{"no such provider", "", []string{"--model", "nowhere/m"}, say("", "hello"), -32603, "MODEL_UNAVAILABLE"},
	}
	for _, client := range []string{"someone", "zed"} {
		for _, tt := range tests {
			t.Run(client+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				e := newEditor(t)
				e.file(configFile, tt.config)
				e.env = []string{"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + m.OpenAI()}
				e.acp(tt.flags...)
				e.call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": client, "version": "1"}}, nil)
				s := e.session()
				params := object{"sessionId": s, "prompt": tt.prompt["prompt"]}
				if id := tt.prompt["sessionId"]; id == "nobody" {
					params["sessionId"] = id
				}
				f := e.wait(e.send("session/prompt", params))
				checkFailure(t, f, tt.number, tt.code, client == "zed")
				if tt.code != "PROMPT_ASSEMBLY" && tt.name != "no such provider" {
					if stop := e.prompt(s, "hello"); stop != "end_turn" {
						t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
					}
				}
				e.leave()
				for _, f := range e.heard() {
					if strings.Contains(f.Raw, key) {
						t.Errorf("a frame has the key: %s", f.Raw)
					}
				}
				if strings.Contains(e.stderr.String(), key) {
					t.Errorf("the log has the key:\n%s", e.stderr.String())
				}
			})
		}
	}
}

// checkFailure checks the shape of an answer that failed.
func checkFailure(t *testing.T, f frameIn, number int, name string, zed bool) {
	t.Helper()
	if f.Error == nil || f.Error.Code != number {
		t.Fatalf("answer: %s, want error %d", f.Raw, number)
	}
	if m := f.Error.Message; !strings.HasSuffix(m, ".") || strings.Contains(m, "goroutine") {
		t.Errorf("message = %q, want whole sentences", m)
	}
	var data object
	if err := json.Unmarshal(f.Error.Data, &data); err != nil {
		t.Fatalf("data of %s: %v", f.Raw, err)
	}
	details, _ := data["details"].(string)
	if zed {
		if len(data) != 1 || !strings.HasSuffix(details, "["+name+"]") {
			t.Errorf("data = %v, want details alone with [%s] at the end", data, name)
		}
		return
	}
	if data["code"] != name || details == "" {
		t.Errorf("data = %v, want the code %s and details", data, name)
	}
}

// Row 192: what is broken in the configuration is told by the session, not by
// the connection.
func TestRow192BrokenConfiguration(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(configFile, "model = \"offline\nmode =")
	e.acp()
	e.call("initialize", object{"protocolVersion": 1}, nil)
	f := e.wait(e.send("session/new", object{"cwd": e.cwd}))
	checkFailure(t, f, -32603, "CONFIG_INVALID", false)
	if !strings.Contains(f.Error.Message, "config.toml:1") {
		t.Errorf("message = %q, want the file and the line", f.Error.Message)
	}
	e.file(configFile, "model = \"offline\"\n")
	if stop := e.prompt(e.session(), "hello"); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn after the file was mended", stop)
	}
}

// Row 192 (R-ACP-06): a failure in one session leaves the other alone.
func TestRow192OtherSessionsGoOn(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "break"}, "error": {"status": 400, "message": "no"}, "repeat": true}
{"match": {"contains": "start"}, "tools": [{"name": "bash", "args": {"command": "echo > started; read x < pipe; echo $x"}}]}
{"match": {"contains": "released"}, "text": "went on"}`, "--mode", "auto")
	broken := e.open(nil)
	other := e.session()
	started, pipe := e.fifo("started"), e.fifo("pipe")
	id := e.send("session/prompt", say(other, "start"))
	started.get()
	for range 3 {
		if f := e.wait(e.send("session/prompt", say(broken, "break"))); code(f) != "PROVIDER_ERROR" {
			t.Errorf("prompt: %s, want PROVIDER_ERROR", f.Raw)
		}
	}
	pipe.put("released")
	if f := e.wait(id); f.Error != nil || e.text(other) != "went on" {
		t.Errorf("other session: %s with %q, want its answer", f.Raw, e.text(other))
	}
}
