package stdio

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// isolate keeps the console's interrupts of this process from the program.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// await waits until the program has ended.
func await(cmd *exec.Cmd) {
	_ = cmd.Wait() // the state says all
}

// terminate does nothing: Windows knows no polite signal for programs without a window.
func terminate(*os.Process) {}

// kill ends the program and those that it started, known by their parents.
func kill(p *os.Process) {
	cmd := exec.Command("taskkill.exe", "/t", "/f", "/pid", strconv.Itoa(p.Pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	_ = cmd.Run() // fails when they are gone, which is what the caller wants
}

// errNoExec is for a file that the system does not know how to run.
const errNoExec = syscall.Errno(193) // ERROR_BAD_EXE_FORMAT
