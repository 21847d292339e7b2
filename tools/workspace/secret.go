package workspace

import (
	"path/filepath"
	"strings"
)

// Secret reports whether the file at path is one that by its name holds
// passwords or keys, so that its content must not reach a model unasked. Names
// are compared without regard to case, and to the dots and blanks at the end
// that some file systems drop. Examples and public keys do not count.
func Secret(path string) bool {
	name := strings.ToLower(strings.TrimRight(filepath.Base(path), ". "))
	ext := filepath.Ext(name)
	switch ext {
	case ".example", ".sample", ".template", ".dist", ".pub":
		return false
	case ".env", ".pem":
		return true
	}
	switch name {
	case ".netrc", "_netrc", ".npmrc", ".pgpass", ".git-credentials":
		return true
	}
	return strings.HasPrefix(name, ".env.") || strings.HasPrefix(name, "id_") && ext == ""
}

// caution says why to ask before a file is shown; "" is no reason.
func caution(name, real string) string {
	if Secret(name) || Secret(real) {
		return "the file may hold passwords or keys, and the model would read it"
	}
	return ""
}
