//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/oauth/oauthtest"
)

// posted returns the sessions that the messages to a server with an address named so far,
// "" of one that named none.
func (s *stub) posted() (sessions []string) {
	s.t.Helper()
	data, err := os.ReadFile(s.journal)
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var r struct {
			Event, Method string
			Header        http.Header
		}
		if err := json.Unmarshal([]byte(line), &r); err == nil && r.Event == "http" && r.Method == http.MethodPost { // else it is being written
			sessions = append(sessions, r.Header.Get("Mcp-Session-Id"))
		}
	}
	return sessions
}

// begunAnew checks that a server was begun with so many times, each time without the
// session before.
func (s *stub) begunAnew(times int) {
	s.t.Helper()
	ids := s.posted()
	without, begun := len(ids)-len(except(ids, "")), len(s.messages("initialize"))
	slices.Sort(ids)
	with := len(except(slices.Compact(ids), ""))
	if begun != times || without != 1+begun || with != times { // it is asked once what it speaks
		s.t.Errorf("%s was begun with %d times, in %d messages without a session, and there were %d sessions, want %d, one more, and %d",
			s.name, begun, without, with, times, times)
	}
}

// resultTexts returns what the model was given for the calls of its newest request.
func (e *editor) resultTexts(session string) (texts []string) {
	e.t.Helper()
	for _, r := range e.results(session) {
		text := r.Text
		if r.IsError {
			text = "error: " + text
		}
		texts = append(texts, text)
	}
	return texts
}

// missed returns what the user was told of servers in a session, but for waits, which
// depend on the machine.
func (e *editor) missed(session string) []string {
	e.t.Helper()
	return slices.DeleteFunc(e.notices(session), func(n string) bool { return strings.HasPrefix(n, "Waiting for MCP servers: ") })
}

// C089: a server forgets its session with the second call of each: it is begun anew
// without the old id, and its list is read again. A call that may have had effects is not
// made again, and the model is told that it may; one that only reads is.
func TestC089SessionExpires(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	site := e.webStub("http", "site", "-mode", "http-drop-session", "-count", "1")
	one := func(text string) string { return step("site_echo", object{"text": text}) }
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(
		one("first"), one("second"), one("third"), step("site_add", object{"a": 2, "b": 3}))))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(site)
	e.prompt(s, "go")
	const anew = "error: The MCP server site had forgotten the session, and the call was not run. It is reconnected: call again."
	if diff := cmp.Diff([]string{"first", anew, "third", "5"}, e.resultTexts(s)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"echo", "echo", "add"}, site.called()); diff != "" {
		t.Errorf("the server has run (-want +got):\n%s", diff)
	}
	site.begunAnew(3)
	if n := len(site.messages("tools/list")); n != 3 {
		t.Errorf("the list was read %d times, want 3", n)
	}
	if n := e.missed(s); len(n) > 0 {
		t.Errorf("the user is told %q, want nothing", n)
	}
	if got := e.untilServer(s, "site", "connected"); got.LastError != "" {
		t.Errorf("status = %+v", got)
	}
}

// C093: a server of the revision without a session tells changes to those alone who hold
// a stream of them; one with sessions pushes them; a third speaks neither. Both changes
// hold with the next message, and the third is the only one that is missing.
func TestC093ChangesOverHTTP(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	next := e.webStub("http", "next", "-revision", "2026-07-28", "-mode", "listchange,listen")
	past := e.webStub("http", "past", "-mode", "listchange")
	sse := e.webStub("sse", "sse", "-mode", "listchange")
	odd := e.webStub("http", "odd", "-mode", "future-version")
	all := []*stub{next, past, sse, odd}
	change := func(s *stub) string { return step(s.name+"_change", object{"tools": []string{"fresh"}}) }
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(change(next), change(past), change(sse), `{"text": "changed"}`,
		step("next_fresh", object{}), step("past_fresh", object{}), step("sse_fresh", object{}))))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(all...)
	e.prompt(s, "change")
	e.untilServers(s, "the new lists", func(now []serverStatus) bool {
		return !slices.ContainsFunc(now[:3], func(s serverStatus) bool { return len(s.Tools) != 2 })
	})
	e.prompt(s, "use what is new")
	if diff := cmp.Diff([]string{"changed", "changed", "changed", "fresh {}", "fresh {}", "fresh {}"}, e.resultTexts(s)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	for _, now := range e.statuses(s) {
		want := map[string]string{"next": "connected 2026-07-28", "past": "connected 2025-11-25", "sse": "connected 2025-11-25"}[now.Name]
		if got := now.State + " " + now.Revision; want != "" && got != want {
			t.Errorf("%s is %s, want %s", now.Name, got, want)
		}
	}
	if n := len(next.messages("subscriptions/listen")); n != 1 {
		t.Errorf("changes were asked for %d times, want once", n)
	}
	if n := len(past.messages("subscriptions/listen")) + len(sse.messages("subscriptions/listen")); n != 0 {
		t.Errorf("servers that push were asked for changes %d times", n)
	}
	if n := e.missed(s); len(n) != 1 || !strings.Contains(n[0], "MCP server odd did not connect") {
		t.Errorf("the user is told %q, want that one is missing", n)
	}
}

// reloads closes a session and loads it with the servers, n times.
func (e *editor) reloads(n int, session string, all ...*stub) {
	e.t.Helper()
	for range n {
		e.call("session/close", object{"sessionId": session}, nil)
		e.reconnects("session/load", session, all...)
	}
}

// C095: a session that is left and loaded again and again keeps its connection, whether
// it sends a message between or not.
func TestC095LoadsKeepTheConnection(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	next := e.webStub("http", "next", "-revision", "2026-07-28")
	past, sse := e.webStub("http", "past"), e.webStub("sse", "sse")
	all := []*stub{next, past, sse}
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(
		`{"text": "hello"}`, step("past_echo", object{"text": "a"}), step("next_echo", object{"text": "b"}), step("sse_echo", object{"text": "c"}))))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(all...)
	e.prompt(s, "hello")
	e.untilEvents(next, "the stream of changes", func([]stubEvent) bool { return len(next.messages("subscriptions/listen")) == 1 })
	e.reloads(30, s, all...)
	e.prompt(s, "call")
	if diff := cmp.Diff([]string{"a", "b", "c"}, e.resultTexts(s)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	for method, want := range map[string][3]int{"initialize": {0, 1, 1}, "tools/list": {5, 1, 1}, "subscriptions/listen": {1, 0, 0}} {
		for i, site := range all { // changes are told from a moment on, before which there may have been some; a load may cut off the reading of them
			if n := len(site.messages(method)); n == 0 && want[i] > 0 || n > want[i] {
				t.Errorf("%s got %s %d times, want %d", site.name, method, n, want[i])
			}
		}
	}
	// Another server is no reason to keep this one, nor is it that one.
	other := e.webStub("http", "past")
	e.reloads(1, s, other)
	e.untilConnected(s)
	if n := len(other.messages("initialize")); n != 1 {
		t.Errorf("another server was initialized %d times, want once", n)
	}
}

// C095: a server that is down is not contacted more often because its session comes and
// goes: there are the pauses of one that stays.
func TestC095LoadsDialNoMore(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	site := e.webStub("http", "site", "-mode", "http-503", "-count", "1000000")
	e.acp("--model", "script:"+e.file("script.jsonl", `{"text": "hello", "repeat": true}`))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(site)
	e.prompt(s, "hello")
	each := len(site.posted())
	began := time.Now()
	for range 30 {
		e.reloads(1, s, site)
		e.prompt(s, "hello again")
	}
	most, since := 1, time.Since(began)
	for pause := 500 * time.Millisecond; since > pause; pause *= 2 { // the shortest that there are
		most, since = most+1, since-pause
	}
	if n := len(site.posted()); each == 0 || n > most*each {
		t.Errorf("%d requests in %v, %d with the first attempt, want at most %d", n, time.Since(began), each, most*each)
	}
}

// gateway is an address in front of a server that lets through who has a token of an
// authorization server.
func gateway(t *testing.T, behind *stub, by *oauthtest.Server) (address string) {
	t.Helper()
	to, err := url.Parse(behind.url)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = ""
	through := httputil.NewSingleHostReverseProxy(to)
	through.FlushInterval = -1
	through.ErrorLog = quiet()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.CloseClientConnections)
	const document = "/.well-known/oauth-protected-resource/mcp"
	mux.HandleFunc(document, func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(object{"resource": s.URL + "/mcp", "authorization_servers": []string{by.Issuer()}})
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(by.Valid(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", s.URL+document))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		through.ServeHTTP(w, r)
	})
	return s.URL + "/mcp"
}

// C096: a server that only the editor declares wants a login before anything. The other
// works, and the user is told what to run. After that the next message begins with a
// fresh initialize and has its tools, and so have later ones.
func TestC096LoginBeforeInitialize(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	h := &loginHome{t: t, server: oauthtest.Start(oauthtest.Config{Lasts: 3600}), dir: e.home}
	t.Cleanup(h.server.Close)
	house, ant := e.webStub("http", "my house"), e.stub("ant")
	house.url = gateway(t, house, h.server)
	e.acp("--mode", "auto", "--log-level", "trace", "--model", "script:"+e.file("script.jsonl", steps(
		step("ant_echo", object{"text": "others work"}), `{"text": "hello"}`,
		step("my_house_echo", object{"text": "in"}), step("my_house_echo", object{"text": "still in"}))))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(house, ant)
	e.untilServer(s, "my house", "needs-login")
	e.prompt(s, "hello")
	want := "The MCP server my house needs a login; run lorimer mcp login " + house.url + "."
	if diff := cmp.Diff([]string{want}, e.missed(s)); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if n := len(house.events("message")); n != 0 {
		t.Errorf("%d messages came through before the login", n)
	}
	if code, _, lines := h.login(h.browse, house.url, "--no-browser"); code != 0 {
		t.Fatalf("exit code %d, standard error %q", code, lines)
	}
	e.prompt(s, "and now?")
	if diff := cmp.Diff([]string{"others work", "in", "still in"}, e.resultTexts(s)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	house.begunAnew(1)
	e.untilConnected(s)
}
