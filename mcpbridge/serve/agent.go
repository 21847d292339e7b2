package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools"
)

// askAgent is the name of the tool that asks an [Asker].
const askAgent = "ask_agent"

var (
	//go:embed ask_agent.md
	askAgentText string
	//go:embed ask_agent.json
	askAgentInput json.RawMessage
	//go:embed ask_agent_output.json
	askAgentOutput json.RawMessage
)

// An Asker answers a prompt with a whole turn of an agent. It is safe for concurrent
// use.
type Asker interface {
	// Ask runs a turn, which the end of ctx cancels. Its error is as that of a tool.
	Ask(ctx context.Context, q Question, w Watcher) (Answer, error)
	// Effect returns all that a turn may do.
	Effect(ctx context.Context) (tools.Effect, error)
}

// A Question is what an agent is asked.
type Question struct {
	Prompt  string
	Session string // to go on with; "" begins one
}

// A Watcher hears of a turn while it runs. Its functions never block.
type Watcher struct {
	Text func(soFar string)         // the whole text of the answer, whenever there is more
	Does func(title string)         // what a tool that begins does
	Log  func(l Level, text string) // what the user should know
}

// An Answer is how a turn ended.
type Answer struct {
	Text    string
	Session string
	Stop    string // the reason, as ACP has it: end_turn, max_tokens, …
}

// withAgent is a desk that has ask_agent beside its own tools.
type withAgent struct {
	Desk
	asker Asker
}

// Tools implements [Desk].
func (d withAgent) Tools(ctx context.Context) ([]Tool, error) {
	all, err := d.Desk.Tools(ctx)
	if err != nil {
		return nil, err
	}
	effect, err := d.asker.Effect(ctx)
	return append(all, Tool{
		Name: askAgent, Title: "Ask the agent", Description: strings.TrimSpace(askAgentText),
		Input: askAgentInput, Output: askAgentOutput, Effect: effect,
	}), err
}

// Call implements [Desk].
func (d withAgent) Call(ctx context.Context, c Call) (Result, error) {
	if c.Tool != askAgent {
		return d.Desk.Call(ctx, c)
	}
	var in struct {
		Prompt  *string `json:"prompt"`
		Session string  `json:"session"`
	}
	if err := json.Unmarshal(c.Arguments, &in); err != nil || in.Prompt == nil || strings.TrimSpace(*in.Prompt) == "" {
		return Result{}, tools.Publicf("%s needs \"prompt\", a text with what the agent is asked; \"session\" is the id of a conversation to go on with", askAgent)
	}
	told := 0.0 // watchers are called from one goroutine
	tell := func(message string) {
		told++
		c.Progress(Progress{Done: told, Message: message})
	}
	a, err := d.asker.Ask(ctx, Question{*in.Prompt, in.Session}, Watcher{
		Text: func(soFar string) { tell(tail(soFar)) }, Does: tell, Log: c.Log,
	})
	if err != nil {
		return Result{}, err
	}
	return answered(a)
}

// maxTold is how many bytes of the text so far one progress message has.
const maxTold = 4 << 10

// tail returns the end of a text.
func tail(text string) string {
	if len(text) <= maxTold {
		return text
	}
	text = text[len(text)-maxTold:]
	for !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return "…" + text
}

// answered says what a turn gave: in blocks, and once more for programs.
func answered(a Answer) (Result, error) {
	data, err := json.Marshal(struct {
		Answer  string `json:"answer"`
		Session string `json:"session"`
		Stop    string `json:"stopReason"`
	}{a.Text, a.Session, a.Stop})
	if err != nil {
		return Result{}, fmt.Errorf("encoding an answer: %w", err)
	}
	return Result{Blocks: []Block{
		{Type: Text, Text: a.Text},
		{Type: Text, Text: fmt.Sprintf("session: %s\nstop reason: %s", a.Session, a.Stop)},
	}, Structured: data}, nil
}
