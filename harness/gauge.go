package harness

import (
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/estimate"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A gauge tells how large the prompts of a thread are, in tokens of the model of
// its harness: the last one that the provider has counted, and what was added since
// as it is estimated, by a factor that is learnt from what was counted.
//
// It looks at each message once, however often it is asked.
type gauge struct {
	vendor string // of the model
	typed  bool   // it is told of tools
	k      estimate.Calibration
	sums   []sum // of the messages that were measured, in order

	last  reading
	fresh []reading // that nothing is learnt from yet
	faded int       // tokens of answers that a later prompt may lack
}

// A sum is the size of a message with all that come before it. A message never
// changes, and what comes before it does not either.
type sum struct {
	message identity
	size    estimate.Size
	foreign bool // the last answer is in part of a model of another vendor
}

// An identity tells a message from all others of its thread.
type identity struct {
	first *llms.ContentPart
	parts int
}

func identify(m llms.MessageContent) identity {
	if len(m.Parts) == 0 {
		return identity{}
	}
	return identity{&m.Parts[0], len(m.Parts)}
}

// A reading is a prompt that its provider has counted.
type reading struct {
	messages int
	end      identity      // of the last message
	said     estimate.Size // of the messages
	rest     estimate.Size // of the system prompt and the tools
	now      bool          // rest is known: the prompt is of this harness, not of one before it
	real     int           // tokens
	faded    int           // of those, at most so many are no more in a prompt that goes on
}

// maxFresh is how many prompts of a stored thread are learnt from: those before
// them would hardly count.
const maxFresh = 8

// reader says who reads the prompts: a model of vendor, which is told of tools or
// not. For another one than before nothing but the factor is known.
func (g *gauge) reader(vendor string, tools bool) {
	if g.vendor != vendor || g.typed != tools {
		*g = gauge{vendor: vendor, typed: tools, k: g.k}
	}
}

// measure returns the size of messages. The least of it is without results that may
// go as a line of text: those of calls of another vendor's models, and all where no
// tool is declared (C-33).
func (g *gauge) measure(messages []llms.MessageContent) estimate.Size {
	n := min(len(g.sums), len(messages))
	for n > 0 && g.sums[n-1].message != identify(messages[n-1]) {
		n--
	}
	g.sums = g.sums[:n]
	var s sum
	if n > 0 {
		s = g.sums[n-1]
	}
	for _, m := range messages[n:] {
		size := estimate.Parts(m.Parts)
		switch m.Role {
		case llms.ChatMessageTypeAI:
			s.foreign = slices.ContainsFunc(m.Parts, g.foreign)
		case llms.ChatMessageTypeTool:
			if s.foreign || !g.typed {
				size.Least = 0
			}
		}
		s.message, s.size = identify(m), s.size.Add(size)
		g.sums = append(g.sums, s)
	}
	return s.size
}

// foreign reports whether p begins what a model of another vendor wrote.
func (g *gauge) foreign(p llms.ContentPart) bool {
	a, ok := p.(model.Author)
	return ok && normalise.Vendor(a.Ref) != g.vendor
}

// prompt returns the size of a prompt with messages, beside which the system prompt
// and the tools have the size rest. What is likely is in tokens of the model.
func (g *gauge) prompt(messages []llms.MessageContent, rest estimate.Size) estimate.Size {
	said := g.measure(messages)
	for _, r := range g.fresh {
		g.k.Observe(r.real, r.said.Likely+rest.Likely)
	}
	g.fresh = nil
	l := &g.last
	if !l.now {
		l.rest = rest // as far as anybody knows
	}
	whole := said.Add(rest)
	size := estimate.Size{Likely: g.k.Tokens(whole.Likely), Least: whole.Least}
	if n := l.messages; n > 0 && n <= len(messages) && identify(messages[n-1]) == l.end {
		more := whole.Less(l.said).Less(l.rest)
		size.Likely = l.real + g.k.Tokens(more.Likely)
		if l.now && l.rest == rest {
			size.Least = max(size.Least, l.real-l.faded+more.Least)
		}
	}
	size.Likely = max(size.Likely, size.Least)
	return size
}

// counted notes what the provider has counted of a prompt with messages and rest,
// and of the answer to it.
func (g *gauge) counted(messages []llms.MessageContent, rest estimate.Size, u model.Usage, answer []thread.Part) {
	if r, ok := g.read(messages, u); ok {
		r.rest, r.now = rest, true
		g.k.Observe(r.real, r.said.Likely+rest.Likely)
		g.last = r
	}
	g.fade(u, answer)
}

// recall notes what a stored answer of the model says of the prompt before it.
func (g *gauge) recall(messages []llms.MessageContent, u model.Usage, answer []thread.Part) {
	if r, ok := g.read(messages, u); ok {
		if len(g.fresh) == maxFresh {
			g.fresh = g.fresh[1:]
		}
		g.fresh = append(g.fresh, r)
		g.last = r
	}
	g.fade(u, answer)
}

func (g *gauge) read(messages []llms.MessageContent, u model.Usage) (reading, bool) {
	n := len(messages)
	if !u.Known || u.Input <= 0 || n == 0 {
		return reading{}, false
	}
	return reading{messages: n, end: identify(messages[n-1]), said: g.measure(messages), real: u.Input, faded: g.faded}, true
}

// fade notes how much of an answer may have been thoughts, which a model may not
// read again in a later turn, whether they were shown or not.
func (g *gauge) fade(u model.Usage, answer []thread.Part) {
	shown, thoughts := 0, 0
	for _, p := range answer {
		switch {
		case p.Reasoning != nil:
			thoughts += estimate.Tokens(p.Reasoning.Text)
		case p.Call != nil:
			shown += estimate.Text(p.Call.Name).Least + estimate.Text(p.Call.Args).Least
		default:
			shown += estimate.Text(p.Text).Least
		}
	}
	if u.Known {
		thoughts = u.Output - shown
	}
	g.faded += max(thoughts, 0)
}

// answered returns the likely tokens of an answer.
func (g *gauge) answered(answer []thread.Part) int {
	sum := 0
	for _, p := range answer {
		sum += estimate.Tokens(p.Text)
		if p.Call != nil {
			sum += estimate.Tokens(p.Call.Name) + estimate.Tokens(p.Call.Args)
		}
		if p.Reasoning != nil {
			sum += estimate.Tokens(p.Reasoning.Text)
		}
	}
	return g.k.Tokens(sum)
}

// slack is the part of a window by which a prompt has to be beyond it to be refused
// unasked: some windows are larger than they are said to be.
const slack = 16

// fits refuses a prompt of the given size that cannot fit into the window of d,
// before anybody is asked. It goes by the least that the prompt can have, so that
// what would fit is never refused, and not at all by a window that is a guess or
// that of a model which reads nothing. An Ollama server is asked always: its
// templates leave out what they like, and what does not fit it says itself.
func fits(d model.Descriptor, prompt estimate.Size) error {
	asked := d.Kind == "script" || d.Kind == "offline" || d.Kind == "ollama"
	if asked || d.Window <= 0 || d.Assumed || prompt.Least <= d.Window+d.Window/slack {
		return nil
	}
	return &model.Error{Kind: model.TokenLimit, Provider: d.Provider, Final: true, Message: fmt.Sprintf(
		"the conversation has about %d tokens, and the window of %s has %d; begin a new session, choose a model with a larger window, or correct the window in models.toml",
		prompt.Likely, display(d), d.Window)}
}
