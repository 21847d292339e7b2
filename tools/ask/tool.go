package ask

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools"
)

// What the model reads: the description, and what it is told beside the answers.
var (
	//go:embed ask_user.md
	description string
	//go:embed ask_user.json
	inputSchema []byte
	//go:embed unasked.md
	askYourself string
	//go:embed unanswered.md
	unanswered string
)

// Marks in what the model reads.
const (
	noResponse = "(no response)"
	cutMark    = " [cut]"
)

const maxOption = 200 // characters of an option, as the schema has it

type input struct {
	Questions []struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
		Multiple bool     `json:"multiple"`
	} `json:"questions"`
}

// questions returns what is asked, in a form in which all of it shows. The error
// is for the model.
func (in input) questions(reveal Revealer) ([]Question, error) {
	var list []Question
	for i, x := range in.Questions {
		q := Question{Text: tools.Visible(reveal(strings.TrimSpace(x.Question)))}
		if q.Text == "" {
			return nil, tools.Publicf("question %d is empty; write what the user should decide", i+1)
		}
		for _, o := range x.Options {
			o = tools.Line(reveal(strings.Join(strings.Fields(o), " ")), maxOption)
			switch {
			case o == "":
				return nil, tools.Publicf("an option of question %d is empty; leave it out", i+1)
			case slices.Contains(q.Options, o):
				return nil, tools.Publicf("question %d has the option %q twice; give each once", i+1, o)
			}
			q.Options = append(q.Options, o)
		}
		q.Multiple = x.Multiple && len(q.Options) > 0
		list = append(list, q)
	}
	return list, nil
}

// A tool is ask_user.
type tool struct {
	asker  Asker
	reveal Revealer
	free   chan struct{} // holds a token while no question is open
}

// New returns the tool ask_user (M-11). A nil asker cannot ask. The user has one
// form at a time, however many calls there are. What does not show in a question or
// an option is written out by reveal, for the user and for the model alike.
func New(a Asker, reveal Revealer) tools.Tool {
	t := &tool{asker: a, reveal: reveal, free: make(chan struct{}, 1)}
	t.free <- struct{}{}
	return tools.Define(tools.Info{
		Name:        "ask_user",
		Description: description,
		Schema:      inputSchema,
		Verb:        "asking you",
		Kind:        tools.KindOther,
		Effect:      tools.Reads,
	}, t.plan, t.run)
}

func (t *tool) plan(_ context.Context, in input) (tools.Plan, error) {
	qs, err := in.questions(t.reveal)
	if err != nil {
		return tools.Plan{}, err
	}
	return tools.Plan{Title: tools.Line("Asking: "+qs[0].Text, tools.MaxTitle), Effect: tools.Reads}, nil
}

func (t *tool) run(ctx context.Context, in input, call tools.Call) (tools.Result, error) {
	qs, err := in.questions(t.reveal)
	if err != nil {
		return tools.Failf("%s", tools.ErrorText(err)), nil
	}
	reply, err := t.ask(ctx, call.ID, qs)
	if err != nil {
		return tools.Result{}, err
	}
	if !reply.Asked {
		return unasked(qs), nil
	}
	return result(qs, reply.Answers), nil
}

// ask asks when no other form is open.
func (t *tool) ask(ctx context.Context, callID string, qs []Question) (Reply, error) {
	if t.asker == nil {
		return Reply{}, nil
	}
	select {
	case <-t.free:
		defer func() { t.free <- struct{}{} }()
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	reply, err := t.asker.Ask(ctx, callID, qs)
	if err != nil {
		return Reply{}, fmt.Errorf("asking the user: %w", err)
	}
	return reply, nil
}

// result states the questions and what was answered to each. The user sees no more
// than that.
func result(qs []Question, given [][]string) tools.Result {
	var r tools.Result
	var text strings.Builder
	open := false
	for i, q := range qs {
		a := tools.Answer{Question: q.Text}
		if i < len(given) {
			a.Chosen = q.accept(given[i])
		}
		r.Answers = append(r.Answers, a)
		items := a.Chosen
		if len(items) == 0 {
			open = true
			items = []string{noResponse}
		}
		list(&text, q.Text, items)
	}
	r.Text = strings.TrimSpace(text.String())
	r.Raw = r.Answers
	if open {
		r.Display = r.Text
		r.Text += "\n\n" + strings.TrimSpace(unanswered)
	}
	return r
}

// unasked is the result where nobody could be asked: the model asks by itself, and
// the user sees the questions in any case.
func unasked(qs []Question) tools.Result {
	var text strings.Builder
	for _, q := range qs {
		list(&text, q.Text, q.Options)
	}
	return tools.Result{Text: strings.TrimSpace(askYourself), Display: strings.TrimSpace(text.String())}
}

// list writes a question and items below it.
func list(b *strings.Builder, question string, items []string) {
	fmt.Fprintf(b, "%s\n", question)
	for _, item := range items {
		fmt.Fprintf(b, "- %s\n", strings.ReplaceAll(item, "\n", "\n  "))
	}
}

// accept returns what of an answer holds: options that were offered, in their
// order and each once, one of them if no more were asked for; or a text that says
// something, as it was written but no longer than [MaxText]. None is no response.
func (q Question) accept(given []string) []string {
	if len(q.Options) == 0 {
		text := strings.TrimSpace(strings.Join(given, "\n"))
		if text == "" {
			return nil
		}
		return []string{shorten(text)}
	}
	var chosen []string
	for _, o := range q.Options {
		if slices.Contains(given, o) {
			chosen = append(chosen, o)
		}
	}
	if !q.Multiple && (len(given) != 1 || len(chosen) != 1) {
		return nil
	}
	return chosen
}

func shorten(text string) string {
	if utf8.RuneCountInString(text) <= MaxText {
		return text
	}
	return string([]rune(text)[:MaxText]) + cutMark
}
