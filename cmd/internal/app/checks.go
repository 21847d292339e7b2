package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/cmd/internal/doctor"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/instructions"
	"github.com/lorimer-dev/lorimer/prompt/skills"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

// Checks returns what `lorimer doctor` looks at.
func Checks(s config.Sources, environ []string) []doctor.Check {
	c, warnings, err := config.Load(s)
	all := []doctor.Check{{Name: "configuration", Look: func(context.Context) []doctor.Finding {
		if err == nil {
			warnings = append(warnings, unused(c)...)
		}
		return checkConfig(c, warnings, err)
	}}}
	if err != nil {
		return all
	}
	return append(all,
		doctor.Check{Name: "workspace", Look: func(context.Context) []doctor.Finding { return checkWorkspace(c) }},
		doctor.Check{Name: "instructions", Look: func(context.Context) []doctor.Finding { return checkInstructions(c) }},
		doctor.Check{Name: "skills", Look: func(context.Context) []doctor.Finding { return checkSkills(c) }},
		doctor.Check{Name: "mcp", Look: func(ctx context.Context) []doctor.Finding { return checkServers(ctx, c, environ) }},
		doctor.Check{Name: "prompt", Look: func(context.Context) []doctor.Finding { return checkPrompt(c) }},
		doctor.Check{Name: "model", Look: func(ctx context.Context) []doctor.Finding { return checkModel(ctx, c) }},
		doctor.Check{Name: "providers", Look: func(context.Context) []doctor.Finding { return checkProviders(c) }},
		doctor.Check{Name: "state", Look: func(context.Context) []doctor.Finding { return checkState(c) }},
		doctor.Check{Name: "database", Look: func(ctx context.Context) []doctor.Finding { return checkDatabase(ctx, c) }},
		doctor.Check{Name: "shell", Look: func(context.Context) []doctor.Finding { return checkShell() }},
		doctor.Check{Name: "secrets", Look: func(context.Context) []doctor.Finding { return checkSecrets(c, environ) }},
	)
}

func one(state doctor.State, format string, args ...any) []doctor.Finding {
	return []doctor.Finding{{State: state, Text: fmt.Sprintf(format, args...)}}
}

func checkConfig(c *config.Config, warnings []config.Warning, err error) []doctor.Finding {
	if err != nil {
		return one(doctor.Bad, "%v", err)
	}
	found := one(doctor.OK, "%s", c.Paths.Config)
	if !exists(c.Paths.Config) {
		found = one(doctor.OK, "there is no %s; the defaults hold", c.Paths.Config)
	}
	if len(c.Models) > 0 {
		found = append(found, one(doctor.OK, "%s says something of %s", c.ModelsPath(), count(len(c.Models), "model"))...)
	}
	for _, w := range warnings {
		found = append(found, doctor.Finding{State: doctor.Note, Text: w.String()})
	}
	return found
}

// checkWorkspace looks at what the current directory's own file demands.
func checkWorkspace(c *config.Config) []doctor.Finding {
	dir, err := os.Getwd()
	if err != nil {
		return one(doctor.Bad, "the current directory cannot be found: %v", err)
	}
	here, warnings, err := c.Within(dir)
	if err != nil {
		return one(doctor.Bad, "%v", err)
	}
	found := one(doctor.OK, "%s", dir)
	if here.Mode != c.Mode {
		found[0].Text += fmt.Sprintf(" allows no more than the mode %s", here.Mode)
	}
	for _, w := range append(warnings, unusedHere(c, here)...) {
		found = append(found, doctor.Finding{State: doctor.Note, Text: w.String()})
	}
	return found
}

func checkPrompt(c *config.Config) []doctor.Finding {
	if err := tryPrompt(c); err != nil {
		return one(doctor.Bad, "%v", err)
	}
	return one(doctor.OK, "what the configuration declares for the prompt is well formed")
}

// tryPrompt assembles the prompt for no session and for each that something is
// declared for, and for each model that something is said of. Which tools there
// are shows in a session alone.
func tryPrompt(c *config.Config) error {
	r, err := standard()
	if err != nil {
		return err
	}
	f := facts(c)
	if err := r.Check(f); err != nil {
		return err
	}
	tried := make(map[string]bool)
	for _, x := range append([]prompt.Extra{{}}, f.Extras...) {
		if tried[x.Scope] {
			continue
		}
		tried[x.Scope] = true
		if err := tryScope(r, c, prompt.Context{Scope: x.Scope, Facts: f}); err != nil {
			return err
		}
	}
	some := []prompt.ToolSchema{{Name: "read"}} // what is said of tools is told only where there are any
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		f.Profile = profile(c, name)
		if err := tryScope(r, c, prompt.Context{Tools: some, Facts: f}); err != nil {
			return err
		}
	}
	return nil
}

// tryScope assembles the prompt of one session, in which every tool is known that
// the configuration names.
func tryScope(r *prompt.Registry, c *config.Config, ask prompt.Context) error {
	ask.Model, ask.Cwd = "model", c.Paths.Home
	if c.ToolOrder != nil {
		ask.Known = slices.Clone(*c.ToolOrder)
	}
	for _, h := range c.Hooks {
		ask.Known = append(ask.Known, h.Tool)
		if h.Target == "tools" {
			ask.Known = append(ask.Known, h.Order...)
		}
	}
	_, _, err := r.Parts(ask, time.Now())
	return err
}

// checkInstructions looks at the files that the current directory and those above
// it carry for agents.
func checkInstructions(c *config.Config) []doctor.Finding {
	dir, err := os.Getwd()
	if err != nil {
		return one(doctor.Bad, "the current directory cannot be found: %v", err)
	}
	files, problems := carried(c, dir)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	found := one(doctor.OK, "the model is told of %s", strings.Join(paths, ", "))
	switch {
	case !c.Instructions.AgentsMD:
		found = one(doctor.OK, "switched off by instructions.agents_md")
	case len(paths) == 0:
		found = one(doctor.OK, "there is no %s for this directory", instructions.Name)
	}
	return noted(found, problems)
}

// checkSkills looks at the skills of the current directory.
func checkSkills(c *config.Config) []doctor.Finding {
	dir, err := os.Getwd()
	if err != nil {
		return one(doctor.Bad, "the current directory cannot be found: %v", err)
	}
	var library skills.Library
	all, problems := library.Find(skillPlaces(c, harness.Place{Dir: dir}))
	enabled := 0
	for _, s := range all {
		if s.Enabled {
			enabled++
		}
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return noted(one(doctor.OK, "%s, %d of them switched on", count(len(all), "skill"), enabled), append(lines, idleSkills(c, all)...))
}

// idleSkills tells what the configuration says of skills without any effect here: a
// folder that is missing, and names that none of all has.
func idleSkills(c *config.Config, all []skills.Skill) []string {
	var lines []string
	if folder := c.SkillFolder(); c.Skills.Folder != "" && !exists(folder) {
		lines = append(lines, fmt.Sprintf("skills.folder: there is no %s; make it, or correct the path", folder))
	}
	for _, name := range c.Skills.Disabled {
		if name != "*" && !slices.ContainsFunc(all, func(s skills.Skill) bool { return s.Name == name }) {
			lines = append(lines, fmt.Sprintf("skills.disabled: there is no skill %q here; \"lorimer skills list\" has the names", name))
		}
	}
	return lines
}

// noted adds notes to found.
func noted(found []doctor.Finding, lines []string) []doctor.Finding {
	for _, line := range lines {
		found = append(found, doctor.Finding{State: doctor.Note, Text: line})
	}
	return found
}

// checkState looks whether the state directory, or the nearest one above it
// that is there, can be written to. It makes nothing that stays.
func checkState(c *config.Config) []doctor.Finding {
	dir := c.Paths.State
	for !exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".lorimer-doctor-")
	if err != nil {
		return one(doctor.Bad, "%s cannot be written to; choose another directory with --state", c.Paths.State)
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return one(doctor.Note, "%s can be written to, but a file made there to see that did not go away: %v", c.Paths.State, err)
	}
	return one(doctor.OK, "%s", c.Paths.State)
}

// checkDatabase looks at the database as it is. One that does not exist is made by
// the first session.
func checkDatabase(ctx context.Context, c *config.Config) []doctor.Finding {
	name := c.DatabaseName()
	r, err := store.Look(ctx, c.DatabaseAt(), store.Options{Files: c.Paths.State})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return one(doctor.OK, "%s is made by the first session", name)
	case err != nil:
		return one(doctor.Bad, "%v", err)
	case r.Damage != "":
		return one(doctor.Bad, "%s is damaged (%s); copy it away, then export what \"lorimer session list\" still shows, or restore a copy", name, r.Damage)
	case r.Schema == 0:
		return one(doctor.OK, "%s has no tables yet; the first session makes them", name)
	}
	found := one(doctor.OK, "%s has %s, schema %d", name, count(r.Threads, "session"), r.Schema)
	if r.Schema < r.Known {
		found = one(doctor.OK, "%s has %s; its schema %d becomes %d when it is used", name, count(r.Threads, "session"), r.Schema, r.Known)
	}
	for _, id := range r.Broken {
		found = append(found, doctor.Finding{
			State: doctor.Bad,
			Text:  fmt.Sprintf("the session %s in it is damaged; \"lorimer session delete %s\" deletes it, or restore a copy", id, id),
		})
	}
	return append(found, checkDocuments(c, r)...)
}

// checkDocuments tells of contents that cannot be read. Those of a server may be on
// another machine, where they belong.
func checkDocuments(c *config.Config, r store.Report) []doctor.Finding {
	if len(r.Lost) == 0 {
		return nil
	}
	state, help := doctor.Bad, "attach or add again what is missing or damaged, or restore a copy"
	if config.IsURL(c.DatabaseAt()) {
		state, help = doctor.Note, "what another machine has added is there"
	}
	keys := strings.Join(r.Lost[:min(len(r.Lost), 3)], ", ")
	if more := len(r.Lost) - 3; more > 0 {
		keys += fmt.Sprintf(" and %d more", more)
	}
	return one(state, "%d of %s cannot be read in %s (%s); %s",
		len(r.Lost), count(r.Documents, "document"), filepath.Join(c.Paths.State, "documents"), keys, help)
}

// count returns a number of things in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func checkShell() []doctor.Finding {
	shell := local.Shell()
	if _, err := exec.LookPath(shell); err != nil {
		return one(doctor.Bad, "commands run in %s, which is missing; install a shell", shell)
	}
	return one(doctor.OK, "commands run in %s", shell)
}

// checkSecrets names the variables that commands of the model do not see.
func checkSecrets(c *config.Config, environ []string) []doctor.Finding {
	var hidden []string
	for _, name := range c.SecretEnv() {
		for _, kv := range environ {
			if value, ok := strings.CutPrefix(kv, name+"="); ok && value != "" {
				hidden = append(hidden, name)
			}
		}
	}
	if len(hidden) == 0 {
		return one(doctor.OK, "no key of a provider is in the environment")
	}
	return one(doctor.OK, "commands run without %s", strings.Join(hidden, ", "))
}
