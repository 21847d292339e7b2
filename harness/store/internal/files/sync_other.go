//go:build !unix

package files

// syncDir does nothing where a directory cannot be synced: a rename is durable there.
func syncDir(string) error { return nil }
