package modeltest

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A Scenario is a conversation that several tests hold, with our clients and with
// those that others wrote: the user says [Scenario.Say], and as long as the answer
// calls tools, [Scenario.Result] is sent for each call. All replies state their
// usage, so that it does not depend on how a client asks.
type Scenario struct {
	Name     string
	Protocol Protocol
	Replies  []Reply
	Asked    []string // what the last message of each request holds
	Broken   bool     // the first reply is no whole answer
}

// Say is what the user says.
func (Scenario) Say() string { return "go" }

// Result is the result of every call.
func (Scenario) Result() string { return "package ä" }

// Check reports requests that the server rejected or that are not those of the
// scenario.
func (s Scenario) Check(t testing.TB, from *Server) {
	t.Helper()
	recs := from.Requests()
	for i, r := range recs {
		switch {
		case r.Reject != "":
			t.Errorf("%s: request %d was rejected: %s", s.Name, i, r.Reject)
		case i < len(s.Asked) && !strings.Contains(r.Last, s.Asked[i]):
			t.Errorf("%s: request %d ends in %q, want %q in it", s.Name, i, r.Last, s.Asked[i])
		}
	}
	if len(recs) != len(s.Asked) {
		t.Errorf("%s: %d requests, want %d", s.Name, len(recs), len(s.Asked))
	}
}

// Hold holds the conversation with c and returns the answers. It ends with the
// first error, with what had arrived of that answer.
func (s Scenario) Hold(t testing.TB, c model.Streamer) ([]*model.Reply, error) {
	t.Helper()
	req := Ask(s.Say())
	req.System = ""
	var out []*model.Reply
	for {
		_, reply, err := Collect(t.Context(), c, req)
		if reply != nil {
			out = append(out, reply)
		}
		if err != nil {
			return out, err
		}
		n := 0
		for _, p := range reply.Parts {
			switch p.(type) {
			case llms.ToolCall, model.Extra:
				n++
			}
		}
		if n == 0 {
			return out, nil
		}
		results := make([]string, n)
		for i := range results {
			results[i] = s.Result()
		}
		req.Messages = append(req.Messages, Results(reply, results...)...)
	}
}

// Scenarios returns the conversations of a protocol: answers of every sort, broken
// ones, and one in each quirk.
func Scenarios(p Protocol) []Scenario {
	usage := &model.Usage{Input: 2006, Output: 300, CacheRead: 1920, CacheWrite: 64, Reasoning: 192, Known: true}
	step := full()
	step.Usage = usage
	done := Reply{Text: []string{"Done."}, Usage: &model.Usage{Input: 2500, Output: 3, Known: true}}
	words := Reply{Text: []string{"It is tür", "kçe", " 👍"}, Usage: usage}
	var out []Scenario
	one := func(name string, broken bool, r Reply) {
		out = append(out, Scenario{Name: name, Protocol: p, Replies: []Reply{r}, Asked: []string{"go"}, Broken: broken})
	}
	steps := func(name string, r Reply) {
		out = append(out, Scenario{Name: name, Protocol: p, Replies: []Reply{r, done}, Asked: []string{"go", "package ä"}})
	}
	with := func(r Reply, change func(*Reply)) Reply {
		r.Tools = append([]Tool(nil), r.Tools...)
		change(&r)
		return r
	}
	one("words", false, words)
	one("words after a thought", false, with(words, func(r *Reply) { r.Think = []string{"Hm", "m."} }))
	one("words without a count", false, with(words, func(r *Reply) { r.Usage = &model.Usage{} }))
	one("words up to the limit", false, with(words, func(r *Reply) { r.Stop = model.StopLength }))
	one("words that a filter ends", false, with(words, func(r *Reply) { r.Stop = model.StopRefusal }))
	steps("a thought, words, two calls", step)
	steps("a call alone", with(step, func(r *Reply) { r.Think, r.Text, r.Tools = nil, nil, r.Tools[:1] }))
	steps("a call without arguments", with(step, func(r *Reply) { r.Tools[0].Args = "{}" }))
	one("cut", true, with(words, func(r *Reply) { r.Cut = true }))
	one("end of file", true, with(words, func(r *Reply) { r.EOF = true }))
	one("error in the stream", true, with(words, func(r *Reply) { r.Error, r.Code = "busy", "server_error" }))
	one(string(MalformedEvent), true, with(words, func(r *Reply) { r.Quirk = MalformedEvent }))
	for _, q := range Quirks(p.Name) {
		steps(string(q), with(step, func(r *Reply) { r.Quirk = q }))
	}
	switch p.Name {
	case "openai-responses":
		one(string(IncompleteItem), false, with(words, func(r *Reply) { r.Quirk = IncompleteItem }))
		one(string(ErrorEvent), true, with(words, func(r *Reply) { r.Quirk, r.Error, r.Code = ErrorEvent, "busy", "server_error" }))
		fallthrough
	case "openai-chat":
		one(string(Refusal), false, with(words, func(r *Reply) { r.Quirk = Refusal }))
	}
	return out
}
