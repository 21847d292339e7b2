//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// prefixes returns the prefixes of servers in their order, as "lorimer mcp list" has them
// of those of the configuration, and the extension method of those of the editor. The
// two must agree.
func (e *editor) prefixes(servers ...string) (prefixes []string) {
	e.t.Helper()
	var all []*stub
	for _, name := range servers {
		all = append(all, e.stub(name))
	}
	e.file(configFile, tables(all...))
	var listed []serverStatus
	if err := json.Unmarshal([]byte(e.prints("mcp", "list", "--no-contact", "--json")), &listed); err != nil {
		e.t.Fatal(err)
	}
	e.file(configFile, "")
	var told []string
	for _, s := range e.statuses(e.connects(all...)) {
		told = append(told, s.Prefix)
	}
	for i, s := range listed {
		if s.Name != servers[i] {
			e.t.Errorf("server %d of the list is %q, want %q", i+1, s.Name, servers[i])
		}
		prefixes = append(prefixes, s.Prefix)
	}
	if diff := cmp.Diff(prefixes, told); diff != "" {
		e.t.Errorf("prefixes of %q (-of the configuration +of the editor):\n%s", servers, diff)
	}
	return prefixes
}

// Rows 83 and 84 (R-MCP-02, R-MCP-03): the prefix is made of the name of the server; one
// that is taken is counted upward, and what comes of that is taken too, whoever comes
// first.
func TestRow083Row084Prefixes(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	for _, tt := range []struct{ servers, want []string }{
		{[]string{"My  Server!", "___"}, []string{"my_server", "mcp"}},
		{[]string{"日本", "A--B", "Ünter", " (x) ", "2FA", "a__b"}, []string{"mcp", "a_b", "nter", "x", "2fa", "a_b_2"}},
		{[]string{"Render", "render", "Render 2"}, []string{"render", "render_2", "render_2_2"}},
		{[]string{"Render 2", "Render", "render"}, []string{"render_2", "render", "render_3"}},
		{[]string{"x", "X", "x 2", "x 2 2", "x!"}, []string{"x", "x_2", "x_2_2", "x_2_2_2", "x_3"}},
		{[]string{"", "日本", "-", "a"}, []string{"mcp", "mcp_2", "mcp_3", "a"}},
		{[]string{"mcp", "___", "!!!", "mcp 2"}, []string{"mcp", "mcp_2", "mcp_3", "mcp_2_2"}},
	} {
		if diff := cmp.Diff(tt.want, e.prefixes(tt.servers...)); diff != "" {
			t.Errorf("prefixes of %q (-want +got):\n%s", tt.servers, diff)
		}
	}
}

// Row 84: the prefix of a server is its own while nobody can reach it, and while it is
// switched off.
func TestRow084ReservedWithoutContact(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	off, dead, live := e.stub("Render"), e.stub("render", "-mode", "die-at-start"), e.stub("Render 2", e.having("draw")...)
	e.file(configFile, off.table("disabled = true")+tables(dead, live))
	e.acp("--model", "script:"+e.file("script.jsonl", always))
	s := e.open(nil)
	if diff := cmp.Diff([]string{"render_2_2_draw"}, addsTo(e.offered(s))); diff != "" {
		t.Errorf("tools of servers (-want +got):\n%s", diff)
	}
	var got []string
	for _, s := range e.statuses(s) {
		got = append(got, s.Prefix+" "+s.State)
	}
	if len(got) != 3 || got[0] != "render disabled" || got[2] != "render_2_2 connected" {
		t.Errorf("servers = %q", got)
	}
	if n := len(off.events()); n > 0 {
		t.Errorf("the server that is off has been started: %+v", off.events())
	}
}

// Row 85 (R-MCP-05): of two tools with one name the first is offered, that of the server
// that comes first, and the user and the log are told the owners of both, once.
func TestRow085FirstWins(t *testing.T) {
	t.Parallel()
	for _, turned := range []bool{false, true} {
		t.Run(fmt.Sprintf("turned %v", turned), func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			all := []*stub{
				e.stub("A", append(e.having("b_c", "own"), "-delay", "50ms")...), // it answers last
				e.stub("a b", e.having("c", "too")...),
			}
			if turned {
				slices.Reverse(all)
			}
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(step("a_b_c", object{}), `{"text": "fine", "repeat": true}`)))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.connects(all...)
			e.prompt(s, "go")
			e.prompt(s, "again")
			if diff := cmp.Diff([]string{"a_b_c", "a_b_too", "a_own"}, addsTo(e.lastRequest(s).Tools)); diff != "" {
				t.Errorf("tools of servers (-want +got):\n%s", diff)
			}
			if n, m := len(all[0].called()), len(all[1].called()); n != 1 || m != 0 {
				t.Errorf("the first server was called %d times and the second %d, want the first alone", n, m)
			}
			told := e.notices(s)
			if len(told) != 1 {
				t.Fatalf("notices = %q, want one", told)
			}
			holds(t, "the notice", told[0], "MCP server "+all[0].name, all[1].name, "a_b_c")
			e.leave()
			if log := e.stderr.String(); strings.Count(log, "a_b_c;") != 1 || !strings.Contains(log, told[0]) {
				t.Errorf("the log does not tell the same, once:\n%s", log)
			}
		})
	}
}

// Row 85: a tool of this program comes before one of a server.
func TestRow085OwnToolsWin(t *testing.T) {
	t.Parallel()
	e := edit(t, always, "--mode", "auto")
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(e.stub("ask", e.having("user", "friend")...))
	e.prompt(s, "go")
	e.prompt(s, "again")
	if got, want := e.lastRequest(s).Tools, slices.Sorted(slices.Values(append(allTools(), "ask_friend"))); !slices.Equal(got, want) {
		t.Errorf("tools = %q, want %q", got, want)
	}
	told := e.notices(s)
	if len(told) != 1 {
		t.Fatalf("notices = %q, want one", told)
	}
	holds(t, "the notice", told[0], "MCP server ask", "ask_user", "lorimer")
	if diff := cmp.Diff([]string{"ask (1 tool)"}, serverLines(e.lastRequest(s).System)); diff != "" {
		t.Errorf("servers in the prompt (-want +got):\n%s", diff)
	}
}

// legal is what every provider takes as the name of a tool.
func legal() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`) }

// callsOf returns a script that calls each tool with its name as the argument.
func callsOf(names []string) string {
	var calls []string
	for _, name := range names {
		calls = append(calls, step(name, object{"as": name}))
	}
	return steps(append(calls, `{"text": "fine", "repeat": true}`)...)
}

// calledAs returns the arguments that a server was called with, by its own names of the
// tools.
func (s *stub) calledAs() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for _, ev := range s.messages("tools/call") {
		var p struct {
			Name      string
			Arguments struct{ As string }
		}
		if err := json.Unmarshal(ev.Message.Params, &p); err != nil {
			s.t.Fatal(err)
		}
		all[p.Name] = p.Arguments.As
	}
	return all
}

// named connects the servers, calls every tool that they have under the name that the
// model is told, and returns what each server was called by.
func named(t *testing.T, servers ...[]string) (offered []string, calls []map[string]string) {
	t.Helper()
	e := newEditor(t)
	var all []*stub
	for _, s := range servers {
		all = append(all, e.stub(s[0], e.having(s[1:]...)...))
	}
	e.file(configFile, tables(all...))
	var listed []serverStatus
	if err := json.Unmarshal([]byte(e.prints("mcp", "list", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	for _, s := range listed {
		offered = append(offered, s.Tools...)
	}
	slices.Sort(offered)
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", callsOf(offered)))
	s := e.open(nil)
	e.prompt(s, "go")
	for _, r := range e.results(s) {
		if r.IsError {
			t.Errorf("the call of %s fails: %s", r.Name, r.Text)
		}
	}
	if diff := cmp.Diff(offered, addsTo(e.lastRequest(s).Tools)); diff != "" {
		t.Errorf("tools of servers (-in the list +in the request):\n%s", diff)
	}
	for _, name := range offered {
		if !legal().MatchString(name) {
			t.Errorf("%q is no name that every provider takes", name)
		}
	}
	if distinct := slices.Compact(slices.Clone(offered)); len(distinct) != len(offered) {
		t.Errorf("tools = %q, some are equal", offered)
	}
	for _, s := range all {
		calls = append(calls, s.calledAs())
	}
	return offered, calls
}

// Row 216 (R-MCP-04, R-MCP-06): tools of one name of two servers stay apart, and one
// with dots and 90 characters has a legal name; each is called at its server by the name
// that it has there.
func TestRow216LegalAndDistinct(t *testing.T) {
	t.Parallel()
	long := "render.services." + strings.Repeat("list_every_", 6) + "one.of.them"
	if len(long) < 90 {
		long += strings.Repeat("x", 90-len(long))
	}
	twin := long[:89] + "Y"
	offered, calls := named(t,
		[]string{"Render", "list_services", long, twin, "a.b", "a/b", "a b", "a_b", "ünï", "ö", "é"},
		[]string{"render", "list_services", long},
	)
	if len(offered) != 12 || !slices.Contains(offered, "render_list_services") || !slices.Contains(offered, "render_2_list_services") {
		t.Errorf("tools = %q", offered)
	}
	for i, want := range [][]string{{"list_services", long, twin, "a.b", "a/b", "a b", "a_b", "ünï", "ö", "é"}, {"list_services", long}} {
		for _, name := range want {
			if as := calls[i][name]; !slices.Contains(offered, as) {
				t.Errorf("server %d was not called by %q: %q", i+1, name, calls[i])
			}
		}
		if len(calls[i]) != len(want) {
			t.Errorf("server %d was called by %q, want %q", i+1, calls[i], want)
		}
	}
	if calls[0]["list_services"] != "render_list_services" || calls[1]["list_services"] != "render_2_list_services" || calls[0]["a_b"] != "render_a_b" {
		t.Errorf("legal names were changed: %q", calls)
	}
}

// C087 (R-MCP-06): names that are too long, have other characters, or begin with a digit
// become legal ones, which are the same in every run and lead back to the tool.
func TestC087NamesForProviders(t *testing.T) {
	t.Parallel()
	sixty := strings.Repeat("list_all_of_", 5)
	azure := []string{"My Azure: Tools (prod)", sixty, sixty[:59] + "X", "a.b/c", "9lives", "_", "."}
	digits := []string{"365", "mail", sixty, "9lives"}
	endless := []string{strings.Repeat("Long name ", 12), "go", "stop"}
	first, calls := named(t, azure, digits, endless)
	for i, names := range [][]string{azure[1:], digits[1:], endless[1:]} {
		for _, name := range names {
			if !slices.Contains(first, calls[i][name]) {
				t.Errorf("server %d was not called by %q: %q", i+1, name, calls[i])
			}
		}
	}
	for name, want := range map[string]string{
		"my_azure_tools_prod_9lives": calls[0]["9lives"],
		"_365_mail":                  calls[1]["mail"],
		"_365_9lives":                calls[1]["9lives"],
	} {
		if name != want {
			t.Errorf("the model is told %q, want %q", want, name)
		}
	}
	if !strings.HasPrefix(calls[0]["a.b/c"], "my_azure_tools_prod_a_b_c_") || !strings.HasPrefix(calls[0][sixty], "my_azure_tools_prod_list_all_of_") {
		t.Errorf("names that were adjusted are not readable: %q", calls[0])
	}
	again, _ := named(t, azure, digits, endless)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("names of another run (-first +again):\n%s", diff)
	}
}
