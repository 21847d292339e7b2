package harness

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/harness/internal/served"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// What the model is told in the place of something that it cannot read.
//
//go:embed text/unfit.md
var unfitText string

const (
	maxPrompt  = 128 << 10   // bytes of a prompt of a server that the model reads
	promptWait = time.Second // for the prompts of a server that has just connected
)

// promptCommands lists prompts of servers as commands, without those whose names are
// taken.
func promptCommands(all []server.Prompt, taken []Command) []Command {
	var out []Command
	for _, p := range all {
		if slices.ContainsFunc(taken, func(c Command) bool { return c.Name == p.Command }) {
			continue
		}
		description := tools.Line(p.Description, maxDescription)
		if description == "" {
			description = tools.Line("The prompt "+p.Name+" of "+p.Server, maxDescription)
		}
		out = append(out, Command{Name: p.Command, Description: description, Hint: served.Hint(p.Arguments)})
	}
	return out
}

// prompted looks at the prompts of the servers, and tells if Commands says something
// else for them.
func (s *Session) prompted() {
	list := promptCommands(s.spec.Servers.Prompts(), s.builtin())
	s.mu.Lock()
	same := s.closed || slices.Equal(list, s.prompts)
	if !same {
		s.prompts = list
	}
	s.mu.Unlock()
	if !same && s.spec.Changed != nil {
		s.spec.Changed()
	}
}

// An expansion is what a server has made of the prompt that a message asks for.
type expansion struct {
	note     prompt.Note
	pictures []thread.Part
}

// A refusal is what the user is told where the prompt of a message is not to be had. No
// model is asked then (R-ACP-29).
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// expand has a server fill in the prompt that the message asks for, if it does. It fails
// with a [*refusal]. A message that is answered anew keeps what it was sent as then,
// where the prompt is not to be had any more.
func (t *turn) expand(ctx context.Context) error {
	set := t.s.spec.Servers
	name, words, ok := slash(t.in.Blocks)
	if !ok || set == nil || t.shape == prompt.Stateless {
		return nil
	}
	err := t.absent(name)
	if p, ok := t.promptOf(ctx, name); ok {
		err = t.fillIn(ctx, p, words)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return nil
	case t.in.Retry:
		t.asSent = true
		return nil
	}
	if _, ok := err.(*tools.PublicError); !ok {
		t.log.Warn().Err(err).Str("command", name).Msg("a prompt is not filled in")
	}
	return &refusal{tools.ErrorText(err)}
}

// promptOf returns the prompt of a command. Those of a server are read after its tools,
// and so may come a moment after the message.
func (t *turn) promptOf(ctx context.Context, command string) (server.Prompt, bool) {
	set := t.s.spec.Servers
	news := make(chan struct{}, 1)
	stop := set.Watch(func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	defer stop()
	within, cancel := context.WithTimeout(ctx, promptWait)
	defer cancel()
	for {
		all := set.Prompts()
		if i := slices.IndexFunc(all, func(p server.Prompt) bool { return p.Command == command }); i >= 0 {
			return all[i], true
		}
		if !t.unread(command) {
			return server.Prompt{}, false
		}
		select {
		case <-news:
		case <-within.Done():
			return server.Prompt{}, false
		}
	}
}

// unread reports whether a command would be a prompt of a server that is connected and
// of which none is known.
func (t *turn) unread(command string) bool {
	return slices.ContainsFunc(t.s.Servers(), func(s server.Status) bool {
		return s.State == server.Connected && s.Prompts == 0 && strings.HasPrefix(command, s.Prefix+"_")
	})
}

// absent says why there is no prompt of a name that would be that of a server; nil is
// that it would not, or that the server is there and has no such prompt. It did have it
// where the message is answered anew.
func (t *turn) absent(name string) error {
	for _, s := range t.s.Servers() {
		if !strings.HasPrefix(name, s.Prefix+"_") || s.State == server.Connected && !t.in.Retry {
			continue
		}
		why := string(s.State)
		if s.LastError != "" {
			why += ": " + s.LastError
		}
		return tools.Publicf("/%s would be a prompt of the MCP server %s, which is not connected (%s). /mcp tells how the servers stand.",
			tools.Line(name, maxNamed), tools.Line(s.Name, maxNamed), why)
	}
	return nil
}

// fillIn has the server of p fill it in.
func (t *turn) fillIn(ctx context.Context, p server.Prompt, words string) error {
	given := served.Arguments(words, p.Arguments)
	if missing := served.Missing(given, p.Arguments); missing != "" {
		return tools.Publicf("/%s needs the argument %s. Write /%s %s.", p.Command, missing, p.Command, served.Hint(p.Arguments))
	}
	parts, err := t.s.spec.Servers.Prompt(ctx, p.Command, given)
	if err != nil {
		return err
	}
	messages, pictures := t.readable(p.Command, parts)
	if len(messages) == 0 {
		return tools.Publicf("The prompt /%s of the MCP server %s is empty.", p.Command, tools.Line(p.Server, maxNamed))
	}
	t.expansion = expansion{prompt.PromptNote(p.Server, p.Name, messages), pictures}
	return nil
}

// readable returns what the model gets of parts: texts, as long as there is room, and
// the pictures that it can see, likewise.
func (t *turn) readable(command string, parts []server.Part) (messages []prompt.Message, pictures []thread.Part) {
	left, room := maxPrompt, maxPictured
	for _, p := range parts {
		m := prompt.Message{Role: p.Role, URI: p.URI, Text: valid(p.Text)}
		if len(p.Data) > 0 {
			mime := model.PictureType(p.MIME, p.Data)
			if t.snap.Model.Sees(mime) && len(p.Data) <= room {
				room -= len(p.Data)
				img := &tools.Image{MIME: mime, Data: p.Data}
				pictures = append(pictures, thread.Part{Image: img, Name: fmt.Sprintf("/%s %d", command, len(pictures)+1)})
			}
			m.Text = unfit(mime, len(p.Data))
		}
		if m.Text == "" || left <= 0 {
			continue
		}
		m.Text = shorten(m.Text, max(left, 100))
		left -= len(m.Text)
		messages = append(messages, m)
	}
	return messages, pictures
}

// unfit stands for data that is no text.
func unfit(mime string, size int) string {
	return strings.NewReplacer("TYPE", tools.Line(mime, maxNamed), "SIZE", strconv.Itoa(size)).Replace(strings.TrimSpace(unfitText))
}
