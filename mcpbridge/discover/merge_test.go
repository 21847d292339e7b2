package discover_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/discover"
)

func entry(name, command string) discover.Entry {
	return discover.Entry{
		Server: mcpbridge.Server{Name: name, Kind: mcpbridge.Stdio, Command: command, Source: "FILE:1"}, File: "FILE", Line: 1,
	}
}

func servers(found []discover.Found) (names []string) {
	for _, f := range found {
		state := "on"
		if f.Server.Off != "" {
			state, _, _ = strings.Cut(f.Server.Off, ";")
		}
		names = append(names, f.Server.Name+" "+f.Server.Command+": "+state)
	}
	return names
}

// The workspace cannot take the place of a server of the user's (C048).
func TestMergeKeepsTheFirstOfAName(t *testing.T) {
	user := discover.Source{Entries: []discover.Entry{entry("b", "mine"), entry("a", "a")}}
	project := discover.Source{Project: true, Entries: []discover.Entry{entry("b", "theirs"), entry("c", "c")}}
	found, warnings := discover.Merge(vars(), nil, user, project)
	want := []string{"b mine: on", "a a: on", "c c: not approved"}
	if got := servers(found); !slices.Equal(got, want) {
		t.Errorf("Merge() = %q, want %q", got, want)
	}
	line := `FILE:1: server "b": is declared by FILE:1 already and has no effect here; give it another name`
	if len(warnings) != 1 || warnings[0].String() != line {
		t.Errorf("warnings = %v, want %q", warnings, line)
	}
}

// A server of a project is off until it is approved, and again when what would run is
// another thing (C046).
func TestMergeWantsApproval(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "approved.json")
	v := vars()
	v.Workspace = t.TempDir()
	state := func(e discover.Entry) string {
		t.Helper()
		approved, err := discover.LoadApprovals(file)
		if err != nil {
			t.Fatal(err)
		}
		found, _ := discover.Merge(v, approved, discover.Source{Project: true, Entries: []discover.Entry{e}})
		return servers(found)[0]
	}
	e := entry("x", "${HOST}")
	if got, want := state(e), "x ${HOST}: not approved"; got != want {
		t.Errorf("before approval it is %q, want %q", got, want)
	}
	var approved discover.Approvals
	approved.Approve(v.Workspace, "x", e.Digest(v))
	if err := approved.Save(file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of approvals is %v, %v, want one that the user alone reads", info, err)
	}
	if got, want := state(e), "x h.example: on"; got != want {
		t.Errorf("once approved it is %q, want %q", got, want)
	}
	renamed := e
	renamed.Name = "y"
	if got, want := state(renamed), "y ${HOST}: not approved"; got != want {
		t.Errorf("under another name it is %q, want %q", got, want)
	}
	for name, change := range map[string]func(*discover.Entry){
		"command": func(e *discover.Entry) { e.Command = "h.example" }, // what it stands for at this moment is not what was approved
		"args":    func(e *discover.Entry) { e.Args = []string{"a"} },
		"env":     func(e *discover.Entry) { e.Env = map[string]string{"A": "b"} },
		"cwd":     func(e *discover.Entry) { e.Dir = "/tmp" },
		"url":     func(e *discover.Entry) { e.URL = "https://h" },
		"headers": func(e *discover.Entry) { e.Headers = map[string]string{"A": "b"} },
		"envFile": func(e *discover.Entry) { e.EnvFile = ".env" },
		"kind":    func(e *discover.Entry) { e.Kind = mcpbridge.SSE },
		"oauth":   func(e *discover.Entry) { e.OAuth.Metadata = "https://as" },
	} {
		c := e
		change(&c)
		if got := state(c); !strings.HasSuffix(got, ": changed since it was approved") {
			t.Errorf("with another %s it is %q, want that it has changed", name, got)
		}
	}
	off := entry("z", "z")
	off.Off = "switched off in FILE:1"
	found, _ := discover.Merge(v, nil, discover.Source{Project: true, Entries: []discover.Entry{off}})
	if got, want := servers(found)[0], "z z: switched off in FILE:1"; got != want || found[0].Waits() {
		t.Errorf("one that its file switches off is %q, waiting %v, want %q", got, found[0].Waits(), want)
	}
	e.Timeout, e.Include = time.Second, []string{"a"} // which change nothing of what runs
	if got, want := state(e), "x h.example: on"; got != want {
		t.Errorf("with another time limit it is %q, want %q", got, want)
	}
}

func TestApprovals(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	v := vars()
	v.Workspace = dir
	var a discover.Approvals
	state := func() discover.Approval {
		found, _ := discover.Merge(v, a, discover.Source{Project: true, Entries: []discover.Entry{entry("x", "a")}})
		return found[0].Approval
	}
	a.Approve(link, "x", entry("x", "a").Digest(v))
	if got := state(); got != discover.Approved {
		t.Errorf("it is %s, want approved in the directory that a link leads to", got)
	}
	if !a.Refuse(dir, "x") || state() != discover.Refused {
		t.Errorf("it is %s, want refused after it was approved", state())
	}
	if a.Refuse(dir, "x") || a.Refuse(dir, "y") {
		t.Error("Refuse() = true for what is not approved")
	}
	file := filepath.Join(dir, "approved.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := discover.LoadApprovals(file); len(got) != 0 || err == nil || !strings.Contains(err.Error(), "delete it and approve again") {
		t.Errorf("LoadApprovals() = %v, %v for a damaged file, want none and a way out", got, err)
	}
	if got, err := discover.LoadApprovals(filepath.Join(dir, "none")); len(got) != 0 || err != nil {
		t.Errorf("LoadApprovals() = %v, %v without a file, want none", got, err)
	}
}

// Who approves while others do loses nothing of what they have said, a revocation least
// of all.
func TestChangeApprovals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "state", "approved.json")
	var g errgroup.Group
	const all = 20
	for i := range all {
		g.Go(func() error {
			return discover.ChangeApprovals(t.Context(), file, func(a *discover.Approvals) {
				a.Approve(dir, strconv.Itoa(i), "digest")
			})
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	a, err := discover.LoadApprovals(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if !a.Refuse(dir, strconv.Itoa(i)) {
			t.Errorf("the approval of %d is lost", i)
		}
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := discover.ChangeApprovals(t.Context(), file, func(*discover.Approvals) {}); err == nil {
		t.Error("ChangeApprovals() = nil for a damaged file")
	}
	if got, err := os.ReadFile(file); string(got) != "{" {
		t.Errorf("the damaged file has %q (%v) afterwards, want it as it was", got, err)
	}
}

func TestJoin(t *testing.T) {
	file := mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "a", Source: "file"}
	off := file
	off.Off = "switched off"
	mine, other := file, file
	mine.Source = "editor"
	other.Source, other.Command = "editor", "b"
	tests := []struct {
		name   string
		found  discover.Found
		editor mcpbridge.Server
		want   []string
	}{
		{"the same server", discover.Found{Server: file}, mine, []string{"file a"}},
		{"another one of the name", discover.Found{Server: file}, other, []string{"file a", "editor b"}},
		{"one that is switched off", discover.Found{Server: off}, mine, []string{"file a"}},
		{"one that waits for approval", discover.Found{Server: off, Approval: discover.Pending}, mine, []string{"editor a"}},
		{"another one than waits", discover.Found{Server: off, Approval: discover.Changed}, other, []string{"file a", "editor b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range discover.Join([]discover.Found{tt.found}, []mcpbridge.Server{tt.editor}) {
				got = append(got, s.Source+" "+s.Command)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Join() = %q, want %q", got, tt.want)
			}
		})
	}
}
