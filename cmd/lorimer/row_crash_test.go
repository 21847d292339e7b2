//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
)

// wreckScript is a turn with thoughts, text, calls that ask and calls that do not,
// two calls at once, a wait that the provider names, and a last answer.
const wreckScript = `{"think": ["hm ", "so"], "text": ["first ", "a file"], "delay_ms": 1, "tools": [{"name": "write", "args": {"path": "one.txt", "content": "one\n"}}]}
{"error": {"status": 429, "retry_after": 0.02}}
{"text": ["now ", "two ", "things"], "delay_ms": 1, "tools": [{"name": "bash", "args": {"command": "echo two >> log; echo told"}}, {"name": "write", "args": {"path": "two.txt", "content": "two\n"}}]}
{"think": ["hm"], "tools": [{"name": "read", "args": {"path": "one.txt"}}, {"name": "bash", "args": {"command": "cat missing"}}]}
{"text": ["all ", "is ", "well"], "delay_ms": 1, "usage": {"input": 10, "output": 5}}
`

// Row 188 (R-ACP-50, R-ACP-52, R-ACP-53): a process that is killed at any instant
// of a turn loses nothing that it has told. Another one loads the session with at
// most the last incomplete step missing, and goes on at once: the turn lock of the
// dead is nobody's.
//
// LORIMER_SEED repeats the instants of another run.
func TestRow188Killed(t *testing.T) {
	t.Parallel()
	points, seed := 200, instants(t)
	if testing.Short() || underRace {
		points = 60
	}
	const docks = 4 // on SQLite: each has a database, in which the wrecks gather
	for d := range docks {
		t.Run(fmt.Sprint("SQLite ", d), func(t *testing.T) {
			t.Parallel()
			wreckAll(t, filepath.Join(t.TempDir(), "threads.db"), rand.New(rand.NewPCG(seed, uint64(d))), points/docks)
		})
	}
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		wreckAll(t, storetest.Postgres(t), rand.New(rand.NewPCG(seed, docks)), points/docks/2)
	})
}

// Row 188 (R-HARN-26, R-ACP-50): where the process is killed while it gives an answer
// anew, the old one stays, for the client and for the model, until another is stored.
//
// LORIMER_SEED repeats the instants of another run.
func TestRow188KilledInRetry(t *testing.T) {
	t.Parallel()
	points, seed := 30, instants(t)
	if testing.Short() || underRace {
		points = 10
	}
	eachDatabase(t, func(t *testing.T, database string) {
		d := newDock(t, database, rand.New(rand.NewPCG(seed, uint64(len(database)))))
		d.before, d.words = "the old answer", "/retry"
		d.rehearse(t)
		held := 0
		for i := range points {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				if d.relapse(t) {
					held++
				}
			})
		}
		t.Logf("the old answer stayed %d times, another was there %d times", held, points-held)
		d.inventory(t)
	})
}

// instants returns where the choice of instants begins, and logs it.
func instants(t *testing.T) (seed uint64) {
	t.Helper()
	seed = uint64(time.Now().UnixNano())
	if s := os.Getenv("LORIMER_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("LORIMER_SEED=%d", seed)
	return seed
}

// wreckAll kills n agents that share a database.
func wreckAll(t *testing.T, database string, random *rand.Rand, n int) {
	t.Helper()
	d := newDock(t, database, random)
	d.rehearse(t)
	for i := range n {
		t.Run(fmt.Sprint(i), d.wreck)
	}
	d.inventory(t)
}

// A dock is a database and the sessions that were left in it.
type dock struct {
	database string
	model    *modeltest.Server // of those who come after a wreck
	random   *rand.Rand
	before   string        // answer of the turn before; "" is none
	words    string        // prompt of the turn
	frames   int           // that a whole turn brings
	span     time.Duration // that it takes
	sessions []string
}

func newDock(t *testing.T, database string, random *rand.Rand) *dock {
	t.Helper()
	// The server refuses a request in which a call lacks its result, or the other
	// way round.
	return &dock{database: database, random: random, words: "go", model: modeltest.New(t,
		modeltest.Reply{Match: "next", Tools: []modeltest.Tool{{Name: "glob", Args: `{"pattern": "*"}`}}, Repeat: -1},
		modeltest.Reply{Text: []string{"fine"}, Repeat: -1},
	)}
}

// sink starts an agent that is to have the turn of wreckScript, and returns the
// session for it, which has the turn before.
func (d *dock) sink(e *editor) (session string) {
	e.t.Helper()
	script := wreckScript
	if d.before != "" {
		script = fmt.Sprintf("{\"text\": %q}\n%s", d.before, script)
	}
	e.keeps(d.database, "--model", "script:"+e.file("script.jsonl", script))
	session = e.session()
	d.sessions = append(d.sessions, session)
	if d.before != "" {
		if stop := e.prompt(session, "go"); stop != "end_turn" {
			e.t.Fatalf("stop reason of the turn before = %s, want end_turn", stop)
		}
	}
	return session
}

// salvage starts an agent that comes after e, with the model of either protocol.
func (d *dock) salvage(e *editor) (next *editor, model string) {
	e.t.Helper()
	next = e.another().reaches(d.model)
	model = []string{"openai/", "anthropic/"}[d.random.IntN(2)] + modeltest.ModelID
	return next.keeps(d.database, "--model", model), model
}

// rehearse measures a turn that nobody disturbs.
func (d *dock) rehearse(t *testing.T) {
	e := newEditor(t)
	e.allow("allow_once")
	s := d.sink(e)
	before, began := len(e.heard()), time.Now()
	if stop := e.prompt(s, d.words); stop != "end_turn" {
		t.Fatalf("stop reason of the rehearsal = %s, want end_turn", stop)
	}
	d.frames, d.span = len(e.heard())-before, time.Since(began)
	e.leave()
}

// wreck kills an agent in a turn and looks at what is left.
func (d *dock) wreck(t *testing.T) {
	e := newEditor(t).breaks()
	silent := d.random.IntN(4) == 0 // questions stay open
	if !silent {
		e.allow("allow_once")
	}
	s := d.sink(e)
	d.sail(e, s, silent)
	e.cmd.Process.Kill() // an agent that has ended has been killed too late, which is an instant as well
	e.leave()
	live := e.record(s, len(e.heard()))

	next, model := d.salvage(e)
	replay := next.load(s)
	checkReplay(t, live, replay)
	if len(live.order) > 0 && !slices.Equal(replay.said, []string{"go"}) {
		t.Errorf("messages of the user in the replay = %q, want the one whose turn was told of (R-HARN-22)", replay.said)
	}
	for _, name := range []string{"one.txt", "two.txt"} {
		if next.disk(name) != "-" && !replay.touched(name) {
			t.Errorf("%s was written, and no call of the replay names it (R-ACP-50)", name)
		}
	}
	next.choose(s, "model", model) // the session remembers the script
	if stop := next.prompt(s, "next"); stop != "end_turn" {
		t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
	}
	checkResults(t, next.lastRequest(s))
	if code := next.leave(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// relapse kills an agent while it gives an answer anew, and looks at what is left. It
// reports whether that is the old answer.
func (d *dock) relapse(t *testing.T) (held bool) {
	e := newEditor(t).breaks()
	e.allow("allow_once")
	s := d.sink(e)
	old := ""
	for id, text := range e.record(s, len(e.heard())).texts {
		if text == d.before {
			old = id
		}
	}
	d.sail(e, s, false)
	e.cmd.Process.Kill() // an agent that has ended has been killed too late, which is an instant as well
	e.leave()
	live := e.record(s, len(e.heard()))
	delete(live.kept, old) // another may stand in its place

	next, model := d.salvage(e)
	replay := next.load(s)
	checkReplay(t, live, replay)
	if !slices.Equal(replay.said, []string{"go"}) {
		t.Errorf("messages of the user in the replay = %q, want the one that was answered", replay.said)
	}
	held = replay.texts[old] == d.before
	if n := len(replay.order); n < 2 || held && n > 2 {
		t.Errorf("the replay has %q, where %s is the old answer; want that or another", replay.order, old)
	}
	next.choose(s, "model", model) // the session remembers the script
	if stop := next.prompt(s, "next"); stop != "end_turn" {
		t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
	}
	request := next.lastRequest(s)
	checkResults(t, request)
	said := slices.ContainsFunc(request.Messages, func(m messageLine) bool { return m.text() == d.before })
	if said != held {
		t.Errorf("the model reads the old answer: %v, and the client: %v", said, held)
	}
	next.leave()
	return held
}

// sail sends a prompt and returns at a random instant of its turn: at a frame, or
// after a time. A question that nobody answers is the last instant.
func (d *dock) sail(e *editor, s string, silent bool) {
	e.t.Helper()
	last := len(e.heard()) + d.random.IntN(d.frames+1) - 1
	span := time.Duration(d.random.Int64N(int64(d.span)))
	byFrame := d.random.IntN(2) == 0
	id := e.send("session/prompt", say(s, d.words))
	if !byFrame {
		<-time.After(span) // the instant is the point: nothing is waited for
		return
	}
	e.until("instant", func(f frameIn) bool {
		return f.N >= last || silent && f.Method == "session/request_permission" ||
			f.Method == "" && string(f.ID) == fmt.Sprint(id)
	})
}

// touched reports whether a call is about the file.
func (r *record) touched(name string) bool {
	for _, l := range r.calls {
		if strings.Contains(l.input, name) {
			return true
		}
	}
	return false
}

// inventory checks that no session was lost.
func (d *dock) inventory(t *testing.T) {
	e, _ := d.salvage(newEditor(t))
	listed := e.list(object{})
	for _, s := range d.sessions {
		if !slices.Contains(listed, s) {
			t.Errorf("session %s is not in the list", s)
		}
	}
	if len(listed) != len(d.sessions) {
		t.Errorf("%d sessions are listed, want %d", len(listed), len(d.sessions))
	}
}

// list returns the ids of all sessions that a list of the given parameters has,
// page by page.
func (e *editor) list(params object) (ids []string) {
	e.t.Helper()
	for {
		var page struct {
			Sessions   []struct{ SessionID string }
			NextCursor string
		}
		e.call("session/list", params, &page)
		for _, s := range page.Sessions {
			ids = append(ids, s.SessionID)
		}
		if page.NextCursor == "" {
			return ids
		}
		params["cursor"] = page.NextCursor
	}
}

// Row 211 (R-HARN-22): the message of the user is stored before the model is
// asked.
func TestRow211StoredFirst(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Text: []string{"begun "}, Hang: true})
	e := editWith(t, m).breaks()
	s := e.open(nil)
	e.send("session/prompt", say(s, "keep these words"))
	e.begun(s)
	e.cmd.Process.Kill()
	e.leave()
	out, err := e.run("session", "show", s)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "keep these words") {
		t.Errorf("lorimer session show prints:\n%s\nwant the message of the user", out)
	}
}

// Row 206 (R-CMD-02), as far as there is no ledger: two processes on one state
// directory, a hundred prompts in ten sessions, and every session loads.
func TestRow206TwoProcesses(t *testing.T) {
	t.Parallel()
	const rounds, sessions = 10, 5 // of each process
	state := t.TempDir()
	var processes []*editor
	var ids [2][]string
	for i := range ids {
		e := edit(t, always, "--state", state)
		e.call("initialize", object{"protocolVersion": 1}, nil)
		for range sessions {
			ids[i] = append(ids[i], e.session())
		}
		processes = append(processes, e)
	}
	var waiting [2][]int
	for round := range rounds {
		for i, e := range processes {
			for _, s := range ids[i] {
				waiting[i] = append(waiting[i], e.send("session/prompt", say(s, fmt.Sprint("prompt ", round))))
			}
		}
	}
	for i, e := range processes {
		for _, id := range waiting[i] {
			if stop := stopReason(t, e.wait(id)); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
		}
		e.leave()
	}
	var want []string
	for round := range rounds {
		want = append(want, fmt.Sprint("prompt ", round))
	}
	e := edit(t, always, "--state", state)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	for i, all := range ids {
		for _, s := range all {
			e.cwd = processes[i].cwd
			r := e.load(s)
			if !slices.Equal(r.said, want) || len(r.order) != 2*rounds {
				t.Errorf("session %s has the prompts %q in %d messages, want %q and an answer each", s, r.said, len(r.order), want)
			}
		}
	}
	if got := len(e.list(object{})); got != 2*sessions {
		t.Errorf("%d sessions are listed, want %d", got, 2*sessions)
	}
}

// Row 206 (R-ACP-53): while one process answers in a session, another may read
// it, and its prompt is refused with words that say who answers. Afterwards it
// goes on from what the other has said.
func TestRow206SameSession(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	e := edit(t, steps(bash("echo up > up; read x < pipe; echo $x"))+"\n"+always, "--state", state, "--mode", "auto")
	pipe, up := e.fifo("pipe"), e.fifo("up")
	s := e.open(nil)
	id := e.send("session/prompt", say(s, "from the one"))
	up.get()
	other := e.another()
	other.acp("--state", state, "--model", "script:"+e.file("script.jsonl", always))
	other.call("initialize", object{"protocolVersion": 1}, nil)
	if r := other.load(s); !slices.Equal(r.said, []string{"from the one"}) {
		t.Errorf("messages that the other process reads = %q, want the one of the turn that runs", r.said)
	}
	f := other.wait(other.send("session/prompt", say(s, "from the other, too early")))
	if code(f) != "SESSION_BUSY" || !strings.Contains(f.Error.Message+string(f.Error.Data), fmt.Sprint(e.cmd.Process.Pid)) {
		t.Errorf("prompt of the other process: %s, want SESSION_BUSY and which process answers", f.Raw)
	}
	pipe.put("late")
	if stop := stopReason(t, e.wait(id)); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
	if stop := other.prompt(s, "from the other"); stop != "end_turn" {
		t.Errorf("stop reason of the other process = %s, want end_turn", stop)
	}
	r := other.lastRequest(s)
	checkResults(t, r)
	if len(r.Messages) != 5 || !strings.Contains(r.Messages[0].text(), "from the one") || r.Messages[3].text() != "done" {
		t.Errorf("messages of the other's request = %+v, want the turn of the one before it", r.Messages)
	}
	if stop := e.prompt(s, "back again"); stop != "end_turn" {
		t.Errorf("stop reason of the first process = %s, want end_turn", stop)
	}
	if got := e.lastRequest(s).Messages; len(got) != 7 || !strings.Contains(got[4].text(), "from the other") {
		t.Errorf("messages of the first process's request = %+v, want the turn of the other before it", got)
	}
}

// Row 206: two processes that send prompts to one session at the same time answer
// or refuse each, and what they have answered stands in one order.
func TestRow206Race(t *testing.T) {
	t.Parallel()
	const rounds = 20
	state := t.TempDir()
	script := `{"text": ["fine ", "so ", "far"], "delay_ms": 1, "repeat": true}`
	first := edit(t, script, "--state", state)
	s := first.open(nil)
	second := first.another()
	second.acp("--state", state, "--model", "script:"+first.file("script.jsonl", script))
	second.call("initialize", object{"protocolVersion": 1}, nil)
	second.load(s)
	answered := map[string]bool{}
	for round := range rounds {
		ids := map[*editor]int{}
		text := map[*editor]string{first: fmt.Sprint("first ", round), second: fmt.Sprint("second ", round)}
		for e, words := range text {
			ids[e] = e.send("session/prompt", say(s, words))
		}
		for e, id := range ids {
			f := e.wait(id)
			if f.Error != nil && code(f) != "SESSION_BUSY" {
				t.Errorf("%q: %s, want an answer or SESSION_BUSY", text[e], f.Raw)
			}
			answered[text[e]] = f.Error == nil
		}
		if !answered[text[first]] && !answered[text[second]] {
			t.Errorf("round %d: both were refused", round)
		}
	}
	third := first.another()
	third.acp("--state", state, "--model", "script:"+first.file("script.jsonl", script))
	third.call("initialize", object{"protocolVersion": 1}, nil)
	r := third.load(s)
	for i, id := range r.order {
		if want := "fine so far"; i%2 == 1 && r.texts[id] != want {
			t.Errorf("message %d of the replay = %q, want the answer %q", i, r.texts[id], want)
		}
	}
	for _, words := range r.said {
		if !answered[words] {
			t.Errorf("the replay has %q, which was refused", words)
		}
		delete(answered, words)
	}
	for words, yes := range answered {
		if yes {
			t.Errorf("the replay lacks %q, which was answered", words)
		}
	}
}
