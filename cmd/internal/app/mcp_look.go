package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/discover"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// NotAsked is the state of a server that could be contacted and was not.
const NotAsked server.State = "not-asked"

// ServerStates tells how the MCP servers of a session in dir stand. With contact each is
// asked first, beside the others, within ctx; one that did not answer has failed, since
// nobody tries it again (R-MCP-20).
func (a *App) ServerStates(ctx context.Context, dir string, contact bool) ([]server.Status, error) {
	all, err := a.Servers(dir)
	if err != nil {
		return nil, err
	}
	b, err := a.look(ctx, dir, all)
	if err != nil {
		return nil, err
	}
	if contact {
		var wg sync.WaitGroup
		for _, s := range all {
			if s.Off == "" {
				wg.Go(func() { _, _ = b.Probe(ctx, s.Name) }) // its status says how it went
			}
		}
		wg.Wait()
	}
	states := b.Status()
	for i := range states {
		if contact {
			states[i] = ended(ctx, states[i])
		} else if states[i].State == server.Connecting {
			states[i].State = NotAsked
		}
	}
	return states, nil
}

// look opens a bridge that nobody sits at.
func (a *App) look(ctx context.Context, dir string, all []mcpbridge.Server) (*mcpbridge.Bridge, error) {
	return a.open(ctx, mcpbridge.Session{ID: rand.Text(), Dir: dir, Host: Alone{Dirs: []string{dir}}}, all)
}

// ended says how a server stands that nobody goes on to connect.
func ended(ctx context.Context, s server.Status) server.Status {
	if s.State != server.Connecting {
		return s
	}
	s.State = server.Failed
	if s.LastError == "" && ctx.Err() != nil {
		s.LastError = "no answer in time; \"lorimer mcp probe\" waits longer"
	}
	return s
}

// A Probed server is what one says of itself and has.
type Probed struct {
	server.Status
	Advice    string // on how to use it; "" is none
	Has       []tools.Info
	Prompts   []server.Prompt
	Resources []server.Resource
}

// ProbeServer makes one attempt to reach a server of a session in dir, and tells what it
// has. It waits as long as the server may take to connect, within ctx.
func (a *App) ProbeServer(ctx context.Context, dir, name string) (Probed, error) {
	all, err := a.Servers(dir)
	if err != nil {
		return Probed{}, err
	}
	if !slices.ContainsFunc(all, func(s mcpbridge.Server) bool { return s.Name == name }) {
		return Probed{}, absentServer(name, all)
	}
	for i := range all {
		if all[i].Name != name { // it keeps its prefix
			all[i].Off = "not asked"
		}
	}
	b, err := a.look(ctx, dir, all)
	if err != nil {
		return Probed{}, err
	}
	status, err := b.Probe(ctx, name)
	if err != nil {
		return Probed{}, err
	}
	p := Probed{Status: ended(ctx, status)}
	if p.State != server.Connected {
		return p, nil
	}
	offered, err := b.Tools(ctx, nil)
	if err != nil {
		return Probed{}, err
	}
	for _, t := range offered {
		p.Has = append(p.Has, t.Info())
	}
	for _, advice := range b.Advice() { // of the one server that is asked
		p.Advice = advice.Text
	}
	p.Prompts, p.Resources = b.Prompts(), b.Resources()
	return p, nil
}

// absentServer tells of a server that is not there which there are.
func absentServer(name string, all []mcpbridge.Server) error {
	if len(all) == 0 {
		return fmt.Errorf("there is no MCP server %.100q, and no other; \"lorimer help configuration\" says where they are declared", name)
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return fmt.Errorf("there is no MCP server %.100q; those there are: %s", name, tools.Line(strings.Join(names, ", "), 300))
}

// Approve allows servers that the workspace in dir declares, as they stand: those of the
// names, or without any all that wait for it. It returns them.
func (a *App) Approve(ctx context.Context, dir string, names ...string) ([]discover.Found, error) {
	return a.decide(ctx, dir, names, func(said *discover.Approvals, f discover.Found) {
		said.Approve(dir, f.Entry.Name, f.Digest)
	})
}

// Refuse is Approve for servers that are not wanted.
func (a *App) Refuse(ctx context.Context, dir string, names ...string) ([]discover.Found, error) {
	return a.decide(ctx, dir, names, func(said *discover.Approvals, f discover.Found) { said.Refuse(dir, f.Entry.Name) })
}

func (a *App) decide(ctx context.Context, dir string, names []string, say func(*discover.Approvals, discover.Found)) ([]discover.Found, error) {
	c, err := a.config.read()
	if err != nil {
		return nil, err
	}
	found, warnings := declaredServers(c, a.vars(c, dir))
	a.warn(warnings, discover.Ignored)
	chosen, err := choose(found, names)
	if err != nil || len(chosen) == 0 {
		return nil, err
	}
	return chosen, discover.ChangeApprovals(ctx, approvalsOf(c), func(said *discover.Approvals) {
		for _, f := range chosen {
			say(said, f)
		}
	})
}

// choose returns the servers of names that a workspace declares, or without names those
// that nobody has decided on.
func choose(found []discover.Found, names []string) (chosen []discover.Found, err error) {
	if len(names) == 0 {
		return slices.DeleteFunc(found, func(f discover.Found) bool { return !f.Waits() }), nil
	}
	var theirs []mcpbridge.Server
	for _, f := range found {
		if f.Approval != discover.Unneeded {
			theirs = append(theirs, f.Server)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(found, func(f discover.Found) bool { return f.Entry.Name == name })
		switch {
		case i < 0 && len(theirs) == 0:
			return nil, fmt.Errorf("%s of this directory declares no MCP server %.100q, and no other", discover.ProjectFile, name)
		case i < 0:
			return nil, absentServer(name, theirs)
		case found[i].Approval == discover.Unneeded:
			return nil, fmt.Errorf("the MCP server %.100q is your own (%s) and needs no approval; \"disabled\" in its declaration switches it off", name, found[i].Entry.Source)
		}
		chosen = append(chosen, found[i])
	}
	return chosen, nil
}
