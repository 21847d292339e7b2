//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// toolsOn returns the tools of a request of OpenAI's, as it sends them.
func toolsOn(t *testing.T, body []byte) json.RawMessage {
	t.Helper()
	var r struct{ Tools json.RawMessage }
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	return r.Tools
}

// C123 (R-PROMPT-20, R-MCP-10, R-MCP-13, R-HARN-14): three servers that take a different
// time to start in each of four sessions, of two agents: what is sent is the same. Then
// one dies and comes back: the tools of the others stay where they are, the same request
// as before has the same tools again, and no older message is written anew.
func TestC123ServersStartAnyhow(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]string{
		"by name":  "",
		"in order": "tool_order = [\"pen_write\", \"<unlisted-tools>\", \"bash\", \"ant_carry\"]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			m.Add(
				modeltest.Reply{Match: "use", Tools: []modeltest.Tool{{ID: "call_1", Name: "pen_write", Args: "{}"}, {ID: "call_2", Name: "zoo_feed", Args: "{}"}}, Repeat: -1},
				modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			e := newEditor(t)
			delays := [][]string{{"0s", "40ms", "90ms"}, {"90ms", "0s", "40ms"}, {"40ms", "90ms", "0s"}, {"90ms", "40ms", "0s"}}
			var last string // session
			var pen *stub
			for i, delay := range delays {
				if i%2 == 0 {
					if i > 0 {
						e.leave()
						e = e.another()
					}
					e.env = nil
					e.reaches(m)
					e.file(configFile, order)
					e.acp("--model", gpt, "--mode", "auto", "--clock", "2026-11-30T09:15:00Z", "--tz", "UTC")
					e.call("initialize", object{"protocolVersion": 1}, nil)
				}
				last = []string{"one", "two"}[i%2]
				pen = e.gated("pen", append(e.having("write", "erase", "draw"), "-delay", delay[1])...)
				all := []*stub{e.stub("zoo", append(e.having("open", "feed"), "-delay", delay[0])...), pen, e.stub("ant", append(e.having("carry"), "-delay", delay[2])...)}
				e.call("session/new", object{"cwd": e.cwd, "mcpServers": sent(all...), "_meta": namespaced("sessionId", last)}, nil)
				e.prompt(last, "use them")
			}
			requests := m.Requests()
			if len(requests) != 8 || len(m.Rejected()) > 0 {
				t.Fatalf("%d requests, rejected: %q; want 8", len(requests), m.Rejected())
			}
			for i, r := range requests {
				want := requests[i%2].Body
				if i/2%2 == 1 { // of the other session, whose id may be in it
					want = bytes.ReplaceAll(want, []byte(`"one"`), []byte(`"two"`))
				}
				if !bytes.Equal(want, r.Body) {
					t.Errorf("request %d differs from request %d (-it +this):\n%s", i+1, i%2+1, cmp.Diff(string(want), string(r.Body)))
				}
			}

			pen.shut()
			pen.kill()
			e.untilServer(last, "pen", "connecting")
			e.prompt(last, "and without one?")
			pen.reopen()
			e.untilConnected(last)
			e.prompt(last, "and with all?")
			traced := e.requests(last)
			with, without := traced[0].Tools, traced[2].Tools
			if diff := cmp.Diff(except(with, "pen_write", "pen_erase", "pen_draw"), without); diff != "" {
				t.Errorf("tools without a server (-want +got):\n%s", diff)
			}
			for i, r := range traced[1:] {
				before := traced[i].Messages
				if diff := cmp.Diff(before, r.Messages[:len(before)]); diff != "" {
					t.Errorf("older messages changed (-before +after):\n%s", diff)
				}
			}
			if r := traced[3]; r.System != traced[0].System || !slices.Equal(r.Tools, with) || r.Signature != traced[0].Signature {
				t.Errorf("with the server again the prompt or the tools differ: %q, want %q", r.Tools, with)
			}
			bodies := m.Requests()
			if got := m.Rejected(); len(bodies) != 10 || len(got) > 0 {
				t.Fatalf("%d requests, rejected: %q; want 10", len(bodies), got)
			}
			if got, want := toolsOn(t, bodies[9].Body), toolsOn(t, bodies[6].Body); !bytes.Equal(got, want) || len(want) == 0 {
				t.Errorf("the tools with the server again (-before +again):\n%s", cmp.Diff(string(want), string(got)))
			}
			if diff := cmp.Diff([]string{"built", changed, changed}, e.changes(last)); diff != "" {
				t.Errorf("harnesses (-want +got):\n%s", diff)
			}
			if n := len(e.results(last)); n != 2 {
				t.Errorf("the last request has %d results, want 2", n)
			}
			holds(t, "the notices", strings.Join(e.notices(last), "\n"), "MCP server pen did not connect")
			if n := len(e.notices(last)); n != 1 {
				t.Errorf("notices = %q, want one", e.notices(last))
			}
		})
	}
}
