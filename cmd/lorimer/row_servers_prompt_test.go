//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const serversHeading = "Connected MCP servers"

// serverLines returns the servers that a system prompt lists.
func serverLines(system string) (lines []string) {
	for line := range strings.Lines(below(system, serversHeading)) {
		if line, ok := strings.CutPrefix(line, "- "); ok {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// Row 19 (R-MCP-15): the prompt lists the servers that have merged a tool, with how many:
// one with 1 tool, one with 3, and not the dead one. It makes no difference whether the
// editor or the user declares them.
func TestRow019ConnectedServers(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"the editor", "the user"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			all := []*stub{
				e.stub("Zoo", e.having("feed", "count", "open")...),
				e.stub("dead", "-mode", "die-at-start"),
				e.stub("empty", "-mode", "no-tools"),
				e.stub("ant", e.having("carry")...),
			}
			if who == "the user" {
				e.file(configFile, tables(all...))
				all = nil
			}
			e.acp("--model", "script:"+e.file("script.jsonl", always))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.connects(all...)
			if diff := cmp.Diff([]string{"ant (1 tool)", "zoo (3 tools)"}, serverLines(e.sent(s, "hello"))); diff != "" {
				t.Errorf("servers in the prompt (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"ant_carry", "zoo_count", "zoo_feed", "zoo_open"}, addsTo(e.lastRequest(s).Tools)); diff != "" {
				t.Errorf("tools of servers (-want +got):\n%s", diff)
			}
			lacks(t, "the prompt", e.lastRequest(s).System, "dead", "- empty")
		})
	}
}

// Row 19: without a server that has merged a tool the section is not there.
func TestRow019NoServers(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	for _, all := range [][]*stub{nil, {e.stub("dead", "-mode", "die-at-start"), e.stub("empty", "-mode", "no-tools")}} {
		s := e.connects(all...)
		lacks(t, fmt.Sprintf("the prompt beside %d servers", len(all)), e.sent(s, "hello"), serversHeading)
		if got := addsTo(e.lastRequest(s).Tools); len(got) > 0 {
			t.Errorf("tools of servers = %q beside %d servers", got, len(all))
		}
	}
}
