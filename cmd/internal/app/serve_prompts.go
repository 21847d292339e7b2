package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// wordsArgument is what a skill is used with.
const wordsArgument = "message"

// Prompts implements [serve.Prompter]: the skills, then the prompts of servers. The
// first of a name counts.
func (d *Desk) Prompts(ctx context.Context) ([]serve.Prompt, error) {
	r, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	skills, err := d.skills(r)
	if err != nil {
		return nil, d.public(err)
	}
	var all []serve.Prompt
	for _, s := range skills {
		all = append(all, serve.Prompt{Name: s.Name, Description: s.Description, Arguments: []server.Argument{
			{Name: wordsArgument, Description: "What to do by the skill"},
		}})
	}
	if r.servers == nil {
		return all, nil
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	for _, p := range r.servers.Prompts() {
		if !slices.ContainsFunc(all, func(other serve.Prompt) bool { return other.Name == p.Command }) {
			all = append(all, serve.Prompt{Name: p.Command, Description: p.Description, Arguments: p.Arguments})
		}
	}
	return all, nil
}

// skills returns the skills on offer, by name.
func (d *Desk) skills(r *room) ([]prompt.Skill, error) {
	if !d.o.Offer.Skills {
		return nil, nil
	}
	c, err := r.app.config.read()
	if err != nil {
		return nil, faulty(err)
	}
	all := told(r.app.find(c, harness.Place{Dir: d.o.Dir}))
	slices.SortStableFunc(all, func(a, b prompt.Skill) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Prompt implements [serve.Prompter].
func (d *Desk) Prompt(ctx context.Context, name string, arguments map[string]string) ([]server.Part, error) {
	r, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	skills, err := d.skills(r)
	if err != nil {
		return nil, d.public(err)
	}
	for _, s := range skills {
		if s.Name == name {
			text := strings.TrimSpace(s.Full() + "\n\n" + arguments[wordsArgument])
			return []server.Part{{Role: "user", Text: text}}, nil
		}
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	if r.servers == nil || !slices.ContainsFunc(r.servers.Prompts(), func(p server.Prompt) bool { return p.Command == name }) {
		return nil, serve.ErrNone
	}
	return r.servers.Prompt(ctx, name, arguments)
}

// settle waits for servers that are being contacted for the first time, as a send does.
func (r *room) settle(ctx context.Context) error {
	if r.servers == nil {
		return nil
	}
	_, err := r.servers.Tools(ctx, nil)
	return err
}

// Resources implements [serve.Library].
func (d *Desk) Resources(ctx context.Context) ([]server.Resource, error) {
	r, err := d.enter(ctx)
	if err != nil || r.servers == nil {
		return nil, err
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	return r.servers.Resources(), nil
}

// Read implements [serve.Library].
func (d *Desk) Read(ctx context.Context, uri string) ([]server.Part, error) {
	r, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	if r.servers == nil {
		return nil, serve.ErrNone
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	parts, owned, err := r.servers.Read(ctx, uri)
	if err == nil && !owned {
		err = serve.ErrNone
	}
	return parts, err
}
