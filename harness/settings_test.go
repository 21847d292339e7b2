package harness_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// settings are [harness.Settings] whose fields may change between sends.
type settings struct {
	model   model.Descriptor
	more    []model.Descriptor // further models to choose from
	open    func(context.Context) (model.Streamer, error)
	facts   prompt.Facts
	notices []string
	inline  int
	nested  bool
	places  []string // the projects and the workspaces that there are; "project x" is no workspace x
	freeze  func()   // called while a send reads them; nil does nothing
	err     error
	id      string // of every project, whatever it is named by; "" is the name
	reads   atomic.Int32
	settled atomic.Int32

	mu      sync.Mutex // guards the fields below
	place   harness.Place
	watches []*watch
}

func (s *settings) Freeze(_ context.Context, p harness.Place, c harness.Choice) (harness.Snapshot, error) {
	s.reads.Add(1)
	if s.freeze != nil {
		s.freeze()
	}
	s.mu.Lock()
	s.place = p
	s.mu.Unlock()
	if _, err := s.settle(p); err != nil {
		return harness.Snapshot{}, err
	}
	d := s.model
	for _, m := range s.more {
		if m.Ref() == c.Model {
			d = m
		}
	}
	return harness.Snapshot{
		Model: d, Open: s.open, Prompt: s.facts, Notices: s.notices, Zone: time.UTC, Inline: s.inline, NoNested: !s.nested,
		SkillFile: func(skill, file string) (string, error) { return "the file " + file + " of " + skill, nil },
	}, s.err
}

func (s *settings) Settle(_ context.Context, p harness.Place) (harness.Place, error) {
	s.settled.Add(1)
	return s.settle(p)
}

func (s *settings) settle(p harness.Place) (harness.Place, error) {
	for what, id := range map[string]string{"project": p.Project, "workspace": p.Workspace} {
		if id != "" && !slices.Contains(s.places, id) && !slices.Contains(s.places, what+" "+id) {
			return harness.Place{}, &harness.MissingError{What: what, ID: id}
		}
	}
	if s.id != "" && p.Project != "" {
		p.Project = s.id
	}
	return p, nil
}

func (s *settings) Skills(context.Context, harness.Place) ([]prompt.Skill, error) {
	return s.facts.Skills, s.err
}

// A watch is one who hears of changes of skills.
type watch struct {
	telling chan struct{} // holds a token while a change is told
	changed func()
	stopped bool
}

// alone calls f while nothing is told.
func (w *watch) alone(f func()) {
	w.telling <- struct{}{}
	defer func() { <-w.telling }()
	f()
}

func (s *settings) Watch(_ harness.Place, changed func()) (stop func()) {
	w := &watch{telling: make(chan struct{}, 1), changed: changed}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = append(s.watches, w)
	return func() { w.alone(func() { w.stopped = true }) }
}

// change tells all who watch that skills may have changed.
func (s *settings) change() {
	s.mu.Lock()
	watches := slices.Clone(s.watches)
	s.mu.Unlock()
	for _, w := range watches {
		w.alone(func() {
			if !w.stopped {
				w.changed()
			}
		})
	}
}

func (s *settings) Models(context.Context) ([]model.Descriptor, error) {
	return append([]model.Descriptor{s.model}, s.more...), nil
}

func (s *settings) Default(context.Context) (harness.Choice, error) {
	return harness.Choice{Model: s.model.Ref(), Mode: approve.Auto}, nil
}
