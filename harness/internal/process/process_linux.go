package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// place is the boot of the kernel and the namespace of process ids.
func place() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// Fields of /proc/PID/stat, counted from the one after the name.
const (
	statState   = 0
	statStarted = 19
)

// started returns the start of a process in clock ticks since the boot. One that
// has ended and waits for its parent to notice is told as "", true.
func started(id int) (string, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	if err != nil {
		return "", false
	}
	// The name may contain anything, but no bracket comes after its own.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	switch {
	case len(fields) <= statStarted:
		return "", false
	case fields[statState][0] == 'Z' || fields[statState][0] == 'X':
		return "", true
	}
	return string(fields[statStarted]), true
}
