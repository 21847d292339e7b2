//go:build !windows && (!unix || solaris || aix)

package oauth

import "os"

// lockFile does nothing: who renews a credential here reads again what others may
// have kept meanwhile.
func lockFile(*os.File) error { return nil }
