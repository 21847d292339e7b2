package workspace_test

import (
	"os/exec"
	"testing"

	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

func TestDirty(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	fsys := openTree(t, map[string]string{"f": "x\n"})
	dirty := workspace.Dirty(local.NewRunner(local.RunnerOptions{}))
	if got, err := dirty(t.Context(), fsys.Dir()); err == nil {
		t.Errorf("no work tree: %v, want an error", got)
	}
	bash := workspace.NewBash(fsys, local.NewRunner(local.RunnerOptions{}), workspace.BashOptions{})
	for _, step := range []struct {
		line string
		want bool
	}{
		{"git init -q", true},
		{"git add . && git -c user.name=a -c user.email=a@b commit -qm x", false},
		{"echo y >> f", true},
	} {
		call(t, bash, "command", step.line)
		if got, err := dirty(t.Context(), fsys.Dir()); err != nil || got != step.want {
			t.Errorf("after %s: %v, %v; want %v", step.line, got, err, step.want)
		}
	}
}
