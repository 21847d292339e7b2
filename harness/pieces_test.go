package harness_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// FuzzPiecesAddUp lets attempts say anything and end anywhere, also by a cancel. The pieces
// of each message add up to the one part of the thread with its id (R-ACP-22),
// and a message is closed as replaced exactly when its part is void (R-HARN-28).
func FuzzPiecesAddUp(f *testing.F) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		data := make([]byte, r.IntN(60))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := dice(data)
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(toolstest.Echo("look"))
			for range 1 + d.roll(5) {
				f.script.steps = append(f.script.steps, d.attempt())
			}
			f.script.steps = append(f.script.steps, says("hello world"))
			s := f.open(t)
			rec := &recorder{}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+d.roll(60))*time.Second/2)
			defer cancel()
			if _, err := prompted(t, s, ctx, "go", rec); err != nil {
				if _, ok := errors.AsType[*model.Error](err); !ok {
					t.Fatal(err)
				}
			}
			bodies := f.entries(t, s)
			told, replaced := tellings(rec.all())
			kept, void := keepings(t, bodies)
			if diff := cmp.Diff(told, kept); diff != "" {
				t.Errorf("messages (-told +kept):\n%s", diff)
			}
			if diff := cmp.Diff(replaced, void); diff != "" {
				t.Errorf("messages that did not hold (-told +kept):\n%s", diff)
			}
			if err := errors.Join(paired(bodies), rec.closed()); err != nil {
				t.Error(err)
			}
		})
	})
}

// tellings returns the messages of a turn by their ids, and which were replaced.
func tellings(events []event.Event) (text map[string]string, replaced map[string]bool) {
	text, replaced = map[string]string{}, map[string]bool{}
	for _, e := range events {
		switch e := e.(type) {
		case event.Text:
			text[e.MessageID] += e.Text
		case event.Thought:
			text[e.MessageID] += e.Text
		case event.Done:
			if strings.Contains(string(e.Meta), "replaced") {
				replaced[e.MessageID] = true
			}
		}
	}
	return text, replaced
}

// keepings returns the messages of a thread by their ids, and which are void.
func keepings(t *testing.T, bodies []thread.Body) (text map[string]string, void map[string]bool) {
	t.Helper()
	text, void = map[string]string{}, map[string]bool{}
	for _, b := range bodies {
		a, ok := b.(thread.Assistant)
		if !ok {
			continue
		}
		for _, p := range a.Parts {
			if p.Call != nil {
				continue
			}
			if _, ok := text[p.ID]; ok {
				t.Errorf("two parts have the id %s", p.ID)
			}
			text[p.ID] = p.Text
			if p.Reasoning != nil {
				text[p.ID] = p.Reasoning.Text
			}
			if a.Void {
				void[p.ID] = true
			}
		}
	}
	return text, void
}

// Dice are bytes that choices are made with; at their end each choice is the
// first.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

// attempt makes an answer that resembles others of its kind: it breaks off
// or falls silent, or it is whole, or whole and told all at once.
func (d *dice) attempt() step {
	words := []string{"hello", "hello world", "hello there", "h\u00e9", "a"}
	var events []model.Event
	r := reply(model.StopEnd)
	calls := 0
	for last := 0; d.roll(4) > 0 && len(events) < 10; {
		kind := 1 + d.roll(3)
		text := words[d.roll(len(words))]
		cut := d.roll(len(text))
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		switch {
		case kind == 3:
			events = append(events, model.ToolStart{Index: calls, ID: fmt.Sprint("w", calls), Name: "gone"})
			calls++
		case kind == last:
			continue // it would be the same message
		case kind == 2:
			events = append(events, model.Think(text[:cut]), model.Think(text[cut:]))
			r.Parts = append(r.Parts, model.Reasoning{TextContent: llms.TextContent{Text: text}, Provider: "p/m"})
		default:
			events = append(events, model.Text(text[:cut]), model.Text(text[cut:]))
			r.Parts = append(r.Parts, llms.TextContent{Text: text})
		}
		last = kind
	}
	switch end := d.roll(5); {
	case end == 4:
		return hangs(events...)
	case end < 2 || calls > 0:
		return broke(events...)
	case end == 2:
		events = nil // told all at once
	}
	return func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		for _, e := range events {
			if err := sink(e); err != nil {
				return nil, err
			}
		}
		return r, nil
	}
}
