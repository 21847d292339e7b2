package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// place is the boot of the kernel.
func place() string {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return boot
}

// started returns the start of a process in seconds, with its microseconds.
func started(id int) (string, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", id)
	if err != nil {
		return "", false
	}
	t := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", t.Sec, t.Usec), true
}
