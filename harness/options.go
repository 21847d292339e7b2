package harness

import (
	"context"

	"github.com/lorimer-dev/lorimer/tools/approve"
)

// The ids of the options of a session (R-ACP-18).
const (
	OptionModel    = "model"
	OptionMode     = "mode"
	OptionTools    = "tools"
	OptionThinking = "thinking"
)

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

// Choice returns the options as they are chosen at this moment.
func (s *Session) Choice() Choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choice
}

// OptionSet returns all options with their values, in the order to show them.
// The first value of a list is not the default: Current tells what holds.
func (s *Session) OptionSet() []Option { return nil }

// SetMode changes the mode from the next Enter on, or fails with [ErrOption].
func (s *Session) SetMode(ctx context.Context, m approve.Mode) error {
	return s.SetOption(ctx, OptionMode, string(m))
}

// SetOption changes an option from the next Enter on. The change is stored. An
// unknown id or value is [ErrOption] and changes nothing.
func (s *Session) SetOption(ctx context.Context, id, value string) error { return ErrOption }
