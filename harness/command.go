package harness

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// What the user reads for a command.
var (
	//go:embed text/help.md
	helpText string
	//go:embed text/usage.md
	usageText string
	//go:embed text/usage-part.md
	usagePartText string
)

// A Command is something that a user asks of the program and not of the model,
// as a message that begins with a slash (R-ACP-14, R-ACP-29).
type Command struct {
	Name        string // without the slash
	Description string
	Hint        string // what may follow the name, for people; "" is nothing
}

// A command is a [Command] with what it does. Run is one turn of the session,
// and returns how it ended.
type command struct {
	Command
	run func(ctx context.Context, t *turn, words string) (Stop, error)
}

// commands lists the commands of a session, in the order to show them.
func (s *Session) commands() []command {
	all := []command{
		{Command{Name: "retry", Description: "Answer the last message anew"}, retryCommand},
		{Command{Name: "usage", Description: "Show what this session has used so far"}, usageCommand},
	}
	if s.serves {
		all = append(all,
			command{Command{Name: "mcp", Description: "Show how the MCP servers stand"}, serversCommand},
			command{Command{Name: "resources", Description: "List what the MCP servers have to attach"}, resourcesCommand})
	}
	return append(all, command{Command{Name: "help", Description: "List the commands"}, helpCommand})
}

// builtin lists the commands without the skills and the prompts of servers.
func (s *Session) builtin() []Command {
	var out []Command
	for _, c := range s.commands() {
		out = append(out, c.Command)
	}
	return out
}

// Commands lists what the user can begin a message with at the moment, in the order
// to show it: the commands of the session, then its skills, which go to the model as
// the user has written them, and the prompts of its MCP servers (R-ACP-14).
func (s *Session) Commands() []Command {
	s.mu.Lock()
	skills, prompts := s.skills, s.prompts
	s.mu.Unlock()
	return slices.Concat(s.builtin(), skills, prompts)
}

// command finds the command that a message asks for, and the words after its
// name. Editors put blocks of their own before what the user has typed, so it is
// the last block of text that counts (R-ACP-37). What names no command is a
// message for the model (C013), and so is one with words that the command would
// drop.
func (s *Session) command(in Input) (run func(context.Context, *turn) (Stop, error), ok bool) {
	name, words, ok := slash(in.Blocks)
	if !ok {
		return nil, false
	}
	for _, c := range s.commands() {
		if c.Name == name && (words == "" || c.Hint != "") {
			return func(ctx context.Context, t *turn) (Stop, error) { return c.run(ctx, t, words) }, true
		}
	}
	return nil, false
}

// slash returns the name and the words of a message of the form "/name words".
func slash(blocks []event.Block) (name, words string, ok bool) {
	last := ""
	for _, b := range blocks {
		if b.URI == "" && b.MIME == "" && b.Text != "" {
			last = b.Text
		}
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(last), "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexAny(rest, " \t\r\n")
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], strings.TrimSpace(rest[end:]), end > 0
}

// reply answers a command. Nothing is stored and no model is asked: the answer
// is a message of its own (R-ACP-29).
func (t *turn) reply(text string) (Stop, error) {
	id := "m-" + strings.ToLower(rand.Text())
	if err := t.out.emit(event.Text{MessageID: id, Text: strings.TrimSpace(text)}); err != nil {
		return "", err
	}
	return EndTurn, t.out.emit(event.Done{MessageID: id})
}

// retryCommand is /retry (R-HARN-26).
func retryCommand(ctx context.Context, t *turn, _ string) (Stop, error) {
	t.in = Input{MessageID: t.in.MessageID, Retry: true, Choice: t.in.Choice}
	stop, err := t.run(ctx)
	if errors.Is(err, ErrNoEntry) {
		return t.reply("There is no message in this session that could be answered anew.")
	}
	return stop, err
}

// helpCommand is /help.
func helpCommand(_ context.Context, t *turn, _ string) (Stop, error) {
	var list strings.Builder
	for _, c := range t.s.Commands() {
		fmt.Fprintf(&list, "- `/%s` %s\n", strings.TrimSpace(c.Name+" "+c.Hint), c.Description)
	}
	return t.reply(strings.Replace(helpText, "LIST", strings.TrimSpace(list.String()), 1))
}

// spending is what the answers of a thread have cost.
type spending struct {
	answers int
	usage   model.Usage
	partial bool // the cost of some answer is not known
}

func (s *spending) add(e thread.Entry) {
	switch b := e.Body.(type) {
	case thread.Assistant:
		s.answers++
		if !b.Usage.Known {
			s.partial = true
			return
		}
		s.usage = s.usage.Add(b.Usage)
	case thread.Result: // of a server that had the model answer
		s.partial = s.partial || b.Usage != (model.Usage{}) && !b.Usage.Known
		if b.Usage.Known {
			s.usage = s.usage.Add(b.Usage)
		}
	}
}

// usageCommand is /usage. Answers that were given anew count, as they did cost.
func usageCommand(ctx context.Context, t *turn, _ string) (Stop, error) {
	var s spending
	err := t.o.Threads.Read(ctx, t.s.id, 0, func(e thread.Entry) error {
		s.add(e)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading the thread: %w", err)
	}
	text := strings.TrimSpace(usageText)
	if s.partial {
		text += "\n\n" + usagePartText
	}
	return t.reply(strings.NewReplacer(
		"ANSWERS", strconv.Itoa(s.answers), "INPUT", strconv.Itoa(s.usage.Input),
		"CACHED", strconv.Itoa(s.usage.CacheRead), "OUTPUT", strconv.Itoa(s.usage.Output),
		"MODEL", t.choice.Model,
	).Replace(text))
}
