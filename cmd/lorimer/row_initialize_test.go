//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 176 (R-ACP-10, R-ACP-12): initialize answers with a constant, whatever the
// client asks for and whatever is broken around it.
func TestRow176Initialize(t *testing.T) {
	t.Parallel()
	want := object{
		"protocolVersion": 1.0,
		"agentInfo":       object{"name": "lorimer", "title": "Lorimer", "version": "devel"},
		"authMethods": []any{object{"id": "none-needed", "name": "No sign-in needed",
			"description": "Keys of model providers are read from the environment or the configuration."}},
	}
	capabilities := object{
		"promptCapabilities": object{"image": true, "embeddedContext": true},
		"mcpCapabilities":    object{"http": true, "sse": true},
		"sessionCapabilities": object{
			"additionalDirectories": object{}, "archive": object{}, "close": object{}, "delete": object{}, "fork": object{},
			"list": object{}, "resume": object{}, "status": object{}, "title": object{},
		},
	}
	for _, version := range []int{0, 1, 2, 99} {
		for _, config := range []string{"", "model = [broken"} {
			t.Run(fmt.Sprintf("version %d with configuration %q", version, config), func(t *testing.T) {
				t.Parallel()
				e := newEditor(t)
				e.file(configFile, config)
				e.acp()
				var got object
				e.call("initialize", object{"protocolVersion": version}, &got)
				agent, _ := got["agentCapabilities"].(object)
				delete(got, "agentCapabilities")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				for key, v := range capabilities {
					got, _ := agent[key].(object)
					maps.DeleteFunc(got, func(_ string, v any) bool { return v == false }) // as good as absent
					if diff := cmp.Diff(v, any(got)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", key, diff)
					}
				}
				if agent["loadSession"] != true {
					t.Error("loadSession is not promised")
				}
				f := e.wait(e.send("initialize", object{"protocolVersion": 1}))
				if f.Error == nil || f.Error.Code != -32600 {
					t.Errorf("a second initialize: %s, want -32600", f.Raw)
				}
				e.leave()
				if _, err := os.Stat(filepath.Join(e.home, ".local")); !os.IsNotExist(err) {
					t.Errorf("initialize made a state directory (%v)", err)
				}
			})
		}
	}
	for name, params := range map[string]any{"no version": object{}, "version as text": object{"protocolVersion": "1"}, "nothing": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, always)
			f := e.wait(e.send("initialize", params))
			if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "protocolVersion") {
				t.Errorf("answer: %s, want -32602 that names protocolVersion", f.Raw)
			}
			e.open(nil)
		})
	}
}

// Row 176: what is promised works, and what is not promised is not there.
func TestRow176PromisesHold(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	s := e.open(nil)
	ask := func(t *testing.T, blocks ...any) string {
		t.Helper()
		e.call("session/prompt", object{"sessionId": s, "prompt": blocks}, nil)
		msgs := e.lastRequest(s).Messages
		return msgs[len(msgs)-1].text() + strings.Repeat("<image>", slices.IndexFunc(msgs[len(msgs)-1].Parts, isImage)+1)
	}
	t.Run("image", func(t *testing.T) {
		if got := ask(t, object{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}); !strings.Contains(got, "<image>") {
			t.Errorf("the model was sent %q, want the picture", got)
		}
	})
	t.Run("C007 embedded text alone", func(t *testing.T) {
		got := ask(t, object{"type": "resource", "resource": object{"uri": "file:///w/a.go", "text": "// not /a command"}})
		if !strings.Contains(got, "// not /a command") || !strings.Contains(got, "a.go") {
			t.Errorf("the model was sent %q, want the text and its name", got)
		}
	})
	t.Run("C007 embedded file", func(t *testing.T) {
		got := ask(t, object{"type": "resource", "resource": object{"uri": "file:///w/a.pdf", "mimeType": "application/pdf", "blob": "JVBERi0="}})
		if !strings.Contains(got, "a.pdf") || strings.Contains(got, "JVBERi0=") {
			t.Errorf("the model was sent %q, want a line about the file", got)
		}
	})
	t.Run("links of any kind", func(t *testing.T) {
		for _, uri := range []string{"file:///w/with%20space.txt", "zed:///agent/thread/1", "https://example.com/a?b", "relative", "%%%"} {
			if got := ask(t, object{"type": "resource_link", "uri": uri, "name": "the link"}); !strings.Contains(got, "the link") {
				t.Errorf("%s: the model was sent %q, want the link's name", uri, got)
			}
		}
	})
	t.Run("audio", func(t *testing.T) {
		f := e.wait(e.send("session/prompt", object{"sessionId": s, "prompt": []any{object{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}}}))
		if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "audio") {
			t.Errorf("prompt: %s, want -32602 that names it", f.Raw)
		}
	})
	t.Run("servers", func(t *testing.T) {
		var other struct{ SessionID string }
		e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{
			object{"name": "local", "command": "/bin/false", "args": []any{}},
			object{"name": "docs", "type": "http", "url": "http://127.0.0.1:1/mcp", "headers": []any{}},
			object{"name": "old", "type": "sse", "url": "http://127.0.0.1:1/sse"},
		}}, &other)
		for range 2 {
			e.prompt(other.SessionID, "hello")
		}
		for _, name := range []string{"local", "docs", "old"} {
			told := 0
			for _, f := range e.heard() {
				if f.Method == "session/update" && strings.Contains(f.Raw, "The MCP server "+name+" ") {
					told++
				}
			}
			if told != 1 {
				t.Errorf("told %d times of the server %s, which cannot be reached, want once", told, name)
			}
		}
	})
	t.Run("close", func(t *testing.T) {
		other := e.session()
		e.call("session/close", object{"sessionId": other}, nil)
		if f := e.wait(e.send("session/prompt", say(other, "hello"))); code(f) != "SESSION_NOT_FOUND" {
			t.Errorf("prompt after close: %s, want SESSION_NOT_FOUND", f.Raw)
		}
	})
	t.Run("the library", func(t *testing.T) {
		other := e.session()
		e.prompt(other, "hello")
		params := object{"sessionId": other, "cwd": e.cwd, "mcpServers": []any{}, "title": "A name"}
		for _, method := range []string{"session/fork", "session/load", "session/resume", "session/list", "session/status",
			"session/set_title", "session/archive", "session/unarchive", "session/delete"} {
			e.call(method, params, nil)
		}
	})
	t.Run("not promised", func(t *testing.T) {
		for _, method := range []string{"logout", "auth/status", "session/set_model"} {
			if f := e.wait(e.send(method, object{"sessionId": s, "cwd": e.cwd})); f.Error == nil || f.Error.Code != -32601 {
				t.Errorf("%s: %s, want -32601", method, f.Raw)
			}
		}
	})
	t.Run("authenticate", func(t *testing.T) { e.call("authenticate", object{"methodId": "none-needed"}, nil) })
}

func isImage(p partLine) bool { return p.Type == "image" }

// Row 176: further directories are part of the workspace, others are not.
func TestRow176AdditionalDirectories(t *testing.T) {
	t.Parallel()
	more := t.TempDir()
	file := filepath.Join(more, "note.txt")
	if err := os.WriteFile(file, []byte("kept elsewhere"), 0o600); err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(object{"path": file})
	if err != nil {
		t.Fatal(err)
	}
	e := edit(t, `{"match": {"contains": "look"}, "tools": [{"name": "read", "args": `+string(args)+`}], "repeat": true}`+"\n"+always)
	e.open(nil)
	for _, tt := range []struct {
		dirs []any
		want bool
	}{{nil, false}, {[]any{more}, true}} {
		var s struct{ SessionID string }
		e.call("session/new", object{"cwd": e.cwd, "additionalDirectories": tt.dirs}, &s)
		e.prompt(s.SessionID, "look")
		msgs := e.lastRequest(s.SessionID).Messages
		if got := msgs[len(msgs)-1].text(); strings.Contains(got, "kept elsewhere") != tt.want {
			t.Errorf("with directories %v the tool gave %q, want the file: %v", tt.dirs, got, tt.want)
		}
	}
}

// Row 176 (R-ACP-11) and C020: of the client only that is called which it
// offers; everything else is done without it.
func TestRow176ClientCapabilities(t *testing.T) {
	t.Parallel()
	const work = `{"match": {"contains": "work"}, "tools": [{"name": "read", "args": {"path": "a.txt"}},` +
		`{"name": "write", "args": {"path": "b.txt", "content": "new"}}, {"name": "bash", "args": {"command": "cat b.txt"}}]}` + "\n" + always
	tests := []struct {
		name  string
		caps  any
		calls []string
		reads string
	}{
		{"nothing", object{}, nil, "saved"},
		{"null", nil, nil, "saved"},
		{"reading", object{"fs": object{"readTextFile": true}}, []string{"fs/read_text_file"}, "not saved yet"},
		{"reading without terminal", object{"fs": object{"readTextFile": true, "writeTextFile": false}, "terminal": false}, []string{"fs/read_text_file"}, "not saved yet"},
		{"writing", object{"fs": object{"writeTextFile": true}}, []string{"fs/write_text_file"}, "saved"},
		{"a terminal", object{"terminal": true}, nil, "saved"},
		{"everything", object{"fs": object{"readTextFile": true, "writeTextFile": true}, "terminal": true, "elicitation": object{"form": object{}}},
			[]string{"fs/read_text_file", "fs/write_text_file"}, "not saved yet"},
	}
	for _, tt := range tests {
		t.Run("C020 "+tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, work, "--mode", "auto")
			if err := os.WriteFile(filepath.Join(e.cwd, "a.txt"), []byte("saved"), 0o600); err != nil {
				t.Fatal(err)
			}
			e.on("fs/read_text_file", func(params json.RawMessage) (any, *rpcError) {
				if strings.Contains(string(params), "a.txt") {
					return object{"content": "not saved yet"}, nil
				}
				return nil, &rpcError{Code: -32002, Message: "no such file"}
			})
			e.on("fs/write_text_file", func(params json.RawMessage) (any, *rpcError) {
				var p struct{ Path, Content string }
				if err := json.Unmarshal(params, &p); err != nil {
					return nil, &rpcError{Code: -32602, Message: err.Error()}
				}
				if err := os.WriteFile(p.Path, []byte(p.Content), 0o600); err != nil {
					return nil, &rpcError{Code: -32603, Message: err.Error()}
				}
				return object{}, nil
			})
			e.call("initialize", object{"protocolVersion": 1, "clientCapabilities": tt.caps}, nil)
			s := e.session()
			if stop := e.prompt(s, "work"); stop != "end_turn" {
				t.Fatalf("stop reason = %s, want end_turn", stop)
			}
			var calls []string
			for _, f := range e.heard() {
				if f.Method != "" && f.ID != nil {
					calls = append(calls, f.Method)
				}
			}
			slices.Sort(calls)
			if calls = slices.Compact(calls); !slices.Equal(calls, tt.calls) {
				t.Errorf("called of the client: %q, want %q", calls, tt.calls)
			}
			var results []string
			for _, m := range e.lastRequest(s).Messages {
				for _, p := range m.Parts {
					if p.Type == "tool_result" {
						results = append(results, p.Text)
					}
				}
			}
			if len(results) != 3 || !strings.Contains(results[0], tt.reads) || !strings.Contains(results[2], "new") {
				t.Errorf("results = %q, want %q to be read and new to be written", results, tt.reads)
			}
		})
	}
}

// Row 176 (R-ACP-12): a sign-in is asked for only where the user chose the model
// that has no key.
func TestRow176MissingKey(t *testing.T) {
	t.Parallel()
	t.Run("chosen", func(t *testing.T) {
		t.Parallel()
		e := newEditor(t)
		e.acp("--model", "openai")
		s := e.open(nil)
		f := e.wait(e.send("session/prompt", say(s, "hello")))
		if code(f) != "AUTH_REQUIRED" || f.Error.Code != -32000 || !strings.Contains(string(f.Error.Data), "OPENAI_API_KEY") {
			t.Errorf("prompt: %s, want AUTH_REQUIRED that names OPENAI_API_KEY", f.Raw)
		}
		e.set(s, "model", "offline")
		if stop := e.prompt(s, "think"); stop != "end_turn" {
			t.Errorf("stop reason with another model = %s, want end_turn", stop)
		}
	})
	t.Run("found", func(t *testing.T) {
		t.Parallel()
		m := modeltest.New(t, modeltest.Reply{Status: 401, Error: "no", Repeat: -1})
		e := newEditor(t)
		e.env = []string{"OPENAI_API_KEY=sk-stale-0123456789", "OPENAI_BASE_URL=" + m.OpenAI()}
		e.acp()
		s := e.open(nil)
		if f := e.wait(e.send("session/prompt", say(s, "hello"))); code(f) != "PROVIDER_ERROR" || f.Error.Code != -32603 {
			t.Errorf("prompt with a model that nobody chose: %s, want PROVIDER_ERROR", f.Raw)
		}
		e.set(s, "model", "openai/gpt-6-sol")
		if f := e.wait(e.send("session/prompt", say(s, "hello"))); code(f) != "AUTH_REQUIRED" || f.Error.Code != -32000 {
			t.Errorf("prompt with the same model, chosen: %s, want AUTH_REQUIRED", f.Raw)
		}
	})
}
