package discover

import (
	"fmt"
	"slices"

	"github.com/lorimer-dev/lorimer/mcpbridge"
)

// A Source is the servers of one file, in its order.
type Source struct {
	Entries []Entry
	Project bool // the file came with the workspace: its servers are off until they are approved
}

// An Approval says whether a server may be started.
type Approval string

// The approvals.
const (
	Unneeded Approval = ""         // the user has declared it
	Approved Approval = "approved" // as it stands
	Pending  Approval = "pending"  // nobody has approved it yet
	Changed  Approval = "changed"  // it is another one than what was approved
	Refused  Approval = "refused"  // the user does not want it
)

// A Found server is one that a file declares.
type Found struct {
	Server   mcpbridge.Server // as it is to be used
	Entry    Entry            // as it was written
	Approval Approval
	Digest   string // of the entry, where it has to be approved
}

// Waits reports whether the server would be used once it was approved.
func (f Found) Waits() bool { return f.undecided() && f.Entry.Off == "" }

func (f Found) undecided() bool { return f.Approval == Pending || f.Approval == Changed }

// Merge returns the servers of sources in their order (R-MCP-01). Of two with one name
// the first counts, so that a workspace cannot take the place of what the user has
// declared (C048); the other is a warning.
func Merge(v Vars, approved Approvals, sources ...Source) ([]Found, []Warning) {
	var all []Found
	var warnings []Warning
	taken := make(map[string]Entry)
	for _, s := range sources {
		for _, e := range s.Entries {
			if first, ok := taken[e.Name]; ok {
				text := fmt.Sprintf("is declared by %s already and has no effect here; give it another name", first.Source)
				warnings = append(warnings, Warning{File: e.File, Line: e.Line, Text: of(e.Name, text)})
				continue
			}
			taken[e.Name] = e
			f := Found{Entry: e}
			if s.Project {
				f.Digest = e.Digest(v)
				f.Approval = approved.of(v.Workspace, e.Name, f.Digest)
			}
			f.Server = f.use(v)
			all = append(all, f)
		}
	}
	return all, warnings
}

// use returns the server as it is to be used. One that is off is as it was written:
// the user is shown what there is to approve, and not what the variables hold.
func (f Found) use(v Vars) mcpbridge.Server {
	s := f.Entry.Server
	const way = `look at it in the file, then "lorimer mcp approve" with its name allows it`
	switch {
	case s.Off != "":
	case f.Approval == Pending:
		s.Off = "not approved; " + way
	case f.Approval == Changed:
		s.Off = "changed since it was approved; " + way
	case f.Approval == Refused:
		s.Off = "revoked; \"lorimer mcp approve\" with its name allows it"
	default:
		return f.Entry.Resolve(v)
	}
	return s
}

// Join returns the servers of a session: those of files, then those that its editor
// sends. One that the editor sends and a file declares alike is one server (R-MCP-01);
// where nobody has approved it the editor, whose user has chosen it there, decides.
func Join(found []Found, editor []mcpbridge.Server) []mcpbridge.Server {
	var all []mcpbridge.Server
	for _, f := range found {
		if f.undecided() && slices.ContainsFunc(editor, func(s mcpbridge.Server) bool { return same(s, f.Server) }) {
			continue
		}
		all = append(all, f.Server)
	}
	for _, s := range editor {
		if !slices.ContainsFunc(all, func(o mcpbridge.Server) bool { return same(s, o) }) {
			all = append(all, s)
		}
	}
	return all
}

// same reports whether a and b have one name and are reached in one way.
func same(a, b mcpbridge.Server) bool {
	return a.Name == b.Name && a.Fingerprint() == b.Fingerprint()
}
