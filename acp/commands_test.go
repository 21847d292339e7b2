package acp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// builtin are the commands that every session has.
const builtin = "retry usage help"

// told returns the commands of the session s, of each time that they were told, as
// lines.
func told(tb testing.TB, ms []acptest.Message) []string {
	var lines []string
	for _, names := range acptest.Commands(tb, ms, "s") {
		lines = append(lines, strings.Join(names, " "))
	}
	return lines
}

// R-ACP-14, R-PROMPT-19: the commands follow the answer that opens the session, are
// told again when skills come and go, and not after the session has been closed.
func TestCommandsFollowSkills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sh := &shelf{}
		sh.put("tone")
		e := acptest.Open(t, rig{model: `{"text":"x","repeat":true}`, shelf: sh}.serve(t))
		step := func(name string, want []string, do func()) {
			t.Helper()
			do()
			if diff := cmp.Diff(want, told(t, acptest.Messages(t, e.Hear()))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		dir := t.TempDir()
		step("new", []string{builtin + " tone"}, func() { e.Say(initialize, newSession("s", dir)) })
		step("one more", []string{builtin + " review tone"}, func() { sh.put("tone", "review") })
		step("the same again", nil, func() { sh.put("tone", "review") })
		step("none", []string{builtin}, func() { sh.put() })
		step("one that has the name of a command", nil, func() { sh.put("help") })
		step("a load of the open session", []string{builtin}, func() { e.Say(loadLine(1, dir)) })
		step("a change after it", []string{builtin + " tone"}, func() { sh.put("tone") })
		step("a load elsewhere", []string{builtin + " tone"}, func() { e.Say(loadLine(2, "/")) })
		step("a change after that", []string{builtin + " late"}, func() { sh.put("late") })
		step("a close", nil, func() { e.Say(closeLine(3)) })
		step("a change after the close", nil, func() { sh.put("too-late") })
		step("a resume", []string{builtin + " too-late"}, func() {
			e.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"session/resume","params":{"sessionId":"s","cwd":%q}}`, dir))
		})
	})
}

// A change that nobody has watched is told when the next message finds it.
func TestCommandsFollowASend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sh := &shelf{blind: true}
		e := acptest.Open(t, rig{model: `{"text":"x","repeat":true}`, shelf: sh}.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()))
		if got := told(t, acptest.Messages(t, e.Hear())); !slices.Equal(got, []string{builtin}) {
			t.Errorf("before the message: %q", got)
		}
		sh.put("tone")
		e.Say(promptLine(1, "s", "x"))
		if got := told(t, acptest.Messages(t, e.Hear())); !slices.Equal(got, []string{builtin + " tone"}) {
			t.Errorf("with the message: %q", got)
		}
	})
}

// However fast skills come and go, before and after the session is open, no list
// precedes the answer, and the last one is the one that holds.
func TestCommandsAtSpeed(t *testing.T) {
	const changes = 50
	synctest.Test(t, func(t *testing.T) {
		sh := &shelf{}
		e := acptest.Open(t, rig{model: `{"text":"x"}`, shelf: sh}.serve(t))
		e.Say(initialize)
		e.Hear()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range changes {
				sh.put(fmt.Sprintf("skill-%d", i))
				if i%7 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
		}()
		e.Say(newSession("s", t.TempDir()))
		<-done
		ms := acptest.Messages(t, e.Hear())
		answer := slices.IndexFunc(ms, func(m acptest.Message) bool { return string(m.ID) == `"s"` })
		if early := told(t, ms[:answer]); early != nil {
			t.Errorf("before the answer came %q", early)
		}
		all := told(t, ms)
		want := fmt.Sprintf("%s skill-%d", builtin, changes-1)
		if len(all) == 0 || all[len(all)-1] != want {
			t.Errorf("told %q, want %q in the end", all, want)
		}
	})
}

// restless is a store with which something changes behind each entry that is read.
type restless struct {
	harness.Threads
	change func()
}

func (r restless) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	return r.Threads.Read(ctx, id, after, func(e thread.Entry) error {
		err := f(e)
		r.change()
		return err
	})
}

// While a load tells what was said the session is there already, and whoever watches
// its skills hears of each change. No list comes before the answer all the same, and
// the one behind it holds (R-ACP-14).
func TestCommandsWaitForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sh := &shelf{}
		var loading atomic.Bool
		changes := 0
		threads := restless{memory.New(nil), func() {
			if loading.Load() {
				changes++
				sh.put(fmt.Sprintf("skill-%d", changes))
				time.Sleep(time.Second) // all others do what they want to
			}
		}}
		e := acptest.Open(t, rig{model: `{"text":"x"}`, shelf: sh, threads: threads}.serve(t))
		dir := t.TempDir()
		e.Say(initialize, newSession("s", dir), promptLine(1, "s", "hi"))
		e.Hear()
		e.Say(closeLine(2))
		e.Hear()
		loading.Store(true)
		e.Say(loadLine(3, dir))
		time.Sleep(time.Hour)
		ms := acptest.Messages(t, e.Hear())
		answer := slices.IndexFunc(ms, func(m acptest.Message) bool { return string(m.ID) == "3" })
		if answer < 0 || texts(ms[:answer], "s") != "x" || changes < 2 {
			t.Fatalf("%d changes, and %d messages of which that at %d is the answer; want more, behind what was said", changes, len(ms), answer)
		}
		if early := told(t, ms[:answer]); early != nil {
			t.Errorf("before the answer came %q", early)
		}
		if got, want := told(t, ms[answer:]), fmt.Sprintf("%s skill-%d", builtin, changes); !slices.Equal(got, []string{want}) {
			t.Errorf("behind the answer came %q, want %q once", got, want)
		}
	})
}
