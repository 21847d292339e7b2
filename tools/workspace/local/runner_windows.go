package local

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// shellCommand returns the command that runs line. The line is handed over as
// it is, since cmd has quoting rules of its own.
func shellCommand(line string) *exec.Cmd {
	cmd := exec.Command(Shell())
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
	return cmd
}

// Shell returns what runs commands.
func Shell() string { return "cmd.exe" }

// isolate keeps the console's interrupts of this process from the command.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr.CreationFlags = syscall.CREATE_NEW_PROCESS_GROUP
	cmd.SysProcAttr.HideWindow = true
}

func exitOf(s *os.ProcessState) workspace.Exit { return workspace.Exit{Code: s.ExitCode()} }

// processes are a shell and what it started.
type processes struct {
	leader int
	mark   string // unused here: the tree is known by its parents
}

// end ends the tree. Windows knows no polite signal for it.
func (p processes) end(time.Duration) {
	kill := exec.Command("taskkill.exe", "/t", "/f", "/pid", strconv.Itoa(p.leader))
	kill.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	kill.Run() // fails when the tree is gone, which is what we want
}
