package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A command of the model gets the keys of providers neither from its own
// environment nor from that of the agent.
func TestC133KeysStayWithTheAgent(t *testing.T) {
	program, err := exec.LookPath("lorimer")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(program, "tools", "call", "bash", `{"command":"env; echo; cat /proc/$PPID/environ | tr '\\0' '\\n'; echo done"}`, "--mode", "auto")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=sk-of-the-agent", raceOptions()}
	if os.Getuid() == 0 {
		drop(t, cmd, dir) // the administrator may read everything
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "done") {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "sk-of-the-agent") {
		t.Errorf("the key is in the output:\n%s", out)
	}
}

// drop has cmd run as a user without rights, from a copy that the user can reach.
func drop(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	const nobody = 65534
	data, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(dir, "lorimer")
	cmd.Args[0] = cmd.Path
	if err := os.WriteFile(cmd.Path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
