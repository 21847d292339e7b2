package harness_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// FuzzCancelAnywhere runs a session of turns that are cut at any moment. A
// letter is an answer of the model, a number the seconds after which its turn
// is cancelled, 0 an hour. Whatever happens, calls and results stay in pairs, what the
// watcher saw has ended, and each request begins with all of the last one.
func FuzzCancelAnywhere(f *testing.F) {
	f.Add("twrx", []byte{0, 0, 0})
	f.Add("wwtfwh", []byte{3, 1, 4})
	f.Add("bphcel", []byte{2, 2, 9})
	f.Fuzz(func(t *testing.T, answers string, cuts []byte) {
		if len(answers) > 12 || len(cuts) > 6 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(toolstest.Slow("look", 2*time.Second), mutating(toolstest.Slow("write", 3*time.Second)))
			for i, a := range answers {
				f.script.steps = append(f.script.steps, after(time.Second, answerOf(i, a)))
			}
			f.script.steps = append(f.script.steps, says("end"))
			s := f.open(t)
			for _, cut := range cuts {
				patience := time.Duration(cut%16) * time.Second
				if cut == 0 {
					patience = time.Hour
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				rec := &recorder{}
				out, err := prompted(t, s, ctx, "go", rec)
				cancel()
				if err == nil && out.Stop == "" {
					t.Error("a turn ended without a reason")
				}
				if err := rec.closed(); err != nil {
					t.Error(err)
				}
				if err := paired(f.entries(t, s)); err != nil {
					t.Error(err)
				}
			}
			reqs := f.script.requests()
			for i := 1; i < len(reqs); i++ {
				if got := reuse(t, reqs[i-1], reqs[i]); got != 1 {
					t.Errorf("request %d repeats %v of the last, want all", i+1, got)
				}
			}
		})
	})
}

// after lets d pass before s.
func after(d time.Duration, s step) step {
	return func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		select {
		case <-time.After(d):
			return s(ctx, req, sink)
		case <-ctx.Done():
			return nil, &model.Error{Kind: model.Canceled, Provider: "p", Err: ctx.Err()}
		}
	}
}

// answerOf is the answer that a letter stands for.
func answerOf(i int, letter rune) step {
	look, write := want{"l", "look", "{}"}, want{"w", "write", "{}"}
	switch letter {
	case 'l':
		return wants(look, look)
	case 'w':
		return wants(write, look)
	case 'b':
		return wants(look, write, want{"x", "nothing", "{"})
	case 'f':
		return fails(&model.Error{Kind: model.Connection, Provider: "p", Partial: true}, model.Think("hm"), model.Text("half"),
			model.ToolStart{ID: "h", Name: "look"})
	case 'h':
		return hangs(model.Text(fmt.Sprint("hanging ", i)))
	case 'p':
		return stops(model.StopPause, "pause")
	case 'c':
		return stops(model.StopLength, "cut")
	case 'e':
		return stops(model.StopEnd)
	case 'r':
		return stops(model.StopRefusal, "no")
	}
	return says(fmt.Sprint("answer ", i))
}

// FuzzAttachment attaches whatever an editor may send. The message that is displayed
// stays as it is, its attachment is mentioned on one line, and the keys of the table
// are those of the thread.
func FuzzAttachment(f *testing.F) {
	f.Add("a.go", "file:///a.go", "text/x-go", "package a", []byte(nil))
	f.Add("a |\n# Attached Context\u202e", "zed:x\n", "", "</resource>", []byte(nil))
	f.Add("", "%zz", "image/png", "", []byte{0x89})
	f.Add("\xff", "", "audio/wav", "", []byte{0})
	f.Fuzz(func(t *testing.T, name, uri, mime, text string, data []byte) {
		fix, _ := newKeeping()
		s := fix.open(t)
		block := event.Block{Name: name, URI: uri, MIME: mime, Text: text, Data: data}
		blocks(t, s, &recorder{}, block, event.Block{Text: "go"})
		u := fix.entries(t, s)[0].(thread.User)
		if diff := cmp.Diff(block, u.Blocks[0]); diff != "" {
			t.Fatalf("displayed (-want +got):\n%s", diff)
		}
		sent := lastText(fix.script.requests()[0])
		if len(u.Attached) == 0 {
			if strings.Contains(sent, "| Key | Type | Name |") && !strings.Contains(text, "| Key") {
				t.Errorf("nothing is attached, and the model is told of a table:\n%s", sent)
			}
			return
		}
		first, rest, _ := strings.Cut(sent, "\n")
		if key := u.Attached[0].Key; !strings.HasSuffix(first, ", "+key+"]") || !strings.Contains(rest, "\n| "+key+" | ") {
			t.Errorf("the attachment %s is not mentioned and listed:\n%s", key, sent)
		}
	})
}
