//go:build unix

package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asksOf runs f with a server of each way that servers ask: by requests of their own over
// a pipe, in the stream of a request over HTTP, and by results that want an answer.
func asksOf(t *testing.T, f func(t *testing.T, e *editor, s *stub)) {
	for name, start := range map[string]func(e *editor) *stub{
		"a program":            func(e *editor) *stub { return e.stub("shop") },
		"an address":           func(e *editor) *stub { return e.webStub("http", "shop") },
		"events":               func(e *editor) *stub { return e.webStub("sse", "shop") },
		"a program, stateless": func(e *editor) *stub { return e.stub("shop", "-revision", "2026-07-28") },
		"an address, stateless and twice": func(e *editor) *stub {
			return e.webStub("http", "shop", "-revision", "2026-07-28", "-mode", "ask-twice")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			f(t, e, start(e))
		})
	}
}

// callIDs returns the calls of a session that the client was told of, by the tool that they
// are of.
func (e *editor) callIDs(session, name string) (ids []string) {
	e.t.Helper()
	for _, u := range e.updates(session) {
		if c := u.Update; c.Kind == "tool_call" && c.Name == name && !slices.Contains(ids, c.ToolCallID) {
			ids = append(ids, c.ToolCallID)
		}
	}
	return ids
}

// R-ACP-45: what a server asks the user is asked in the editor, as its form or its
// address, with its name and within its call; the answer is the server's, and what the
// editor cannot show is declined.
func TestMCPElicitation(t *testing.T) {
	t.Parallel()
	const form, both = `{"form": {}}`, `{"form": {}, "url": {}}`
	asksOf(t, func(t *testing.T, e *editor, shop *stub) {
		var answer any
		var fail *rpcError
		e.on("elicitation/create", func(json.RawMessage) (any, *rpcError) { return answer, fail })
		visit := object{"message": "Please pay.", "url": "https://pay.example/1?a=b"}
		lines := []string{}
		for range 6 {
			lines = append(lines, step("shop_ask", object{"message": "Who are you?"}), `{"text": "asked"}`)
		}
		e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", strings.Join(lines, "\n")))
		e.call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"elicitation": json.RawMessage(both)}}, nil)
		s := e.connects(shop)
		for i, tt := range []struct {
			answer any
			fail   *rpcError
			want   string
		}{
			{object{"action": "accept", "content": object{"name": "Ada"}}, nil, `{"action": "accept", "content": {"name": "Ada"}}`},
			{object{"action": "decline"}, nil, `{"action": "decline"}`},
			{object{"action": "cancel"}, nil, `{"action": "cancel"}`},
			{object{"action": "dance", "content": object{"name": "Ada"}}, nil, `{"action": "cancel"}`},
			{nil, &rpcError{Code: -32603, Message: "out of paper"}, `{"action": "cancel"}`},
			{nil, &rpcError{Code: -32601, Message: "no such method"}, `{"action": "decline"}`},
		} {
			answer, fail = tt.answer, tt.fail
			e.prompt(s, "ask")
			texts := e.resultTexts(s)
			if len(texts) != i+1 || !sameJSON(texts[i], tt.want) {
				t.Fatalf("the server was answered %q, want %s last", texts, tt.want)
			}
		}
		e.checkQuestion(s, `{"mode": "form", "message": "The MCP server shop asks: Who are you?",
			"requestedSchema": {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}}`)

		next := e.restartWith(t, steps(step("shop_ask", visit)), both)
		s = next.connects(shop)
		next.on("elicitation/create", func(json.RawMessage) (any, *rpcError) { return object{"action": "accept"}, nil })
		next.prompt(s, "pay")
		if texts := next.resultTexts(s); len(texts) != 1 || !sameJSON(texts[0], `{"action": "accept"}`) {
			t.Errorf("the server was answered %q", texts)
		}
		next.checkQuestion(s, `{"mode": "url", "message": "The MCP server shop asks: Please pay.", "url": "https://pay.example/1?a=b", "elicitationId": "visit-1"}`)

		// An editor that has forms alone is asked for nothing else, and tells so.
		next = next.restartWith(t, steps(step("shop_ask", visit)), form)
		s = next.connects(shop)
		next.prompt(s, "pay")
		if texts := next.resultTexts(s); len(texts) != 1 || strings.Contains(texts[0], "accept") {
			t.Errorf("the server was answered %q, want a refusal", texts)
		}
		if n := len(next.forms()); n != 0 {
			t.Errorf("the editor was asked %d times", n)
		}
	})
}

// restartWith ends the agent and starts the next one, in a home of its own, with a
// script and an editor of the abilities to ask.
func (e *editor) restartWith(t *testing.T, script, elicitation string) *editor {
	t.Helper()
	e.leave()
	next := e.another()
	next.acp("--mode", "auto", "--model", "script:"+next.file("script.jsonl", script))
	next.call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"elicitation": json.RawMessage(elicitation)}}, nil)
	return next
}

// checkQuestion checks that the first question of a server is what is wanted, for the
// first call of its tool.
func (e *editor) checkQuestion(session, want string) {
	e.t.Helper()
	f := e.form()
	var got, fields any
	if err := json.Unmarshal(f.Params, &got); err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &fields); err != nil {
		e.t.Fatal(err)
	}
	m := fields.(object)
	m["sessionId"], m["toolCallId"] = session, e.callIDs(session, "shop_ask")[0]
	if diff := cmp.Diff(any(m), got); diff != "" {
		e.t.Errorf("question (-want +got):\n%s", diff)
	}
}

// A server has the model answer, once the user has allowed that, each time and whatever
// the mode; the model gets no tools and nothing of the conversation. A refusal is no reason
// to begin with the server anew.
func TestMCPSampling(t *testing.T) {
	t.Parallel()
	asksOf(t, func(t *testing.T, e *editor, shop *stub) {
		ask := step("shop_sample", object{"prompt": "Name a fish."})
		answer := `{"match": {"kind": "sampling", "contains": "Name a fish."}, "text": "The walrus is none.", "usage": {"input": 1000, "output": 7}, "repeat": true}`
		e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", answer+"\n"+strings.Join([]string{ask, step("shop_sample", object{"prompt": "Name a bird."}), ask, ask, `{"text": "done"}`}, "\n")))
		e.call("initialize", object{"protocolVersion": 1}, nil)
		s := e.connects(shop)
		var asking []string // calls
		allowed := 0
		e.on("session/request_permission", func(p json.RawMessage) (any, *rpcError) {
			var q question
			if err := json.Unmarshal(p, &q); err != nil {
				t.Error(err)
			}
			if !slices.Contains(asking, q.ToolCall.ToolCallID) {
				asking = append(asking, q.ToolCall.ToolCallID)
			}
			kind := []string{"allow_once", "allow_once", "reject_once", "cancel", "too many"}[len(asking)-1]
			if kind == "allow_once" && len(asking) == 1 {
				allowed++
			}
			for _, o := range q.Options {
				if strings.Contains(o.Kind, "always") {
					t.Errorf("the option %s is offered", o.Kind)
				}
				if o.Kind == kind {
					return selected(o.OptionID), nil
				}
			}
			return object{"outcome": object{"outcome": "cancelled"}}, nil
		})
		e.prompt(s, "a secret of the conversation")
		texts := e.resultTexts(s)
		if len(texts) == 0 {
			t.Fatal("no result")
		}
		want := `{"role": "assistant", "content": {"type": "text", "text": "The walrus is none."}, "stopReason": "endTurn"}`
		var got, wanted any
		json.Unmarshal([]byte(texts[0]), &got)
		json.Unmarshal([]byte(want), &wanted)
		if !contains(got, wanted) {
			t.Errorf("the server was answered %q, want %s", texts[0], want)
		}
		for _, text := range texts[1:] {
			lacks(t, "a request that was refused, or that the model did not answer", text, "walrus", "reconnected")
		}
		type request struct {
			requestLine
			TaskKind string `json:"task_kind"`
		}
		asked := decoded(e, "model", func(r request) bool { return r.TaskKind == "sampling" && r.user()[0].text() == "Name a fish." })
		if len(asked) == 0 || len(asked) != allowed || len(asking) != 4 {
			t.Fatalf("%d requests of the model for servers, %d allowed; %d calls asked", len(asked), allowed, len(asking))
		}
		r := asked[0]
		if raw := jsonText(t, r); len(r.Tools) > 0 || strings.Contains(raw, "a secret of the conversation") || len(r.Messages) != 1 || r.System != "Be brief." {
			t.Errorf("the model was asked %s", raw)
		}
		if begun, asked := len(shop.messages("initialize")), len(shop.messages("server/discover")); begun > 1 || asked > 1 {
			t.Errorf("the server was begun with %d times, and asked what it speaks %d times", begun, asked)
		}
		for _, q := range e.questions() {
			holds(t, "the question", jsonText(t, q), "Let the MCP server shop ask the model", "Name a ")
			if id := q.ToolCall.ToolCallID; !slices.Contains(e.callIDs(s, "shop_sample"), id) {
				t.Errorf("the question is of the call %q", id)
			}
		}
	})
}

// A server is told the directories of the session, as they are.
func TestMCPRoots(t *testing.T) {
	t.Parallel()
	asksOf(t, func(t *testing.T, e *editor, shop *stub) {
		more := filepath.Join(t.TempDir(), "a b")
		if err := os.Mkdir(more, 0o700); err != nil {
			t.Fatal(err)
		}
		e.acp("--model", "script:"+e.file("script.jsonl", steps(step("shop_roots", object{}))))
		e.call("initialize", object{"protocolVersion": 1}, nil)
		var s struct{ SessionID string }
		e.call("session/new", object{"cwd": e.cwd, "additionalDirectories": []any{more}, "mcpServers": sent(shop)}, &s)
		e.prompt(s.SessionID, "go")
		var got struct{ Roots []struct{ URI string } }
		texts := e.resultTexts(s.SessionID)
		if len(texts) != 1 || json.Unmarshal([]byte(texts[0]), &got) != nil {
			t.Fatalf("results = %q", texts)
		}
		var roots []string
		for _, r := range got.Roots {
			u, err := url.Parse(r.URI)
			if err != nil || u.Scheme != "file" {
				t.Fatalf("root %q (%v)", r.URI, err)
			}
			roots = append(roots, u.Path)
		}
		if want := []string{e.cwd, more}; !slices.Equal(roots, want) {
			t.Errorf("roots = %q, want %q", roots, want)
		}
	})
}
