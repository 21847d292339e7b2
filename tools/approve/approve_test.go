package approve_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/shell"
)

var modes = []approve.Mode{approve.Ask, approve.AcceptEdits, approve.Auto, approve.ReadOnly}

// A user answers questions, and remembers them.
type user struct {
	answer approve.Answer
	err    error

	mu    sync.Mutex // guards asked
	asked []approve.Question
}

func (u *user) Approve(_ context.Context, q approve.Question) (approve.Answer, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, q)
	return u.answer, u.err
}

// A desk is a session with a workspace in a home directory.
type desk struct {
	home, ws string
	rules    *approve.Rules
	user     *user
}

func newDesk(t *testing.T, answer approve.Answer) *desk {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{home: home, ws: filepath.Join(home, "src", "ws"), user: &user{answer: answer}}
	if err := os.MkdirAll(d.ws, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(d.ws, filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	d.rules = approve.New(approve.Options{
		Dir: d.ws, Home: home,
		Protected: []string{filepath.Join(home, ".config", "lorimer"), filepath.Join(home, ".local", "state", "lorimer")},
	})
	return d
}

// fill puts the paths of the desk into a line.
func (d *desk) fill(line string) string {
	return strings.NewReplacer("{ws}", d.ws, "{home}", d.home, "{link}", filepath.Join(d.home, "link")).Replace(line)
}

// decide decides on a plan of a tool with the effect.
func (d *desk) decide(t *testing.T, m approve.Mode, e tools.Effect, p tools.Plan) approve.Verdict {
	t.Helper()
	v, err := d.rules.Decide(t.Context(), m, tools.Info{Effect: e}, approve.Question{Plan: p}, d.user)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// bash is the plan of a command, as the tool bash makes it.
func bash(line string) tools.Plan {
	return tools.Plan{
		Effect: tools.Executes, Command: line,
		Always: tools.Grant{Key: "bash:" + shell.Normalise(line), Label: "this exact command, in this session"},
	}
}

// edit is the plan of an edit, as the file tools make it.
func edit(path string) tools.Plan {
	return tools.Plan{
		Effect: tools.Edits, Locations: []tools.Location{{Path: path}},
		Always: tools.Grant{Key: "edits", Label: "edits inside the workspace, in this session"},
	}
}

func TestModes(t *testing.T) {
	const free, ask, never = "free", "ask", "never"
	tests := []struct {
		name   string
		effect tools.Effect
		plan   func(d *desk) tools.Plan
		want   [4]string // in the order of modes
	}{
		{"a read", tools.Reads, func(*desk) tools.Plan { return tools.Plan{} }, [4]string{free, free, free, free}},
		{"a look at the network", tools.Fetches, func(*desk) tools.Plan { return tools.Plan{} }, [4]string{free, free, free, free}},
		{"a file of secrets", tools.Reads, func(*desk) tools.Plan { return tools.Plan{Caution: "secrets"} }, [4]string{ask, ask, free, ask}},
		{"an edit in the workspace", tools.Edits, func(d *desk) tools.Plan { return edit(d.ws + "/f") }, [4]string{ask, free, free, never}},
		{"an edit elsewhere", tools.Edits, func(d *desk) tools.Plan { return edit(d.home + "/f") }, [4]string{ask, ask, free, never}},
		{"an edit of nobody knows what", tools.Edits, func(*desk) tools.Plan { return tools.Plan{} }, [4]string{ask, ask, free, never}},
		{"an edit that runs something", tools.Edits | tools.Executes, func(d *desk) tools.Plan {
			return tools.Plan{Locations: []tools.Location{{Path: d.ws + "/f"}}}
		}, [4]string{ask, ask, free, never}},
		{"a command", tools.Executes, func(*desk) tools.Plan { return bash("make") }, [4]string{ask, ask, free, never}},
		{"a tool of a server", tools.Acts, func(*desk) tools.Plan { return tools.Plan{} }, [4]string{ask, ask, free, never}},
		{"a tool that says nothing", 0, func(*desk) tools.Plan { return tools.Plan{} }, [4]string{ask, ask, free, never}},
		{"a call more harmless than its tool", tools.Acts, func(*desk) tools.Plan { return tools.Plan{Effect: tools.Reads} }, [4]string{free, free, free, free}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, m := range modes {
				d := newDesk(t, approve.AllowOnce)
				v := d.decide(t, m, tt.effect, tt.plan(d))
				got := free
				switch {
				case len(d.user.asked) > 0 && v.Allowed:
					got = ask
				case !v.Allowed:
					got = never
				}
				if got != tt.want[i] {
					t.Errorf("%s: %s (%+v), want %s", m, got, v, tt.want[i])
				}
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		name   string
		answer approve.Answer
		err    error
		again  int // questions after the same call twice
		want   bool
	}{
		{"once is for once", approve.AllowOnce, nil, 2, true},
		{"always is remembered", approve.AllowAlways, nil, 1, true},
		{"no is for once", approve.Deny, nil, 2, false},
		{"never is remembered", approve.DenyAlways, nil, 1, false},
		{"C034 an answer that was not offered is no", approve.Answer(42), nil, 2, false},
		{"R-ACP-42 an error is no", approve.AllowOnce, errors.New("-32601"), 2, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, tt.answer)
			d.user.err = tt.err
			for range 2 {
				v := d.decide(t, approve.Ask, tools.Executes, bash("make"))
				if v.Allowed != tt.want {
					t.Errorf("allowed = %v, want %v", v.Allowed, tt.want)
				}
				if !tt.want && (v.Refused != approve.ByUser || v.Text == "") {
					t.Errorf("verdict = %+v", v)
				}
			}
			if got := len(d.user.asked); got != tt.again {
				t.Errorf("asked %d times, want %d", got, tt.again)
			}
		})
	}
}

func TestGrants(t *testing.T) {
	t.Run("C037 the same command is not asked for again, others are", func(t *testing.T) {
		d := newDesk(t, approve.AllowAlways)
		d.decide(t, approve.Ask, tools.Executes, bash("git status"))
		d.user.answer = approve.Deny
		if v := d.decide(t, approve.Ask, tools.Executes, bash("git   status ")); !v.Allowed {
			t.Errorf("the same command: %+v", v)
		}
		for _, line := range []string{"git push --force", "git status; rm x", "/usr/bin/git status"} {
			if v := d.decide(t, approve.Ask, tools.Executes, bash(line)); v.Allowed {
				t.Errorf("%s was allowed", line)
			}
		}
	})
	t.Run("C043 always for one command is for no other, and hard rules win", func(t *testing.T) {
		d := newDesk(t, approve.AllowAlways)
		d.decide(t, approve.Ask, tools.Executes, bash("ls"))
		d.user.answer = approve.Deny
		for _, line := range []string{"curl x | sh", "rm -rf ./src"} {
			if v := d.decide(t, approve.Ask, tools.Executes, bash(line)); v.Allowed || v.Refused != approve.ByUser {
				t.Errorf("%s: %+v", line, v)
			}
		}
	})
	t.Run("C039 nothing rides along with an allowed command", func(t *testing.T) {
		d := newDesk(t, approve.AllowAlways)
		d.decide(t, approve.Ask, tools.Executes, bash("git status"))
		d.user.answer = approve.Deny
		for _, line := range []string{
			"git status; touch p", "git status && touch p", "git status | sh", "git status $(touch p)", "git status `touch p`",
			"git status\ntouch p", "git status & touch p", "git status > p", "git status <(touch p)", "git statusfoo",
		} {
			if v := d.decide(t, approve.Ask, tools.Executes, bash(line)); v.Allowed {
				t.Errorf("%s was allowed", line)
			}
		}
	})
	t.Run("edits always are not commands always, nor protected files", func(t *testing.T) {
		d := newDesk(t, approve.AllowAlways)
		d.decide(t, approve.Ask, tools.Edits, edit(d.ws+"/a"))
		d.user.answer = approve.Deny
		if v := d.decide(t, approve.Ask, tools.Edits, edit(d.ws+"/b")); !v.Allowed {
			t.Errorf("another edit: %+v", v)
		}
		for name, p := range map[string]tools.Plan{"command": bash("touch a"), "hook": edit(d.ws + "/.git/hooks/pre-commit")} {
			if v := d.decide(t, approve.Ask, p.Effect, p); v.Allowed {
				t.Errorf("%s was allowed", name)
			}
		}
	})
	t.Run("C041 each route asks for itself after a no", func(t *testing.T) {
		d := newDesk(t, approve.Deny)
		d.decide(t, approve.Ask, tools.Executes, bash("rm x"))
		d.decide(t, approve.Ask, tools.Edits, edit(d.ws+"/x"))
		d.decide(t, approve.Ask, tools.Executes, bash("python3 -c 'open(\"x\",\"w\")'"))
		v := d.decide(t, approve.Ask, tools.Acts, tools.Plan{})
		if len(d.user.asked) != 4 {
			t.Errorf("asked %d times, want 4", len(d.user.asked))
		}
		for _, want := range []string{"another command", "another tool", "ask the user"} {
			if !strings.Contains(v.Text, want) {
				t.Errorf("text = %q, without %q", v.Text, want)
			}
		}
	})
}

func TestHardRules(t *testing.T) {
	refused := []string{
		"rm -rf /", "rm -fr /", "rm -r -f /*", "rm / -rf", "rm -rf ~", "rm -rf ~/", "rm -rf $HOME", "rm -rf \"$HOME\"/*", "rm -rf .", "rm -rf ./",
		"rm -rf *", "rm -rf ..", "rm -rf ../..", "rm -rf {ws}", "rm -rf {ws}/../ws/", "rm -rf {home}/src", "rm -rf {home}/SRC", "ls; rm -rf .", "ls && rm -rf ~",
		"ls | rm -rf /", "echo $(rm -rf /)", "echo `rm -rf /`", "sudo rm -rf /", "env A=b nohup rm -rf /", "sh -c 'rm -rf .'", "find . -delete",
		"cd .. && rm -rf ws", "ls | xargs rm -rf .", "rm -rf {link}/", "rm -rf {link}/../ws",
		"rm -rf ../w*", "rm -rf ../[w]s/", "rm -rf {home}/s?c",
	}
	for _, line := range refused {
		t.Run("C043 "+line, func(t *testing.T) {
			for _, m := range []approve.Mode{approve.Ask, approve.Auto} {
				d := newDesk(t, approve.AllowOnce)
				v := d.decide(t, m, tools.Executes, bash(d.fill(line)))
				if v.Allowed || v.Refused != approve.ByRule || len(d.user.asked) != 0 || !strings.Contains(v.Text, "it would delete") {
					t.Errorf("%s: %+v, asked %d times", m, v, len(d.user.asked))
				}
			}
		})
	}
	t.Run("a deletion is refused whatever else is asked about", func(t *testing.T) {
		d := newDesk(t, approve.AllowOnce)
		p := bash("rm -rf .")
		p.Locations = []tools.Location{{Path: filepath.Join(d.ws, ".envrc")}}
		if v := d.decide(t, approve.Auto, tools.Executes, p); v.Refused != approve.ByRule {
			t.Errorf("%+v, want a refusal by rule", v)
		}
	})
	asked := []string{
		"echo x > .git/hooks/pre-commit", "echo x >> .GIT/Hooks/post-merge", "cp a .git/config", "git config core.hooksPath x", "rm -rf .git",
		"echo x >> ~/.bashrc", "tee ~/.zshrc < f", "sed -i s/a/b/ .vscode/tasks.json", "cp s .vscode/settings.json", "mv a .envrc", "touch .idea/x.xml",
		"cp x {home}/.config/lorimer/config.toml", "rm {home}/.local/state/lorimer/trust.json", "rm -rf {home}/.config", "echo k >> ~/.ssh/authorized_keys",
		"git reset --hard", "git clean -fd", "git checkout -- .", "git stash drop", "git push --force", "rm -rf $X/", "if then )(",
	}
	for _, line := range asked {
		t.Run("asked in auto: "+line, func(t *testing.T) {
			d := newDesk(t, approve.AllowAlways)
			line := d.fill(line)
			for range 2 { // always is not for these
				if v := d.decide(t, approve.Auto, tools.Executes, bash(line)); !v.Allowed {
					t.Errorf("%+v", v)
				}
			}
			if len(d.user.asked) != 2 || d.user.asked[0].Reason == "" || d.user.asked[0].Plan.Always.Key != "" {
				t.Errorf("questions = %+v", d.user.asked)
			}
			v, err := d.rules.Decide(t.Context(), approve.Auto, tools.Info{}, approve.Question{Plan: bash(line)}, nil)
			if err != nil || v.Allowed || v.Refused != approve.Nobody || v.Text == "" {
				t.Errorf("with nobody to ask: %+v, %v", v, err)
			}
		})
	}
	free := []string{
		"rm -rf build", "rm -rf ./node_modules/*", "rm f", "find . -name '*.o' -delete", "cat .git/config", "grep x ~/.bashrc", "git status", "git push",
		"git checkout main", "echo 'rm -rf /'", "rm -rf \"$TMPDIR/x\"", "cp a b > log 2>&1", "git commit -m 'rm -rf /'", "cp .gitignore x", "touch a.git", "rm -rf ../x*/y", "rm -rf b*",
	}
	for _, line := range free {
		t.Run("free in auto: "+line, func(t *testing.T) {
			d := newDesk(t, approve.Deny)
			if v := d.decide(t, approve.Auto, tools.Executes, bash(line)); !v.Allowed || len(d.user.asked) != 0 {
				t.Errorf("%+v, asked %+v", v, d.user.asked)
			}
		})
	}
}

func TestProtectedFiles(t *testing.T) {
	tests := []struct {
		path string
		want bool // asked, although edits are accepted
	}{
		{".git/hooks/pre-commit", true},
		{".GIT/HOOKS/pre-commit", true},
		{".git./hooks /x", true},
		{"sub/module/.git/config", true},
		{".bashrc", true},
		{".vscode/settings.json", true},
		{".vscode/snippets.json", false},
		{".zed/tasks.json", true},
		{".idea/workspace.xml", true},
		{".envrc", true},
		{".lorimer/config.toml", true},
		{"src/main.go", false},
		{"git/hooks/x", false},
		{".gitignore", false},
	}
	for _, tt := range tests {
		t.Run("C073 "+tt.path, func(t *testing.T) {
			for _, m := range []approve.Mode{approve.AcceptEdits, approve.Auto} {
				d := newDesk(t, approve.AllowOnce)
				d.decide(t, m, tools.Edits, edit(filepath.Join(d.ws, tt.path)))
				if got := len(d.user.asked) == 1; got != tt.want {
					t.Errorf("%s: asked = %v, want %v", m, got, tt.want)
				}
			}
		})
	}
	t.Run("through a link", func(t *testing.T) {
		d := newDesk(t, approve.Deny)
		if err := os.MkdirAll(filepath.Join(d.ws, ".git", "hooks"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(".git/hooks", filepath.Join(d.ws, "h")); err != nil {
			t.Fatal(err)
		}
		if v := d.decide(t, approve.Auto, tools.Executes, bash("echo x > h/pre-commit")); v.Allowed {
			t.Error("a hook was written through a link")
		}
	})
	t.Run("through a pattern", func(t *testing.T) {
		d := newDesk(t, approve.Deny)
		if err := os.MkdirAll(filepath.Join(d.ws, ".git", "hooks"), 0o755); err != nil {
			t.Fatal(err)
		}
		for line, want := range map[string]bool{"rm -rf .g*": false, "cp f .git/h*s": false, "cp f .[g]it/h?oks/": false, "touch *": true, "touch .y*": true, "touch */config": true,
			"rm -f /*/*/*/*/*/*/*/.bashr?": false, "rm /*/*/*/*/*/*/*/.x": false, "touch /e*/passwd": false,
			"rm " + d.fill("{home}/.config/lor*/*.toml"): false, "rm " + d.fill("{home}/.cache/lor*/*.toml"): true} {
			if v := d.decide(t, approve.Auto, tools.Executes, bash(line)); v.Allowed != want {
				t.Errorf("%s: allowed = %v, want %v", line, v.Allowed, want)
			}
		}
	})
}

func TestDirty(t *testing.T) {
	tests := []struct {
		name  string
		dirty func(context.Context, string) (bool, error)
		line  string
		asked bool
	}{
		{"changes to lose", func(context.Context, string) (bool, error) { return true, nil }, "git reset --hard", true},
		{"nothing to lose", func(context.Context, string) (bool, error) { return false, nil }, "git reset --hard", false},
		{"nobody can tell", func(context.Context, string) (bool, error) { return false, errors.New("no git") }, "git reset --hard", true},
		{"a clean tree does not help a push", func(context.Context, string) (bool, error) { return false, nil }, "git push -f", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := &user{answer: approve.AllowOnce}
			r := approve.New(approve.Options{Dir: t.TempDir(), Dirty: tt.dirty})
			if _, err := r.Decide(t.Context(), approve.Auto, tools.Info{}, approve.Question{Plan: bash(tt.line)}, u); err != nil {
				t.Fatal(err)
			}
			if got := len(u.asked) == 1; got != tt.asked {
				t.Errorf("asked = %v, want %v", got, tt.asked)
			}
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	d := newDesk(t, approve.Deny)
	v, err := d.rules.Decide(t.Context(), approve.Ask, tools.Info{Effect: tools.Executes}, approve.Question{Plan: bash("make")}, nil)
	if err != nil || v.Allowed || v.Refused != approve.Nobody || !strings.Contains(v.Text, "nobody can be asked") {
		t.Errorf("Decide = %+v, %v", v, err)
	}
}

// An approverFunc is a function as an [approve.Approver].
type approverFunc func(context.Context, approve.Question) (approve.Answer, error)

func (f approverFunc) Approve(ctx context.Context, q approve.Question) (approve.Answer, error) {
	return f(ctx, q)
}

func TestCancel(t *testing.T) {
	tests := []struct {
		name string
		ask  func(ctx context.Context, cancel func()) (approve.Answer, error)
	}{
		{"the wait ends with the context", func(ctx context.Context, cancel func()) (approve.Answer, error) {
			cancel()
			<-ctx.Done()
			return approve.Deny, ctx.Err()
		}},
		{"C022 a yes that comes after a cancel is none", func(_ context.Context, cancel func()) (approve.Answer, error) {
			cancel()
			return approve.AllowAlways, nil
		}},
		{"the asker was cancelled by itself", func(context.Context, func()) (approve.Answer, error) {
			return approve.AllowOnce, context.Canceled
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			d := newDesk(t, approve.Deny)
			ask := approverFunc(func(ctx context.Context, _ approve.Question) (approve.Answer, error) { return tt.ask(ctx, cancel) })
			v, err := d.rules.Decide(ctx, approve.Ask, tools.Info{}, approve.Question{Plan: bash("make")}, ask)
			if !errors.Is(err, context.Canceled) || v.Allowed {
				t.Errorf("Decide = %+v, %v; want canceled", v, err)
			}
			if v := d.decide(t, approve.Ask, tools.Executes, bash("make")); v.Allowed {
				t.Error("the late answer was remembered")
			}
		})
	}
}

func TestParallelCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := approve.New(approve.Options{Dir: "/nowhere"})
		asked, answer := 0, make(chan approve.Answer)
		ask := approverFunc(func(ctx context.Context, _ approve.Question) (approve.Answer, error) {
			asked++
			select {
			case a := <-answer:
				return a, nil
			case <-ctx.Done():
				return approve.Deny, ctx.Err()
			}
		})
		decide := func(ctx context.Context, line string, allowed chan<- bool) {
			v, err := rules.Decide(ctx, approve.Ask, tools.Info{}, approve.Question{Plan: bash(line)}, ask)
			allowed <- err == nil && v.Allowed
		}
		same, other := make(chan bool), make(chan bool)
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go decide(t.Context(), "make", same)
		}
		synctest.Wait()
		go decide(ctx, "other", other)
		synctest.Wait()
		if asked != 1 {
			t.Errorf("%d questions at once, want 1", asked)
		}
		cancel() // ends the wait for a turn too
		if <-other {
			t.Error("the cancelled call was allowed")
		}
		answer <- approve.AllowAlways
		for range 3 {
			if !<-same {
				t.Error("a call was refused")
			}
		}
		if asked != 1 {
			t.Errorf("C036 asked %d times, want once for all three", asked)
		}
	})
}

func TestGate(t *testing.T) {
	offered := func(m approve.Mode) (names []string) {
		var all []tools.Tool
		for name, e := range map[string]tools.Effect{"read": tools.Reads, "fetch": tools.Fetches, "edit": tools.Edits, "bash": tools.Executes, "mcp": tools.Acts, "odd": 0} {
			all = append(all, tools.Define[struct{}](tools.Info{Name: name, Effect: e}, nil, nil))
		}
		r, err := tools.NewRegistry(approve.Gate(m), all...)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range r.Infos() {
			names = append(names, i.Name)
		}
		return names
	}
	if got, want := offered(approve.ReadOnly), []string{"fetch", "read"}; !slices.Equal(got, want) {
		t.Errorf("read-only offers %q, want %q", got, want)
	}
	for _, m := range modes[:3] {
		if got := offered(m); len(got) != 6 {
			t.Errorf("%s offers %q, want all", m, got)
		}
	}
}
