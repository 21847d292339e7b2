//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 179 (R-ACP-21): what the model has said is told before it says more. The
// provider goes on only when the client has read the piece before.
func TestRow179EachPieceAsItComes(t *testing.T) {
	t.Parallel()
	pieces := []string{"First", ", second", ", türkçe 👍", ", last."}
	p := newPacedProvider(t)
	e := newEditor(t)
	e.env = []string{"OPENAI_API_KEY=sk-test-0123456789", "OPENAI_BASE_URL=" + p.URL}
	e.acp("--model", gpt)
	s := e.open(nil)
	id := e.send("session/prompt", say(s, "hello"))
	said := ""
	for _, piece := range pieces {
		p.say <- piece
		said += piece
		heard := ""
		e.until("piece "+piece, func(f frameIn) bool {
			heard += answerText(f, s)
			return heard == said
		})
	}
	close(p.say)
	if f := e.wait(id); f.Error != nil || e.text(s) != said {
		t.Errorf("prompt: %s with %q, want %q", f.Raw, e.text(s), said)
	}
}

// answerText returns the piece of an answer in a frame, "" in any other.
func answerText(f frameIn, session string) string {
	var u update
	var c struct{ Text string }
	if f.Method != "session/update" || json.Unmarshal(f.Params, &u) != nil || u.SessionID != session ||
		u.Update.Kind != "agent_message_chunk" || json.Unmarshal(u.Update.Content, &c) != nil {
		return ""
	}
	return c.Text
}

// Row 179 (R-ACP-20, R-ACP-22): the pieces of an answer, joined, are the answer
// that the model is shown of itself later; thoughts are apart; each message has
// an id of its own; all of a turn comes before its response.
func TestRow179PiecesAddUp(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t,
		modeltest.Reply{
			Think: []string{"Let me ", "look."}, Text: []string{"Looking ", "at it.", "\n\n"},
			Tools: []modeltest.Tool{{Name: "glob", Args: `{"pattern": "*"}`}},
		},
		modeltest.Reply{Text: []string{"It is ", "é", "m", "pty.", "  "}},
		modeltest.Reply{Text: []string{"Again."}},
	)
	e := editWith(t, m, "--model", gpt)
	s := e.open(nil)
	for _, text := range []string{"look", "again"} {
		f := e.wait(e.send("session/prompt", say(s, text)))
		if f.Error != nil {
			t.Fatalf("prompt: %s", f.Raw)
		}
		e.sync()
		for _, late := range e.heard()[f.N+1:] {
			if late.Method != "" {
				t.Errorf("after the response of the turn came %s", late.Raw)
			}
		}
	}
	type message struct{ kind, text string }
	got, order := make(map[string]message), []string(nil)
	for _, u := range e.updates(s) {
		if k := u.Update.Kind; k != "agent_message_chunk" && k != "agent_thought_chunk" {
			continue
		}
		var c struct{ Text string }
		if err := json.Unmarshal(u.Update.Content, &c); err != nil {
			t.Fatal(err)
		}
		id := u.Update.MessageID
		if _, ok := got[id]; !ok {
			order = append(order, id)
		}
		got[id] = message{u.Update.Kind, got[id].text + c.Text}
	}
	var messages []message
	for _, id := range order {
		messages = append(messages, got[id])
	}
	want := []message{
		{"agent_thought_chunk", "Let me look."}, {"agent_message_chunk", "Looking at it.\n\n"},
		{"agent_message_chunk", "It is émpty.  "}, {"agent_message_chunk", "Again."},
	}
	if !slices.Equal(messages, want) {
		t.Errorf("messages = %q, want %q", messages, want)
	}
	var stored []string
	for _, m := range e.lastRequest(s).Messages {
		for _, p := range m.Parts {
			if m.Role == "assistant" && p.Type == "text" {
				stored = append(stored, p.Text)
			}
		}
	}
	if !slices.Equal(stored, []string{want[1].text, want[2].text}) {
		t.Errorf("answers that the model is shown = %q, want those that the client was told", stored)
	}
	if r := m.Rejected(); len(r) > 0 {
		t.Errorf("the provider rejected requests: %q", r)
	}
}

// Row 196 (R-ACP-27): each way in which a turn ends has its stop reason.
func TestRow196StopReasons(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script, want string
	}{
		{"normally", `{"text": "done"}`, "end_turn"},
		{"with nothing but thoughts", `{"think": "hm"}` + "\n" + always, "end_turn"},
		{"at the limit of tokens", `{"text": "and so o", "stop": "length"}`, "max_tokens"},
		{"with a call cut by the limit", `{"text": "so", "tools": [{"name": "bash", "args": "{\"comm"}], "stop": "length"}`, "max_tokens"},
		{"at the limit of the window", `{"text": "so", "stop": "context"}`, "max_tokens"},
		{"with a refusal", `{"text": "I will not.", "stop": "refusal"}`, "refusal"},
		{"at the step cap without an answer", `{"tools": [{"name": "glob", "args": {"pattern": "*.x"}}], "repeat": true}`, "max_turn_requests"},
		{"at the step cap with an answer", `{"match": {"contains": "last step"}, "text": "this is what I have"}` + "\n" +
			`{"tools": [{"name": "glob", "args": {"pattern": "*.x"}}], "repeat": true}`, "end_turn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, `{"match": {"contains": "follow-up"}, "text": "fine", "repeat": true}`+"\n"+tt.script)
			s := e.open(nil)
			if got := e.prompt(s, "begin"); got != tt.want {
				t.Errorf("stop reason = %s, want %s", got, tt.want)
			}
			if n := len(e.requests(s)); n > 50 {
				t.Errorf("%d requests in a turn, want 50 at most", n)
			}
			if got := e.prompt(s, "follow-up"); got != "end_turn" {
				t.Errorf("stop reason of the next prompt = %s, want end_turn", got)
			}
			checkCalls(e, s)
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		e := editWith(t, modeltest.New(t, modeltest.Reply{Text: []string{"begun "}, Hang: true}))
		s := e.open(nil)
		id := e.send("session/prompt", say(s, "begin"))
		e.begun(s)
		e.notify("session/cancel", object{"sessionId": s})
		e.cancelled(s, id)
	})
	t.Run("the provider's own words", func(t *testing.T) {
		t.Parallel()
		m := modeltest.New(t,
			modeltest.Reply{Text: []string{"so"}, Stop: "length"},
			modeltest.Reply{Text: []string{"no"}, Stop: "refusal"},
			modeltest.Reply{Text: []string{"yes"}},
		)
		for _, model := range []string{"openai", "anthropic"} {
			m.Add(modeltest.Reply{Text: []string{"so"}, Stop: "length"}, modeltest.Reply{Text: []string{"no"}, Stop: "refusal"},
				modeltest.Reply{Text: []string{"yes"}})
			e := newEditor(t).reaches(m)
			e.acp("--model", model+"/"+modeltest.ModelID)
			s := e.open(nil)
			var got []string
			for range 3 {
				got = append(got, e.prompt(s, "go"))
			}
			if diff := cmp.Diff([]string{"max_tokens", "refusal", "end_turn"}, got); diff != "" {
				t.Errorf("stop reasons of %s (-want +got):\n%s", model, diff)
			}
		}
	})
}

// Row 182 (R-ACP-17, R-ACP-25): prompts of two sessions run beside each other,
// whoever ends first. A second prompt of a session waits and does not disturb the
// first.
func TestRow182ParallelSessions(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "run"}, "tools": [{"name": "bash", "args": {"command": "echo > started; read x < pipe; echo got $x | tee out"}}], "repeat": 2}
{"match": {"contains": "got left"}, "text": "left it is"}
{"match": {"contains": "got right"}, "text": "right it is"}
{"match": {"contains": "second"}, "text": "second too"}`, "--mode", "auto")
	e.call("initialize", object{"protocolVersion": 1}, nil)

	// C024: both sessions are asked for at once, in directories of their own.
	names := []string{"left", "right"}
	var dirs, sessions []string
	var started, pipes []*fifo
	var ids []int
	for _, name := range names {
		dirs = append(dirs, filepath.Join(e.cwd, name))
		if err := os.Mkdir(filepath.Join(e.cwd, name), 0o700); err != nil {
			t.Fatal(err)
		}
		started, pipes = append(started, e.fifo(name+"/started")), append(pipes, e.fifo(name+"/pipe"))
		ids = append(ids, e.send("session/new", object{"cwd": filepath.Join(e.cwd, name)}))
	}
	for _, id := range ids {
		var s struct{ SessionID string }
		if err := json.Unmarshal(e.wait(id).Result, &s); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s.SessionID)
	}
	left := e.send("session/prompt", say(sessions[0], "run"))
	right := e.send("session/prompt", say(sessions[1], "run"))
	started[0].get()
	started[1].get() // both run now
	second := e.send("session/prompt", say(sessions[0], "second"))

	pipes[1].put("right")
	e.wait(right)
	for _, f := range e.heard() {
		if f.Method == "" && (string(f.ID) == strconv.Itoa(left) || string(f.ID) == strconv.Itoa(second)) {
			t.Errorf("answered before its tool was let go: %s", f.Raw)
		}
	}
	pipes[0].put("left")
	if a, b := e.wait(left), e.wait(second); a.Error != nil || b.Error != nil || a.N > b.N {
		t.Errorf("answers of the first session: %s, then %s", a.Raw, b.Raw)
	}
	if got := e.text(sessions[0]); got != "left it issecond too" {
		t.Errorf("text of the first session = %q", got)
	}
	if got := e.text(sessions[1]); got != "right it is" {
		t.Errorf("text of the second session = %q", got)
	}
	for i, name := range names {
		out, err := os.ReadFile(filepath.Join(dirs[i], "out"))
		if string(out) != "got "+name+"\n" {
			t.Errorf("C024: the file of the session %s has %q (%v)", name, out, err)
		}
		for _, u := range e.updates(sessions[i]) {
			if text := string(u.Update.Content) + string(u.Update.RawOutput); strings.Contains(text, names[1-i]+" it") || strings.Contains(text, "got "+names[1-i]) {
				t.Errorf("the session %s was told of the other: %+v", name, u)
			}
		}
	}
	msgs := e.lastRequest(sessions[0]).Messages
	if n := len(msgs); !strings.Contains(msgs[n-2].text(), "left it is") || !strings.Contains(msgs[n-1].text(), "second") {
		t.Errorf("the second prompt was asked with %+v, want it after the answer to the first", msgs)
	}
}

// Row 182: up to 16 prompts of a session wait; one more is told so at once, and
// with --no-queue so is the first.
func TestRow182QueueLimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		waiting int
		flags   []string
	}{{16, nil}, {0, []string{"--no-queue"}}}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d waiting", tt.waiting), func(t *testing.T) {
			t.Parallel()
			e := edit(t, `{"match": {"contains": "run"}, "tools": [{"name": "bash", "args": {"command": "echo > started; read x < pipe"}}]}
{"text": "fine", "repeat": true}`, append(tt.flags, "--mode", "auto")...)
			s := e.open(nil)
			started, pipe := e.fifo("started"), e.fifo("pipe")
			running := e.send("session/prompt", say(s, "run"))
			started.get()
			var waiting []int
			for range tt.waiting {
				waiting = append(waiting, e.send("session/prompt", say(s, "wait")))
			}
			for range 2 {
				f := e.wait(e.send("session/prompt", say(s, "one too many")))
				if code(f) != "SESSION_BUSY" || f.Error.Code != -32603 {
					t.Errorf("prompt for a full queue: %s, want SESSION_BUSY", f.Raw)
				}
			}
			pipe.put("go")
			last := -1
			for _, id := range append([]int{running}, waiting...) {
				f := e.wait(id)
				if f.Error != nil || f.N < last {
					t.Errorf("answer %d at place %d: %s, want it after the one before", id, f.N, f.Raw)
				}
				last = f.N
			}
			if stop := e.prompt(s, "free again"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
		})
	}
}
