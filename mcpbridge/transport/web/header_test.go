package web_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// headersOf returns those that the protocol is about, and the own ones of these tests.
func headersOf(s seen) map[string]string {
	got := map[string]string{}
	for _, name := range []string{
		"Accept", "Content-Type", "Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region",
		"Last-Event-Id", "Authorization", "X-Key", "Idempotency-Key",
	} {
		if v := s.Header.Get(name); v != "" {
			got[name] = v
		}
	}
	return got
}

const both = "application/json, text/event-stream"

// With sessions a server is told the revision and the session once they are known. No
// header of the server's own can stand for one of the protocol.
func TestHeadersOfSessions(t *testing.T) {
	var f fake
	bubble(t, &f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{Headers: map[string]string{
			"x-key": "k", "accept": "text/html", "mcp-session-id": "mine", "Host": "other.test",
		}})
		params := json.RawMessage(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)
		if _, err := tr.Call(t.Context(), transport.Request{Method: "server/discover", Params: params}); err != nil {
			t.Fatal(err)
		}
		shake(t, tr)
		synctest.Wait() // for the server's own stream, which it has not
		for _, r := range []transport.Request{
			{Method: "tools/call", Name: "t", Headers: map[string]string{"Mcp-Param-Region": "eu"}},
			{Method: "initialize"},
		} {
			if _, err := tr.Call(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		shut(t, tr)
		var got []map[string]string
		for _, s := range f.requests("") {
			if s.Host != "other.test" {
				t.Errorf("host of %s %s = %q", s.Verb, s.Body, s.Host)
			}
			got = append(got, headersOf(s))
		}
		with := func(more ...string) map[string]string {
			h := map[string]string{"Accept": both, "Content-Type": "application/json", "X-Key": "k"}
			for i := 0; i < len(more); i += 2 {
				h[more[i]] = more[i+1]
			}
			return h
		}
		stream := map[string]string{"Accept": "text/event-stream", "X-Key": "k", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "s-1"}
		end := map[string]string{"Accept": both, "X-Key": "k", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "s-1"}
		want := []map[string]string{
			with("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"),
			with(),
			with("Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", "s-1"),
			stream,
			with("Mcp-Protocol-Version", "2025-11-25", "Mcp-Session-Id", "s-1"),
			with(),
			end,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
	})
}

// Without sessions each request says in its headers what it is, for those in between.
func TestHeadersWithoutSessions(t *testing.T) {
	f := &fake{answer: func(w http.ResponseWriter, _ *http.Request, m message) {
		w.Header().Set("Mcp-Session-Id", "s-1") // which nobody wants
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		reply(w, result(m, `{}`))
	}}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{})
		tr.Negotiated("2026-07-28")
		meta := json.RawMessage(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)
		requests := []transport.Request{
			{Method: "tools/list", Params: meta},
			{Method: "tools/call", Name: "t", Params: meta, Headers: map[string]string{"Mcp-Param-Region": "eu"}},
			{Method: "prompts/get", Name: "größe ", Params: meta},
			{Method: "resources/read", Name: "memo://1", Params: meta},
			{Method: "completion/complete", Name: "t", Params: meta},
		}
		for _, r := range requests {
			if _, err := tr.Call(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		if err := tr.Notify(t.Context(), "notifications/initialized", nil); err != nil {
			t.Fatal(err)
		}
		shut(t, tr)
		var got []map[string]string
		for _, s := range f.requests("") {
			got = append(got, headersOf(s))
		}
		with := func(more ...string) map[string]string {
			h := map[string]string{"Accept": both, "Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28"}
			for i := 0; i < len(more); i += 2 {
				h[more[i]] = more[i+1]
			}
			return h
		}
		want := []map[string]string{
			with("Mcp-Method", "tools/list"),
			with("Mcp-Method", "tools/call", "Mcp-Name", "t", "Mcp-Param-Region", "eu"),
			with("Mcp-Method", "prompts/get", "Mcp-Name", "=?base64?Z3LDtsOfZSA=?="),
			with("Mcp-Method", "resources/read", "Mcp-Name", "memo://1"),
			with("Mcp-Method", "completion/complete"),
			with("Mcp-Method", "notifications/initialized"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
	})
}
