//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Row 177 and C053 (R-ACP-16): a fork ends before the message of the user that is
// named, by the id that the client gave it or was told with the answer, and that a
// replay has too, and goes on apart. The session that it was taken from stays as
// it is, to the byte.
func TestC053ForkAtAMessage(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(bash("echo one >> log"))+"\n"+always, "--mode", "auto")
	model := "script:" + filepath.Join(e.home, "script.jsonl")
	s := e.open(nil)
	said := []string{"first", "second", "third"}
	var ids []string
	for i, text := range said {
		params := say(s, text)
		if i != 1 { // which gets an id of the agent's
			params["_meta"] = namespaced("messageId", fmt.Sprint("wished-", i+1))
		}
		var answer struct {
			Meta map[string]struct{ MessageID string } `json:"_meta"`
		}
		e.call("session/prompt", params, &answer)
		ids = append(ids, answer.Meta["lorimer.dev"].MessageID)
	}
	if ids[0] != "wished-1" || ids[1] == "" || ids[2] != "wished-3" {
		t.Fatalf("ids of the messages told with the answers = %q, want those that were wished, and one made up", ids)
	}
	before := e.prints("session", "export", s, "--reasoning")

	e.file("script.jsonl", always)
	next := e.restart("--model", model)
	told := next.load(s)
	var users []string
	for _, id := range told.order {
		if slices.Contains(said, told.texts[id]) {
			users = append(users, id)
		}
	}
	if diff := cmp.Diff(ids, users); diff != "" {
		t.Fatalf("ids of the user's messages in the replay (-want +got):\n%s", diff)
	}
	answer := told.order[slices.Index(told.order, ids[1])+1]
	tests := []struct {
		at    string
		said  []string
		calls int
	}{
		{ids[0], nil, 0},
		{ids[1], said[:1:1], 1},
		{answer, said[:2:2], 1},
		{"", said[:3:3], 1},
	}
	for _, tt := range tests {
		params := next.where(s)
		if tt.at != "" {
			params["_meta"] = namespaced("messageId", tt.at)
		}
		var fork sessionState
		next.call("session/fork", params, &fork)
		if fork.SessionID == s || fork.SessionID == "" || len(fork.ConfigOptions) == 0 {
			t.Fatalf("session/fork at %q answers %+v, want an id of its own and the options", tt.at, fork)
		}
		if stop := next.prompt(fork.SessionID, "anew"); stop != "end_turn" {
			t.Errorf("stop reason in the fork at %q = %s, want end_turn", tt.at, stop)
		}
		r := next.load(fork.SessionID)
		if !slices.Equal(r.said, append(tt.said, "anew")) || len(r.calls) != tt.calls {
			t.Errorf("the fork at %q has %q and %d calls, want %q before the new message and %d", tt.at, r.said, len(r.calls), tt.said, tt.calls)
		}
	}
	for _, wrong := range []string{"nothing", "wished-4", "../x"} {
		params := next.where(s)
		params["_meta"] = namespaced("messageId", wrong)
		if f := next.wait(next.send("session/fork", params)); f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "messageId") {
			t.Errorf("session/fork at %q: %s, want -32602 that names messageId", wrong, f.Raw)
		}
	}
	if got := len(next.list(object{})); got != 1+len(tests) {
		t.Errorf("%d sessions are listed, want the session and its %d forks", got, len(tests))
	}
	if after := e.prints("session", "export", s, "--reasoning"); after != before {
		t.Errorf("the session has changed by its forks (-before +after):\n%s", cmp.Diff(before, after))
	}
	if got := e.disk("log"); got != "one\n" {
		t.Errorf("log = %q: a call ran again", got)
	}
}
