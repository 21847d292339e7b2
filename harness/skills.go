package harness

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/budget"
	"github.com/lorimer-dev/lorimer/tools/skill"
)

// A skillSource is the enabled skills of a send, sorted by name.
type skillSource struct {
	skills []prompt.Skill
	file   func(skill, file string) (string, error)
}

var _ skill.Source = skillSource{}

func newSkillSource(s Snapshot) skillSource {
	return skillSource{sorted(s.Prompt.Skills), s.SkillFile}
}

func sorted(all []prompt.Skill) []prompt.Skill {
	return slices.SortedStableFunc(slices.Values(all), func(a, b prompt.Skill) int { return cmp.Compare(a.Name, b.Name) })
}

// Skill implements [skill.Source].
func (s skillSource) Skill(name string) (string, bool) {
	found, ok := skillOf(s.skills, name)
	return found.Full(), ok
}

// File implements [skill.Source].
func (s skillSource) File(name, file string) (string, error) {
	if _, ok := s.Skill(name); !ok || s.file == nil {
		return "", tools.Publicf("The skill %q has no file %q.", tools.Line(name, maxNamed), tools.Line(file, maxNamed))
	}
	return s.file(name, file)
}

// Names implements [skill.Source].
func (s skillSource) Names() []string {
	var names []string
	for _, sk := range s.skills {
		names = append(names, sk.Name)
	}
	return names
}

func skillOf(all []prompt.Skill, name string) (prompt.Skill, bool) {
	i := slices.IndexFunc(all, func(s prompt.Skill) bool { return s.Name == name })
	if i < 0 {
		return prompt.Skill{}, false
	}
	return all[i], true
}

// named returns the skills whose slash tokens stand in the text of a message, in the
// order in which they first occur. Other tokens are text (R-PROMPT-44).
func named(blocks []event.Block, all []prompt.Skill) []prompt.Skill {
	var texts []string
	for _, b := range blocks {
		if !isPicture(b) && !isAttachment(b) {
			texts = append(texts, b.Text)
		}
	}
	tokens := prompt.Tokens(strings.Join(texts, "\n"))
	if len(tokens) == 0 {
		return nil
	}
	byName := make(map[string]prompt.Skill, len(all)) // a pasted log may have thousands of tokens
	for _, s := range slices.Backward(all) {          // the first of a name counts
		byName[s.Name] = s
	}
	var out []prompt.Skill
	for _, name := range tokens {
		if s, ok := byName[name]; ok {
			out = append(out, s)
		}
	}
	return out
}

// intent is what a message that names skills asks for (R-WEB-03).
func intent(named []prompt.Skill) budget.Intent {
	return budget.IntentOf(skillSource{skills: named}.Names())
}

// maxDescription is how many characters of the description of a skill a list of
// commands shows.
const maxDescription = 100

// skillCommands returns skills as commands, without those whose names are taken. They
// are for lists: a message that names one goes to the model as it is.
func skillCommands(all []prompt.Skill, taken []Command) []Command {
	var out []Command
	for _, s := range sorted(all) {
		if slices.ContainsFunc(taken, func(c Command) bool { return c.Name == s.Name }) {
			continue
		}
		description := tools.Line(strings.Join(strings.Fields(s.Description), " "), maxDescription)
		out = append(out, Command{Name: s.Name, Description: description, Hint: "message"})
	}
	return out
}

// list is the skills of a session as commands.
func (s *Session) list(all []prompt.Skill) []Command { return skillCommands(all, s.builtin()) }

// watch looks for the skills of the session, now and whenever they may have changed,
// until the session ends. What is wrong with reading them shows when a message is
// sent.
func (s *Session) watch(ctx context.Context) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.looking <- struct{}{} // what is seen to change from here on is looked at afterwards
	stop := s.e.o.Settings.Watch(s.place(), func() { s.look(life) })
	unserved := func() {}
	if s.spec.Servers != nil {
		unserved = s.spec.Servers.Watch(s.prompted)
	}
	s.unwatch = func() {
		cancel()
		stop()
		unserved()
	}
	s.relist(ctx)
	<-s.looking
}

// look reads the skills of the session, one reading after the other, and tells if
// Commands says something else for them.
func (s *Session) look(ctx context.Context) {
	select {
	case s.looking <- struct{}{}:
		defer func() { <-s.looking }()
	case <-ctx.Done():
		return
	}
	if s.relist(ctx) && s.spec.Changed != nil {
		s.spec.Changed()
	}
}

// relist reads the skills of the session and reports whether their list is another
// one. The caller has the token of looking.
func (s *Session) relist(ctx context.Context) bool {
	all, err := s.e.o.Settings.Skills(ctx, s.place())
	if err != nil {
		if ctx.Err() == nil {
			s.e.o.Log.Warn().Err(err).Str("session", s.id).Msg("the skills of a session are not listed")
		}
		return false
	}
	list := s.list(all)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || slices.Equal(list, s.skills) {
		return false
	}
	s.skills = list
	return true
}

// found looks at the skills again if a send has found others than are listed.
func (s *Session) found(ctx context.Context, all []prompt.Skill) {
	s.mu.Lock()
	same := slices.Equal(s.list(all), s.skills)
	s.mu.Unlock()
	if !same {
		s.look(ctx)
	}
}
