package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// settings reads, for each send, what it depends on.
type settings struct{ a *App }

// read returns the configuration as it is now.
func (s *settings) read() (*config.Config, error) {
	c, err := s.a.config.read()
	if err != nil {
		return nil, faulty(err)
	}
	return c, nil
}

// faulty makes an error of a configuration, which names file and line, one that
// the user is told wherever it shows: each send reads the files again.
func faulty(err error) error {
	return &acp.Error{Code: acp.ConfigInvalid, Message: err.Error()}
}

// Freeze reads the configuration, with what the directory's own file demands, and
// what stands beside it: the project, the workspace, the files of the directory and
// the skills. What a session names and is not there is told before anything is
// looked up that its model needs, such as a key.
func (s *settings) Freeze(ctx context.Context, p harness.Place, c harness.Choice) (harness.Snapshot, error) {
	s.a.o.Log.Debug().Str("session", p.Session).Msg("reading settings") // once for each send (R-TOOLS-03)
	cfg, err := s.read()
	if err != nil {
		return harness.Snapshot{}, err
	}
	mode, notices, err := s.a.tighten(cfg, p.Dir, c.Mode)
	if err != nil {
		return harness.Snapshot{}, err
	}
	f := facts(cfg)
	more, err := s.a.join(ctx, cfg, p, &f)
	if err != nil {
		return harness.Snapshot{}, err
	}
	if p.Persona != nil {
		f.PersonaAt = "" // it is the client's
	}
	m, err := s.a.choose(ctx, cfg, c.Model)
	if err != nil {
		return harness.Snapshot{}, err
	}
	f.Profile = profile(cfg, m.Ref())
	found := s.a.find(cfg, p)
	f.Skills = told(found)
	return harness.Snapshot{
		Model:     m.Descriptor,
		Mode:      mode,
		Open:      m.open,
		Notices:   slices.Concat(s.a.finder.notices(ctx, cfg, c.Model), m.notices, notices, more),
		Prompt:    f,
		Zone:      cfg.Run.Zone,
		Inline:    cfg.Attachments.InlineBytes,
		SkillFile: s.a.skillFile(found),
		NoNested:  !cfg.Instructions.AgentsMD,
	}, nil
}

// Settle looks for the project and the workspace that p names.
func (s *settings) Settle(ctx context.Context, p harness.Place) (harness.Place, error) {
	return s.a.settle(ctx, p)
}

// tighten returns the mode that holds in a directory, whose own file may demand
// a stricter one than the user chose, and what the user should know of that file.
func (a *App) tighten(c *config.Config, dir string, chosen approve.Mode) (approve.Mode, []string, error) {
	user := *c
	user.Mode = string(chosen)
	here, warnings, err := user.Within(dir)
	if err != nil {
		return "", nil, faulty(err)
	}
	var notices []string
	for _, w := range append(warnings, unusedHere(&user, here)...) {
		notices = append(notices, w.String())
	}
	mode := approve.Mode(here.Mode)
	if mode != chosen {
		notices = append(notices, fmt.Sprintf("This workspace's own configuration allows no more than the mode %s.", mode))
	}
	return mode, notices, nil
}

// Default returns the options of a new session.
func (s *settings) Default(ctx context.Context) (harness.Choice, error) {
	cfg, err := s.read()
	if err != nil {
		return harness.Choice{}, err
	}
	return harness.Choice{
		Model: s.a.finder.find(ctx, cfg), Mode: approve.Mode(cfg.Mode), Tools: "on",
		Citations: prompt.Citations(cfg.Citations), Voice: "off",
	}, nil
}
