package trace

import (
	"path/filepath"
	"testing"
)

func TestRedactKeepsASecretOnce(t *testing.T) { // each send of a session names its key
	f, err := Open(filepath.Join(t.TempDir(), "trace"), "sk-first-key")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 3 {
		f.Redact("sk-first-key", "sk-second-key")
	}
	if got := len(f.secrets); got != 2 {
		t.Errorf("%d secrets are looked for in each line, want 2", got)
	}
}
