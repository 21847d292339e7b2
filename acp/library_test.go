package acp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// R-ACP-16, C015: following the cursor gives each session of a directory once,
// the last updated first.
func TestListPages(t *testing.T) {
	const n = 120
	store := memory.New(ticking(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)))
	var want []string
	for i := range n {
		for _, dir := range []string{"/a", "/b"} {
			if err := store.Create(t.Context(), fmt.Sprintf("s%d%s", i, dir[1:]), thread.Created{Cwd: dir}); err != nil {
				t.Fatal(err)
			}
		}
		want = append([]string{fmt.Sprintf("s%da", i)}, want...)
	}
	synctest.Test(t, func(t *testing.T) {
		e := acptest.Open(t, rig{threads: store}.serve(t))
		e.Say(initialize)
		e.Hear()
		var got []string
		cursor := "null"
		for range n {
			e.Say(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cwd":"/a/","cursor":` + cursor + `}}`)
			var page struct {
				Sessions []struct{ SessionID string }
				Next     json.RawMessage `json:"nextCursor"`
			}
			if err := json.Unmarshal(acptest.Answer(t, acptest.Messages(t, e.Hear()), "1").Result, &page); err != nil {
				t.Fatal(err)
			}
			for _, s := range page.Sessions {
				got = append(got, s.SessionID)
			}
			if cursor = string(page.Next); cursor == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
	})
}

// A request that names two sessions concerns the one in whose queue it stands: what
// it ends is what it deletes.
func TestTwoSessionIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		e := acptest.Open(t, rig{threads: store}.serve(t))
		dir := t.TempDir()
		e.Say(initialize, newSession("s", dir), newSession("other", dir))
		e.Say(`{"jsonrpc":"2.0","id":1,"method":"session/delete","params":{"sessionId":"s","sessionId":"other"}}`,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"../s","sessionId":"other","cwd":%q}}`, dir))
		ms := acptest.Messages(t, e.Hear())
		if m := acptest.Answer(t, ms, "1"); m.Error != nil {
			t.Errorf("delete: %+v", m.Error)
		}
		if m := acptest.Answer(t, ms, "2"); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("load of an id that is none: %+v, want -32602", m)
		}
		if _, err := store.Info(t.Context(), "s"); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("the first session: %v, want ErrNotFound", err)
		}
		if _, err := store.Info(t.Context(), "other"); err != nil {
			t.Errorf("the second session: %v", err)
		}
	})
}
