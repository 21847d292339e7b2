package acp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/acptest"
)

// An op is a request about the session s, or about f, which is forked from it.
type op struct {
	name, method, session string
	more                  string // further members of the parameters
}

var ops = []op{
	{"new s", "session/new", "", `"_meta":{"lorimer.dev":{"sessionId":"s"}}`},
	{"load s", "session/load", "s", ""},
	{"resume s", "session/resume", "s", ""},
	{"fork s", "session/fork", "s", `"_meta":{"lorimer.dev":{"sessionId":"f"}}`},
	{"prompt s", "session/prompt", "s", `"prompt":[{"type":"text","text":"x"}]`},
	{"status s", "session/status", "s", ""},
	{"title s", "session/set_title", "s", `"title":"name"`},
	{"close s", "session/close", "s", ""},
	{"archive s", "session/archive", "s", ""},
	{"delete s", "session/delete", "s", ""},
	{"load f", "session/load", "f", ""},
	{"prompt f", "session/prompt", "f", `"prompt":[{"type":"text","text":"x"}]`},
	{"close f", "session/close", "f", ""},
	{"delete f", "session/delete", "f", ""},
}

// line returns the request, with a number for its id.
func (o op) line(id int, dir string) string {
	members := []string{fmt.Sprintf(`"cwd":%q`, dir)}
	if o.session != "" {
		members = append([]string{fmt.Sprintf(`"sessionId":%q`, o.session)}, members...)
	}
	if o.more != "" {
		members = append(members, o.more)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, o.method, strings.Join(members, ","))
}

// outcome says how a request was answered: the code of an error, the status, or
// "ok". A prompt may have been cancelled by what came behind it.
func outcome(t *testing.T, ms []acptest.Message, id int) string {
	t.Helper()
	m := acptest.Answer(t, ms, fmt.Sprint(id))
	if m.Error != nil {
		return fmt.Sprint(m.Error.Code)
	}
	var r struct{ Status string }
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatal(err)
	}
	if r.Status != "" {
		return r.Status
	}
	return "ok"
}

// play sends before and then list, all at once or one by one, and returns the
// outcomes of list. All that was opened is closed in the end.
func play(t *testing.T, dir string, before, list []op, piped bool) (outcomes []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := rig{model: `{"text":["a","b"],"delay_ms":10,"repeat":true}`, spaces: &spaces{}}
		e := acptest.Open(t, r.serve(t))
		e.Say(initialize)
		say := func(lines ...string) []string {
			e.Say(lines...)
			time.Sleep(time.Minute)
			return e.Hear()
		}
		for i, o := range before {
			say(o.line(100+i, dir))
		}
		var lines, heard []string
		for i, o := range list {
			lines = append(lines, o.line(1+i, dir))
		}
		if piped {
			heard = say(lines...)
		} else {
			for _, line := range lines {
				heard = append(heard, say(line)...)
			}
		}
		ms := acptest.Messages(t, heard)
		for i := range list {
			outcomes = append(outcomes, outcome(t, ms, 1+i))
		}
		e.End()
		if err := e.Wait(); err != nil {
			t.Errorf("Serve = %v", err)
		}
		if n := r.spaces.left.Load(); n != 0 {
			t.Errorf("%d workspaces of %d are left open", n, r.spaces.opened.Load())
		}
	})
	return outcomes
}

// R-ACP-07: requests that are piped are answered as those which wait for one
// another, whatever they do to the same sessions, and leave nothing behind.
func TestPipedAsOneByOne(t *testing.T) {
	dir := t.TempDir()
	ofS, ofF := ops[:10], append(slices.Clone(ops[10:]), ops[3], ops[9])
	tests := []struct {
		name   string
		before []op
		pairs  []op
	}{
		{"nothing", nil, ofS},
		{"open", []op{ops[0], ops[4]}, ofS},
		{"stored", []op{ops[0], ops[4], ops[7]}, ofS},
		{"forked", []op{ops[0], ops[4], ops[3]}, ofF},
	}
	r := rand.New(rand.NewPCG(1, 2)) // the same lists each time
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var lists [][]op
			for _, a := range tt.pairs {
				for _, b := range tt.pairs {
					lists = append(lists, []op{a, b})
				}
			}
			for range 25 {
				var list []op
				for range 3 + r.IntN(4) {
					list = append(list, ops[r.IntN(len(ops))])
				}
				lists = append(lists, list)
			}
			for _, list := range lists {
				if diff := cmp.Diff(play(t, dir, tt.before, list, false), play(t, dir, tt.before, list, true)); diff != "" {
					t.Errorf("%v (-one by one +piped):\n%s", list, diff)
				}
			}
		})
	}
}

// What each request is answered with, by what there is of the session.
func TestOutcomes(t *testing.T) {
	dir := t.TempDir()
	start := []op{ops[0], ops[4]} // new, prompt
	tests := []struct {
		name   string
		before []op
		want   string // of each of ops, in order
	}{
		{"nothing", nil, "ok -32002 -32002 -32002 -32002 -32002 -32002 -32002 -32002 ok -32002 -32002 -32002 ok"},
		{"s open", start, "-32602 ok ok ok ok open ok ok ok ok -32002 -32002 -32002 ok"},
		{"s stored", append(slices.Clip(start), ops[7]), "-32602 ok ok ok -32002 saved ok -32002 ok ok -32002 -32002 -32002 ok"},
		{"f forked", append(slices.Clip(start), ops[3]), "-32602 ok ok -32602 ok open ok ok ok ok ok ok ok ok"},
		{"s deleted", append(slices.Clip(start), ops[3], ops[9]), "ok -32002 -32002 -32602 -32002 -32002 -32002 -32002 -32002 ok ok ok ok ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, want := range strings.Fields(tt.want) {
				if got := play(t, dir, tt.before, ops[i:i+1], false); got[0] != want {
					t.Errorf("%s: %s, want %s", ops[i].name, got[0], want)
				}
			}
		})
	}
}
