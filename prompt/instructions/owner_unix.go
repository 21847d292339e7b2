//go:build unix

package instructions

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps the opening of a pipe or a device from waiting.
const nonblock = syscall.O_NONBLOCK

// ours returns an error for a file of another user than this one, root and the one
// who has the working directory: whoever may write to a directory above could
// otherwise give orders to all who work below.
func ours(info, dir fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 || int(st.Uid) == os.Geteuid() {
		return nil
	}
	if own, ok := dir.Sys().(*syscall.Stat_t); ok && own.Uid == st.Uid {
		return nil
	}
	return fmt.Errorf("it belongs to another user (id %d); copy it, or have it given to you, if you trust it", st.Uid)
}
