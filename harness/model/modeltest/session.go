package modeltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// Converse goes on with req for a number of turns, each a step of two calls and an
// answer, and returns how many tokens came from the cache.
func Converse(t testing.TB, s *Server, c model.Streamer, req *model.Request, turns int) (cached int) {
	t.Helper()
	for turn := range turns {
		s.Add(Reply{Think: []string{"hm"}, Text: []string{"I look."}, Tools: []Tool{{Name: "read", Args: `{"b":1, "a":2}`}, {Name: "grep", Args: "{}"}}},
			Reply{Text: []string{"Done."}})
		for range 2 {
			_, reply, err := Collect(t.Context(), c, req)
			if err != nil {
				t.Fatalf("%v in %q", err, s.Rejected())
			}
			req.Messages = append(req.Messages, Results(reply, "result 1", "")...)
			cached += reply.Usage.CacheRead
		}
		req.Messages = append(req.Messages, llms.TextParts(llms.ChatMessageTypeHuman, fmt.Sprintf("turn %d", turn+1)))
	}
	return cached
}

// Prefixes checks that each request begins with the raw bytes of the one before
// it, up to end, where what a step may change begins (R-HARN-14).
func Prefixes(t testing.TB, requests []Record, end string) {
	t.Helper()
	if len(requests) < 2 {
		t.Fatalf("%d requests, want some to compare", len(requests))
	}
	for i := 1; i < len(requests); i++ {
		before, _, _ := strings.Cut(string(requests[i-1].Body), end)
		if !strings.HasPrefix(string(requests[i].Body), strings.TrimSuffix(before, "]}")) {
			t.Fatalf("request %d does not begin with request %d:\n%.2000s\n%.2000s", i, i-1, requests[i].Body, before)
		}
	}
}
