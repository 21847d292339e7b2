package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// fill opens the database that a program with this state directory uses, and has
// f write to it.
func fill(state string, f func(context.Context, *store.Store) error) (err error) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(state, "lorimer.db"), store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return f(ctx, s)
}

// long writes a thread of n entries whose sizes are those of work on a program:
// of four, a short message, an answer that reads a file, 2 KB of it, and an answer
// of 1.5 KB.
func long(ctx context.Context, s *store.Store, id, cwd string, n int) error {
	if err := s.Create(ctx, id, thread.Created{Cwd: cwd}); err != nil {
		return err
	}
	var bodies []thread.Body
	for i := 0; len(bodies) < n-1; i++ {
		bodies = append(bodies, turn(i)...)
	}
	bodies = bodies[:n-1]
	for len(bodies) > 0 {
		part := bodies[:min(len(bodies), 500)]
		if _, err := s.Append(ctx, id, "", part...); err != nil {
			return err
		}
		bodies = bodies[len(part):]
	}
	return nil
}

// turn returns the entries of turn i.
func turn(i int) []thread.Body {
	words := func(n int) string { return strings.Repeat("words of turn ", n/14+1)[:n] }
	id := func(kind string) string { return fmt.Sprintf("%s-%d", kind, i) }
	path := fmt.Sprintf("/workspace/internal/part%d/file.go", i%40)
	input := json.RawMessage(fmt.Sprintf(`{"path":%q}`, path))
	said, read := words(200), words(2000)
	return []thread.Body{
		thread.User{MessageID: id("u"), Blocks: []event.Block{{Text: said}}, Sent: []thread.Part{{Text: said}}},
		thread.Assistant{
			MessageID: id("a"),
			Parts: []thread.Part{
				{ID: id("t"), Reasoning: &thread.Reasoning{Text: words(400), Provider: "house/m1", Signature: words(300)}},
				{ID: id("a"), Text: words(300)},
				{Call: &thread.Call{ID: id("c"), WireID: id("w"), Name: "read", Args: string(input), Provider: "house"}},
			},
			Usage: model.Usage{Input: 9000, Output: 200, Known: true}, Stop: model.StopTools, Model: "house/m1",
		},
		thread.Result{CallID: id("c"), Text: read, Shown: event.ToolCall{
			ID: id("c"), Name: "read", Title: "Read " + path, Kind: tools.KindRead, Status: event.Completed,
			Input: input, Locations: []tools.Location{{Path: path, Line: 1}}, Text: read,
		}},
		thread.Assistant{
			MessageID: id("b"), Parts: []thread.Part{{ID: id("b"), Text: words(1500)}},
			Usage: model.Usage{Input: 9600, Output: 400, Known: true}, Stop: model.StopEnd, Model: "house/m1",
		},
	}
}
