package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/require"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

// A talk is a scenario as the script reads it.
type talk struct {
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	URL      string `json:"url"`
	Model    string `json:"model"`
	Say      string `json:"say"`
	Result   string `json:"result"`
}

// An opinion is what a client made of a conversation.
type opinion struct {
	Name    string
	Answers []answer
	Error   string
}

// An answer is what a client assembled of a stream. Arguments are JSON in one
// spelling.
type answer struct {
	Text, Refusal, Think string
	Redacted             int
	Calls                []call
	Stop                 string
	Usage                *tokens
}

type call struct{ ID, Name, Args string }

type tokens struct{ Input, Output, Read, Write, Reasoning int }

// TestSecondOpinion compares what our clients assemble of streams with what those of
// the vendors do. Where they differ on purpose, deviations says why.
func TestSecondOpinion(t *testing.T) {
	node := require.Peer(t, require.NPM, abs(t, "node_modules/.bin/node"))
	require.Peer(t, require.NPM, abs(t, "node_modules/openai"))
	require.Peer(t, require.NPM, abs(t, "node_modules/@anthropic-ai/sdk"))
	var talks []talk
	var scenarios []modeltest.Scenario
	var servers []*modeltest.Server
	for _, p := range modeltest.Protocols() {
		if clientOf(p, "") == nil {
			continue // its vendor has no client here
		}
		for _, sc := range modeltest.Scenarios(p) {
			s := modeltest.New(t, sc.Replies...)
			scenarios, servers = append(scenarios, sc), append(servers, s)
			talks = append(talks, talk{p.Name + ": " + sc.Name, p.Name, p.URL(s), p.ID, sc.Say(), sc.Result()})
		}
	}
	theirs := vendors(t, node, talks)
	for i, sc := range scenarios {
		t.Run(talks[i].Name, func(t *testing.T) {
			ours := ourOpinion(t, sc)
			why, expected := deviations()[talks[i].Name]
			if sc.Protocol.Name == "openai-chat" {
				ours.forgetThoughts() // their client does not know of any
			}
			diff := cmp.Diff(plain(theirs[i]), plain(ours))
			switch {
			case diff == "" && expected:
				t.Errorf("we agree, although %s", why)
			case diff != "" && !expected:
				t.Errorf("(-theirs +ours):\n%s\ntheir error: %s\nour error: %s", diff, theirs[i].Error, ours.Error)
			}
			if !expected && !sc.Broken {
				sc.Check(t, servers[i]) // the server takes back what their client makes of its answers
			}
		})
	}
}

// vendors lets the clients of the vendors hold the conversations.
func vendors(t *testing.T, node string, talks []talk) []opinion {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), node, abs(t, "assemble.mjs"))
	cmd.Env = []string{"HOME=" + t.TempDir()}
	cmd.Stdin = strings.NewReader(modeltest.JSON(talks))
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, &diag)
	}
	var all []opinion
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var o opinion
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	if len(all) != len(talks) {
		t.Fatalf("%d conversations, want %d\n%s", len(all), len(talks), &diag)
	}
	return all
}

// clientOf is our client of a protocol, nil for one without a second opinion.
func clientOf(p modeltest.Protocol, url string) model.Streamer {
	d := model.Descriptor{Kind: p.Name, Provider: "test", ID: p.ID, BaseURL: url}
	switch p.Name {
	case "openai-chat":
		return openai.New(d, openai.Options{Key: "sk-test-123456"})
	case "openai-responses":
		return responses.New(d, responses.Options{Key: "sk-test-123456"})
	case "anthropic":
		return anthropic.New(d, anthropic.Options{Key: "sk-ant-123456"})
	}
	return nil
}

// ourOpinion holds a conversation with our client.
func ourOpinion(t *testing.T, sc modeltest.Scenario) opinion {
	t.Helper()
	s := modeltest.New(t, sc.Replies...)
	replies, err := sc.Hold(t, clientOf(sc.Protocol, sc.Protocol.URL(s)))
	sc.Check(t, s)
	var o opinion
	if err != nil {
		o.Error = err.Error()
	}
	for _, r := range replies {
		o.Answers = append(o.Answers, answerOf(r))
	}
	return o
}

func (o *opinion) forgetThoughts() {
	for i := range o.Answers {
		o.Answers[i].Think = ""
	}
}

func answerOf(r *model.Reply) answer {
	a := answer{Stop: r.RawStop}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			a.Text += p.Text
		case model.SignedText:
			a.Text += p.Text
		case model.Reasoning:
			a.Think += p.Text
			if p.Redacted != "" {
				a.Redacted++
			}
		case llms.ToolCall:
			a.Calls = append(a.Calls, call{p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments})
		case model.Extra:
			a.Calls = append(a.Calls, call{p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments})
		}
	}
	if u := r.Usage; u.Known {
		a.Usage = &tokens{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning}
	}
	return a
}

// plain is o without what two clients need not agree on: of a broken conversation
// that it is one, of arguments their spelling, of a refusal that it is text.
func plain(o opinion) opinion {
	if o.Error != "" {
		return opinion{Error: "broken"}
	}
	out := opinion{}
	for _, a := range o.Answers {
		a.Text, a.Refusal = a.Text+a.Refusal, ""
		var calls []call
		for _, c := range a.Calls {
			var v any
			d := json.NewDecoder(strings.NewReader(c.Args))
			if d.Decode(&v) == nil {
				c.Args = modeltest.JSON(v) // as JavaScript reads it: numbers are doubles
			}
			calls = append(calls, c)
		}
		a.Calls = calls
		out.Answers = append(out.Answers, a)
	}
	return out
}

// deviations tells where our clients differ from those of the vendors on purpose.
func deviations() map[string]string {
	const (
		madeUp  = "their client makes up ids that are longer than the 40 characters of the protocol"
		noIndex = "their client insists on an index for each piece; other servers leave it out or use it twice"
		noType  = "their client insists on a type for each call; other servers leave it out"
	)
	return map[string]string{
		"openai-chat: no ids":                   madeUp,
		"openai-chat: empty id":                 madeUp,
		"openai-chat: late id":                  "our client tells of a call as soon as it knows its name, under an id of its own",
		"openai-chat: no index":                 noIndex,
		"openai-chat: reused index":             noIndex,
		"openai-chat: no type":                  noType,
		"openai-chat: trailing delta":           noType,
		"openai-chat: repeated call":            "their client takes a call that comes again under another index for a second one",
		"openai-chat: typed content":            "their client knows content as a string only",
		"openai-responses: end of file":         "their client takes an answer that just ends for a whole one",
		"openai-responses: error in the stream": "their client hands out the failed response; to ours it is an error",
		"openai-responses: only items":          "their client insists on the event that begins an item",
		"openai-responses: empty output":        "their client believes the last event alone; ours keeps what came before",
		"openai-responses: summary parts":       "our client sets the parts of a summary apart",
		"anthropic: words without a count":      "their client insists on token counts; other servers tell none",
	}
}
