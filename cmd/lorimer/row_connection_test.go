//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// answersHello is a model that answers hello, and nothing else for minutes. What
// was cancelled before it was answered stands before hello in one message.
const answersHello = `{"match": {"contains": "hello"}, "text": "fine", "repeat": true}
{"text": "never", "delay_ms": 600000, "repeat": true}`

// Row 235 (R-ACP-08) and C028: a cancel that comes in the same write as its
// prompt, before a model was asked, is not lost. Each prompt gets one answer.
func TestRow235PromptAndCancel(t *testing.T) {
	t.Parallel()
	e := edit(t, answersHello)
	s := e.open(nil)
	cancel, err := json.Marshal(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": s}})
	if err != nil {
		t.Fatal(err)
	}
	const times = 300
	answered := make(map[string]int)
	for range times {
		text, id := e.line("session/prompt", say(s, "wait"))
		e.raw(text + string(cancel) + "\n")
		if stop := stopReason(t, e.wait(id)); stop != "cancelled" {
			t.Fatalf("prompt %d: stop reason = %s, want cancelled", id, stop)
		}
	}
	t.Run("C028 an idle session", func(t *testing.T) {
		before := len(e.heard())
		e.raw(string(cancel) + "\n")
		if stop := e.prompt(s, "hello"); stop != "end_turn" {
			t.Errorf("stop reason = %s, want end_turn", stop)
		}
		for _, f := range e.heard()[before:] {
			if f.Error != nil {
				t.Errorf("a cancel without a turn was answered: %s", f.Raw)
			}
		}
	})
	for _, f := range e.heard() {
		if f.Method == "" {
			answered[string(f.ID)]++
		}
	}
	for id, n := range answered {
		if n != 1 {
			t.Errorf("request %s got %d answers", id, n)
		}
	}
}

// Row 235: all of it at once, without waiting for an answer.
func TestRow235PromptsAndCancelsInOneWrite(t *testing.T) {
	t.Parallel()
	e := edit(t, answersHello)
	s := e.open(nil)
	cancel, err := json.Marshal(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": s}})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	var ids []int
	for range 300 {
		text, id := e.line("session/prompt", say(s, "wait"))
		all.WriteString(text + string(cancel) + "\n")
		ids = append(ids, id)
	}
	e.raw(all.String())
	for _, id := range ids {
		if stop := stopReason(t, e.wait(id)); stop != "cancelled" {
			t.Fatalf("prompt %d: stop reason = %s, want cancelled", id, stop)
		}
	}
	if stop := e.prompt(s, "hello"); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
}

// Row 235: a line of 40 MiB is a request like any other.
func TestRow235LongLine(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "the end of it"}, "text": "got it"}`)
	s := e.open(nil)
	params := say(s, strings.Repeat("a long story, ", 1<<20/14)+"the end of it")
	params["later"] = "what nobody knows yet"
	size := 39 << 20
	if underRace {
		size /= 10 // the race detector makes half a minute of it
	}
	text, id := e.line("session/prompt", params)
	e.raw(strings.Replace(text, "nobody knows", strings.Repeat("nobody knows ", size/13), 1))
	if stop := stopReason(t, e.wait(id)); stop != "end_turn" || e.text(s) != "got it" {
		t.Errorf("prompt: %s with %q, want end_turn with got it", stop, e.text(s))
	}
}

// Row 235: 2,000 pieces of an answer arrive whole and in order, whatever is put
// together on the way. What they cost is measured by the benchmarks.
func TestRow235ManyChunks(t *testing.T) {
	t.Parallel()
	var pieces []string
	for i := range 2000 {
		pieces = append(pieces, fmt.Sprintf("piece %d of text, with \"quotes\", <marks> & 中文\n", i))
	}
	line, err := json.Marshal(object{"think": pieces[:500], "text": pieces})
	if err != nil {
		t.Fatal(err)
	}
	e := edit(t, string(line))
	s := e.open(nil)
	if stop := e.prompt(s, "go"); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
	if e.text(s) != strings.Join(pieces, "") {
		t.Error("the answer is not what the model said")
	}
	if f := e.heard(); f[len(f)-1].Method != "" {
		t.Errorf("after the answer came %s", f[len(f)-1].Raw)
	}
}

// Row 235: an editor that stops reading holds up the turns that it does not
// read, and nothing is lost: when it reads again, what was cancelled meanwhile
// says so, and the rest is whole. That no queue grows meanwhile is a test of the
// connection itself.
func TestRow235StopsReading(t *testing.T) {
	t.Parallel()
	const size, n = 32 << 10, 64 // much more than a pipe holds
	piece := strings.Repeat("x", size)
	line, err := json.Marshal(object{"match": object{"contains": "much"}, "text": []string{piece}, "repeat": true})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.TrimSuffix(strings.Repeat(`"`+piece+`",`, n), ",")
	e := edit(t, `{"match": {"contains": "go"}, "tools": [{"name": "bash", "args": {"command": "echo ran"}}]}`+"\n"+
		`{"match": {"contains": "ran"}, "text": "done"}`+"\n"+`{"match": {"contains": "flood"}, "text": [`+long+`]}`+"\n"+
		`{"match": {"contains": "endless"}, "text": [`+long+`], "delay_ms": 100}`+"\n"+string(line))
	read := make(chan struct{})
	reading := make(chan struct{})
	e.on("session/request_permission", func(json.RawMessage) (any, *rpcError) {
		close(reading)
		<-read // this is where the editor reads no further
		return selected("allow_once"), nil
	})
	asks, whole, cut := e.open(nil), e.session(), e.session()
	first := e.send("session/prompt", say(asks, "go"))
	<-reading
	flood := e.send("session/prompt", say(whole, "flood"))
	endless := e.send("session/prompt", say(cut, "endless"))
	behind := e.send("session/prompt", say(cut, "much"))
	e.notify("session/cancel", object{"sessionId": cut})
	again := e.send("session/prompt", say(cut, "much"))
	close(read)
	for id, want := range map[int]string{first: "end_turn", flood: "end_turn", endless: "cancelled", behind: "cancelled", again: "end_turn"} {
		if stop := stopReason(t, e.wait(id)); stop != want {
			t.Errorf("prompt %d: stop reason = %s, want %s", id, stop, want)
		}
	}
	if got := e.text(whole); got != strings.Repeat(piece, n) {
		t.Errorf("%d bytes of the answer came, want %d", len(got), n*size)
	}
	if got := e.text(cut); len(got) >= n*size || !strings.HasSuffix(got, piece) {
		t.Errorf("%d bytes of the cancelled answer came, want a part, and the answer after it", len(got))
	}
}
