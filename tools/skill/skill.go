// Package skill has the tool with which a model reads a skill.
package skill

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
)

//go:embed skill.md
var description string

//go:embed skill.json
var schema []byte

// maxListed is how many skills are named in place of one that there is not.
const maxListed = 20

// A Source is the enabled skills of a turn.
type Source interface {
	// Skill returns the instruction of a skill, and whether there is one.
	Skill(name string) (instruction string, ok bool)
	// File returns the text of a file that belongs to a skill. Its error is for
	// the model.
	File(name, file string) (string, error)
	// Names lists the skills, sorted.
	Names() []string
}

type input struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// New returns the tool skill, which gives the instruction of a skill or the text of
// one of its files. A name may be written with a slash before it, and one that s does
// not have is an error that says so (R-TOOLS-24).
func New(s Source) tools.Tool {
	run := func(ctx context.Context, in input, _ tools.Call) (tools.Result, error) {
		if err := ctx.Err(); err != nil {
			return tools.Result{}, err
		}
		return load(s, in), nil
	}
	return tools.Define(tools.Info{
		Name:        "skill",
		Description: description,
		Schema:      schema,
		Verb:        "reading the skill {name}",
		Kind:        tools.KindRead,
		Effect:      tools.Reads,
	}, plan, run)
}

// plan gives a call for a file a title of its own.
func plan(_ context.Context, in input) (tools.Plan, error) {
	if in.File == "" {
		return tools.Plan{}, nil
	}
	return tools.Plan{Title: tools.Line(fmt.Sprintf("Reading %q of the skill %q...", in.File, bare(in.Name)), tools.MaxTitle)}, nil
}

func load(s Source, in input) tools.Result {
	name := bare(in.Name)
	instruction, ok := s.Skill(name)
	if !ok {
		return tools.Failf("there is no skill %.80q that is enabled; %s", name, names(s))
	}
	if in.File == "" {
		return tools.Result{Text: instruction}
	}
	text, err := s.File(name, in.File)
	if err != nil {
		return tools.Failf("%v", err)
	}
	return tools.Result{Text: text}
}

// bare returns the name of a skill without the slash and the case that a model may
// have given it.
func bare(name string) string {
	return strings.ToLower(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "/")))
}

// names says which skills there are.
func names(s Source) string {
	all := s.Names()
	switch n := len(all); {
	case n == 0:
		return "there are none, so go on without"
	case n > maxListed:
		return fmt.Sprintf("some of the %d are: %s", n, strings.Join(all[:maxListed], ", "))
	}
	return "there are: " + strings.Join(all, ", ")
}
