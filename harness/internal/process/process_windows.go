package process

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// place is the installation of the system; ids are unique in it, and times of
// start hold across boots.
func place() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer func() { _ = key.Close() }() // it was only read
	id, _, err := key.GetStringValue("MachineGuid")
	if err != nil {
		return ""
	}
	return id
}

// query opens a process to ask about it.
func query(id int, ask func(windows.Handle) error) error {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(id))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }() // it was only read
	return ask(h)
}

// stillActive is the exit code of a process that has not ended.
const stillActive = 259

// running reports whether a process has the id. One that cannot be asked is
// taken for one that runs.
func running(id int) bool {
	code := uint32(stillActive)
	err := query(id, func(h windows.Handle) error { return windows.GetExitCodeProcess(h, &code) })
	return !errors.Is(err, windows.ERROR_INVALID_PARAMETER) && code == stillActive
}

// started returns the start of a process in nanoseconds.
func started(id int) (string, bool) {
	var created, exited, kernel, user windows.Filetime
	err := query(id, func(h windows.Handle) error {
		return windows.GetProcessTimes(h, &created, &exited, &kernel, &user)
	})
	if err != nil {
		return "", false
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), true
}
