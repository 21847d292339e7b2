//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkPrivate fails for a directory below one that everybody may write to, such
// as /tmp, unless all on the way to it is the user's alone: another user could
// have made it beforehand, or put a file of theirs in the place of ours.
func checkPrivate(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	var open string // what others could change, nearest to dir
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		if shared := info.Mode()&fs.ModeSticky != 0 && info.Mode().Perm()&0o002 != 0; shared {
			if at == dir {
				open = dir
			}
			return notPrivate(open)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if open == "" && (!ok || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0) {
			open = at
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func notPrivate(open string) error {
	if open == "" {
		return nil
	}
	return &fault{fmt.Sprintf("directory %s is not yours alone, and lies where everybody may write; name a directory of your own", open), nil}
}
