package app

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/skills"
)

// SkillPlaces returns where the skills of a session in dir are looked for.
func (a *App) SkillPlaces(dir string) (skills.Places, error) {
	c, err := a.config.read()
	if err != nil {
		return skills.Places{}, err
	}
	return skillPlaces(c, harness.Place{Dir: dir}), nil
}

// Skills returns the skills of a session in dir, the disabled ones included, and
// what is wrong with others.
func (a *App) Skills(dir string) ([]skills.Skill, []skills.Problem, error) {
	p, err := a.SkillPlaces(dir)
	if err != nil {
		return nil, nil, err
	}
	found, problems := a.skills.Find(p)
	return found, problems, nil
}

func skillPlaces(c *config.Config, p harness.Place) skills.Places {
	places := skills.Places{
		Home:     c.Paths.Home,
		Folder:   c.SkillFolder(),
		Claude:   c.Skills.Claude,
		Disabled: c.Skills.Disabled,
		Wire:     p.Skills,
	}
	if c.Skills.Workspace {
		places.Workspace, places.Trusted = p.Dir, c.Trusts(p.Dir)
	}
	return places
}

// find returns the enabled skills of a session at p. What is wrong with others is
// told on standard error, each once.
func (a *App) find(c *config.Config, p harness.Place) []skills.Skill {
	found, problems := a.skills.Find(skillPlaces(c, p))
	var sent []skills.Problem // with skills of the client, of which there can be hundreds
	for _, problem := range problems {
		switch {
		case !a.problems.first(problem):
		case problem.Path == string(skills.Wire):
			sent = append(sent, problem)
		default:
			a.tell(problem, 0)
		}
	}
	if len(sent) > 0 {
		a.tell(sent[0], len(sent)-1)
	}
	return slices.DeleteFunc(found, func(s skills.Skill) bool { return !s.Enabled })
}

// tell writes a problem with a skill to the log, as one of several if there are more.
func (a *App) tell(p skills.Problem, more int) {
	line := a.o.Log.Warn().Str("path", p.Path).Str("problem", p.Text).Bool("loaded", !p.Fatal)
	if more > 0 {
		line = line.Int("more", more)
	}
	line.Msg("a skill has a problem")
}

// told returns skills as the model is told of them.
func told(found []skills.Skill) []prompt.Skill {
	all := make([]prompt.Skill, 0, len(found))
	for _, s := range found {
		all = append(all, s.Skill)
	}
	return all
}

// skillFile returns the function that reads the files of found.
func (a *App) skillFile(found []skills.Skill) func(skill, file string) (string, error) {
	return func(skill, file string) (string, error) {
		for _, s := range found {
			if s.Name == skill {
				return a.skills.File(s, file)
			}
		}
		return "", fmt.Errorf("there is no skill %q", skill)
	}
}

// Skills returns the enabled skills of a session.
func (s *settings) Skills(_ context.Context, p harness.Place) ([]prompt.Skill, error) {
	c, err := s.read()
	if err != nil {
		return nil, err
	}
	return told(s.a.find(c, p)), nil
}

// Watch watches the folders of skills. Where that is not possible a send still
// finds what has changed.
func (s *settings) Watch(p harness.Place, changed func()) (stop func()) {
	c, err := s.read()
	if err != nil {
		return func() {} // the session cannot be opened, or says so at its next send
	}
	stop, err = s.a.skills.Watch(skillPlaces(c, p), changed, s.a.unwatched)
	if err != nil {
		s.a.unwatched(err)
	}
	return stop
}

// unwatched tells the operator why folders of skills are not watched, each error once:
// every session has its own watch.
func (a *App) unwatched(err error) {
	if a.failures.first(err.Error()) {
		a.o.Log.Warn().Err(err).Msg("folders of skills are not watched")
	}
}

// A once remembers what was told. The zero value is ready.
type once[T comparable] struct {
	mu   sync.Mutex // guards the field below
	told map[T]bool
}

// first reports whether what comes for the first time.
func (o *once[T]) first(what T) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told[what] {
		return false
	}
	if o.told == nil {
		o.told = make(map[T]bool)
	}
	o.told[what] = true
	return true
}
