//go:build unix

package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// origins returns what has been told of the owners of calls of a session in the frames
// from number first on, by the ids of the calls, with "" of those of no server.
func (e *editor) origins(session string, first int) map[string]string {
	e.t.Helper()
	all := map[string]string{}
	for _, f := range e.heard()[first:] {
		var u update
		if f.Method != "session/update" || json.Unmarshal(f.Params, &u) != nil || u.SessionID != session || u.Update.Kind != "tool_call" {
			continue
		}
		var meta struct {
			Ours struct {
				MCPTool json.RawMessage `json:"mcpTool"`
			} `json:"lorimer.dev"`
		}
		if err := json.Unmarshal(u.Update.Meta, &meta); len(u.Update.Meta) > 0 && err != nil {
			e.t.Fatal(err)
		}
		if _, twice := all[u.Update.ToolCallID]; twice {
			e.t.Errorf("call %s is announced twice", u.Update.ToolCallID)
		}
		all[u.Update.ToolCallID] = string(meta.Ours.MCPTool)
	}
	return all
}

// owner is what is told of the owner of a tool of a server.
func (s *stub) owner(prefix, tool string) object {
	s.t.Helper()
	address := s.url
	if address == "" {
		address = strings.Join(append([]string{s.sent()["command"].(string)}, s.args...), " ")
	}
	return object{"server": s.name, "prefix": prefix, "address": address, "tool": tool}
}

// Row 86 (R-MCP-07, R-MCP-08): the client is told of each call which server has the
// tool, where that is reached, and what the tool is called there; and the same when the
// session is loaded without the server, or with another that has the name. A tool of
// ours has no such owner.
func TestRow086OwnerOfACall(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	all := []*stub{
		e.stub("A", e.having("b_c", "a.dotted")...),
		e.stub("A b", e.having("own")...),
		e.webStub("http", "Web", e.having("look")...),
	}
	names := []string{"a_b_c", "a_b_own", "web_look", "glob"}
	var script []string
	for _, n := range names {
		script = append(script, step(n, object{"pattern": "*"}))
	}
	model := "script:" + e.file("script.jsonl", steps(append(script, always)...))
	e.acp("--mode", "auto", "--model", model)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(all...)
	e.prompt(s, "go")
	live := e.origins(s, 0)
	var got []object
	for _, l := range slices.Sorted(maps.Values(live)) {
		var o object
		if l != "" {
			if err := json.Unmarshal([]byte(l), &o); err != nil {
				t.Fatal(err)
			}
		}
		got = append(got, o)
	}
	slices.SortFunc(got, func(a, b object) int { return strings.Compare(jsonText(t, a), jsonText(t, b)) })
	want := []object{all[0].owner("a", "b_c"), all[1].owner("a_b", "own"), all[2].owner("web", "look"), nil}
	slices.SortFunc(want, func(a, b object) int { return strings.Compare(jsonText(t, a), jsonText(t, b)) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("owners (-want +got):\n%s", diff)
	}
	for _, others := range [][]*stub{nil, {e.stub("a b", e.having("c", "own")...)}} { // which has a_b_c now
		e = e.restart("--model", model)
		e.reconnects("session/load", s, others...)
		if diff := cmp.Diff(live, e.origins(s, 0)); diff != "" {
			t.Errorf("owners after a load with %d servers (-before +after):\n%s", len(others), diff)
		}
		if len(others) > 0 {
			e.prompt(s, "hello")
			if diff := cmp.Diff([]string{"a_b_c", "a_b_own"}, addsTo(e.lastRequest(s).Tools)); diff != "" {
				t.Errorf("tools of servers (-want +got):\n%s", diff)
			}
		}
	}
}

// Row 86 (R-MCP-08): with a message only the owners of the tools are kept that it has
// called, and nothing that is secret of them.
func TestRow086KeptWithTheMessage(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	zoo := e.stub("Zoo", append(e.having("feed", "count", "open"), "-token", "argument-of-the-zoo")...)
	e.file(configFile, zoo.table("env = { ZOO_TOKEN = \"token-of-the-zoo\" }"))
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(step("zoo_feed", object{}), always)))
	s := e.open(nil)
	e.prompt(s, "go")
	e.leave()
	var out struct {
		Entries []struct {
			Kind string
			Body struct{ Meta string }
		}
	}
	lacks(t, "the protocol", e.transcript(), "token-of-the-zoo", "argument-of-the-zoo")
	text := e.prints("session", "export", s)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, m := range out.Entries {
		var meta struct{ MCPTools map[string]object }
		if m.Kind == "assistant" && m.Body.Meta != "" {
			if err := json.Unmarshal([]byte(m.Body.Meta), &meta); err != nil {
				t.Fatal(err)
			}
		}
		for name, o := range meta.MCPTools {
			kept = append(kept, m.Kind+" "+name+" of "+o["server"].(string)+" "+o["tool"].(string))
		}
	}
	if diff := cmp.Diff([]string{"assistant zoo_feed of Zoo feed"}, kept); diff != "" {
		t.Errorf("owners in the store (-want +got):\n%s", diff)
	}
	lacks(t, "the export", text, "token-of-the-zoo", "argument-of-the-zoo", "zoo_count")
	for file, content := range files(t, filepath.Join(e.home, ".local")) {
		lacks(t, file, content, "token-of-the-zoo", "argument-of-the-zoo")
	}
}
