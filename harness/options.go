package harness

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// The ids of the options of a session (R-ACP-18).
const (
	OptionModel     = "model"
	OptionMode      = "mode"
	OptionTools     = "tools"
	OptionThinking  = "thinking"
	OptionCitations = "citations"
	OptionVoice     = "voice"
)

// The values of the option "tools".
const (
	ToolsOn   = "on"
	ToolsAuto = "auto" // a rule decides for each message; without one it is on
	ToolsOff  = "off"
)

// The values of the option "voice".
const (
	VoiceOn  = "on" // answers are read aloud
	VoiceOff = "off"
)

// thinkingDefault is the value of the option for [model.EffortDefault].
const thinkingDefault = "default"

// An Option is something that a session lets its user choose.
type Option struct {
	ID          string
	Name        string
	Description string
	Category    string // of ACP: model, mode, thought_level; "" is none
	Current     string // one of Values
	Values      []OptionValue
}

// An OptionValue is one of the values of an [Option].
type OptionValue struct {
	Value       string
	Name        string
	Description string
}

// complete returns c with the defaults in place of what is empty.
func (c Choice) complete() Choice {
	c.Mode = cmp.Or(c.Mode, approve.Ask)
	c.Tools = cmp.Or(c.Tools, ToolsOn)
	c.Citations = cmp.Or(c.Citations, prompt.CiteRegistry)
	c.Voice = cmp.Or(c.Voice, VoiceOff)
	return c
}

// check reports a value that no option has. Any model may be named: whether it
// can be had shows when it is asked (C017). So may any effort: which ones there are
// is for the model to say.
func (c Choice) check() error {
	for _, o := range []Option{c.mode(), c.tools(), c.thinking(anyEffort()), c.citations(), c.voice()} {
		if !o.has(o.Current) {
			return fmt.Errorf("%w: %s %q", ErrOption, o.ID, o.Current)
		}
	}
	return nil
}

// values returns c as the thread keeps it.
func (c Choice) values() map[string]string {
	return map[string]string{
		OptionModel: c.Model, OptionMode: string(c.Mode), OptionTools: c.Tools, OptionThinking: effortValue(c.Thinking),
		OptionCitations: string(c.Citations), OptionVoice: c.Voice,
	}
}

// since returns the values of c that are others than those of old.
func (c Choice) since(old Choice) map[string]string {
	values, before := c.values(), old.values()
	maps.DeleteFunc(values, func(id, value string) bool { return before[id] == value })
	return values
}

// with returns c with one option changed.
func (c Choice) with(id, value string) Choice {
	switch id {
	case OptionModel:
		c.Model = value
	case OptionMode:
		c.Mode = approve.Mode(value)
	case OptionTools:
		c.Tools = value
	case OptionThinking:
		c.Thinking = model.Effort(value)
		if value == thinkingDefault {
			c.Thinking = model.EffortDefault
		}
	case OptionCitations:
		c.Citations = prompt.Citations(value)
	case OptionVoice:
		c.Voice = value
	}
	return c
}

// options returns the options of a session with choice c and models to choose
// from, in the order to show them.
func (c Choice) options(models []model.Descriptor) []Option {
	all := []Option{c.mode(), c.model(models)}
	if i := slices.IndexFunc(models, c.chose); i >= 0 && models[i].Thinks {
		all = append(all, c.thinking(models[i]))
	}
	return append(all, c.tools(), c.citations(), c.voice())
}

func (c Choice) chose(d model.Descriptor) bool { return d.Ref() == c.Model }

func (c Choice) mode() Option {
	return Option{
		ID: OptionMode, Name: "Mode", Category: "mode", Current: string(c.Mode),
		Description: "What may happen without a question",
		Values: []OptionValue{
			{string(approve.Ask), "Ask", "Reading runs, everything else asks first"},
			{string(approve.AcceptEdits), "Accept edits", "Changes of files in the workspace run too"},
			{string(approve.Auto), "Auto", "All runs without a question, apart from the hard rules"},
			{string(approve.ReadOnly), "Read only", "Tools that change anything are not offered"},
		},
	}
}

// model lists the current model also when it is not among models (C017).
func (c Choice) model(models []model.Descriptor) Option {
	o := Option{
		ID: OptionModel, Name: "Model", Category: "model", Current: c.Model,
		Description: "The model that answers from the next message on",
	}
	for _, d := range models {
		o.Values = append(o.Values, OptionValue{Value: d.Ref(), Name: display(d), Description: d.Provider})
	}
	if !o.has(c.Model) {
		o.Values = slices.Insert(o.Values, 0, OptionValue{Value: c.Model, Name: c.Model})
	}
	return o
}

func (c Choice) tools() Option {
	return Option{
		ID: OptionTools, Name: "Tools", Current: c.Tools,
		Description: "Whether the model may use tools",
		Values: []OptionValue{
			{ToolsOn, "On", "The model uses tools as it sees fit"},
			{ToolsAuto, "Auto", "Decided for each message"},
			{ToolsOff, "Off", "The model only talks"},
		},
	}
}

func (c Choice) citations() Option {
	return Option{
		ID: OptionCitations, Name: "Citations", Current: string(c.Citations),
		Description: "How an answer names its sources",
		Values: []OptionValue{
			{string(prompt.CiteRegistry), "Numbers", "Numbers in brackets, which the program resolves"},
			{string(prompt.CiteLinked), "Links", "Numbered links, and a list of the sources at the end"},
		},
	}
}

func (c Choice) voice() Option {
	return Option{
		ID: OptionVoice, Name: "Voice", Current: c.Voice,
		Description: "Whether answers are read aloud",
		Values: []OptionValue{
			{VoiceOn, "On", "Answers are short and without markup"},
			{VoiceOff, "Off", "Answers are read on the screen"},
		},
	}
}

// thinking lists the efforts of d. What is current is what d is asked for: an
// effort that it lacks, chosen with another model, is lowered to one that it has.
func (c Choice) thinking(d model.Descriptor) Option {
	current := c.Thinking
	if known := slices.Contains(model.Efforts(), current); known {
		current = d.Effort(current)
	}
	o := Option{
		ID: OptionThinking, Name: "Thinking", Category: "thought_level", Current: effortValue(current),
		Description: "How much the model thinks before it answers",
		Values: []OptionValue{
			{thinkingDefault, "Default", "As the provider does it"},
			{string(model.EffortOff), "Off", "Not at all, where the model can do without"},
		},
	}
	for _, e := range d.Levels() {
		name, what := describe(e)
		o.Values = append(o.Values, OptionValue{string(e), name, what})
	}
	return o
}

// describe names an effort for people.
func describe(e model.Effort) (name, what string) {
	switch e {
	case model.EffortMinimal:
		return "Minimal", "Hardly at all"
	case model.EffortLow:
		return "Low", "A little"
	case model.EffortMedium:
		return "Medium", "A fair amount"
	case model.EffortHigh:
		return "High", "As much as it takes"
	case model.EffortXHigh:
		return "Extra high", "Longer than most questions need"
	case model.EffortMax:
		return "Maximum", "As long as the model can"
	}
	return string(e), ""
}

// effortValue is the value of the option for e.
func effortValue(e model.Effort) string {
	if e == model.EffortDefault {
		return thinkingDefault
	}
	return string(e)
}

// anyEffort is a model that knows all efforts.
func anyEffort() model.Descriptor {
	return model.Descriptor{Thinks: true, Efforts: model.Efforts()}
}

func (o Option) has(value string) bool {
	return slices.ContainsFunc(o.Values, func(v OptionValue) bool { return v.Value == value })
}

// Choice returns the options as they are chosen at this moment.
func (s *Session) Choice() Choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choice
}

// OptionSet returns all options with their values, in the order to show them.
// The thinking option is there only while the chosen model has one.
func (s *Session) OptionSet() []Option {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choice.options(s.models)
}

// SetMode changes the mode from the next Enter on, or fails with [ErrOption].
func (s *Session) SetMode(ctx context.Context, m approve.Mode) error {
	return s.SetOption(ctx, OptionMode, string(m))
}

// SetOption changes an option from the next Enter on. The change is stored
// first. An unknown id or value is [ErrOption] and changes nothing (R-ACP-18).
func (s *Session) SetOption(ctx context.Context, id, value string) error {
	done, err := s.changing(ctx)
	if err != nil {
		return err
	}
	defer done()
	models, err := s.e.o.Settings.Models(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	choice, closed := s.choice, s.closed
	s.models = models
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	all := choice.options(models)
	i := slices.IndexFunc(all, func(o Option) bool { return o.ID == id })
	if i < 0 || !all[i].has(value) {
		return fmt.Errorf("%w: %s %q", ErrOption, id, value)
	}
	chosen := thread.Options{Values: map[string]string{id: value}}
	if _, err := s.e.o.Threads.Append(ctx, s.id, "", chosen); err != nil {
		return fmt.Errorf("storing the option: %w", err)
	}
	s.chose(choice.with(id, value))
	return nil
}

// learned says what a send has found out of a model, which its server may have been
// asked about first: the options are those of the model as it is.
func (s *Session) learned(d model.Descriptor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.models, func(m model.Descriptor) bool { return m.Ref() == d.Ref() })
	if i < 0 {
		return
	}
	s.models = slices.Clone(s.models) // others may read the old list
	s.models[i] = d
}

// changing waits until nobody else changes the options. The caller calls done
// when the change has been stored and made.
func (s *Session) changing(ctx context.Context) (done func(), err error) {
	select {
	case s.change <- struct{}{}:
		return func() { <-s.change }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// chose makes c the options, once they are stored.
func (s *Session) chose(c Choice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.choice = c
}
