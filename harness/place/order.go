package place

import (
	"cmp"
	"path/filepath"
	"strings"
)

// Holds reports whether path is dir or lies below it, both absolute and clean. It
// compares names of directories as they are written: /a/b does not hold /a/bc.
func Holds(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || strings.HasSuffix(dir, string(filepath.Separator)) || rest[0] == filepath.Separator)
}

// ByName orders projects: by name, whatever its case, and by id where that is the
// same.
func ByName(a, b Project) int {
	return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
}
