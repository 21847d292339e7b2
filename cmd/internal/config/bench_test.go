package config_test

import (
	"testing"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// BenchmarkLoad reads a file that sets every key.
func BenchmarkLoad(b *testing.B) {
	s := config.Sources{Flags: map[string]string{"config": "testdata/full.toml", "state": b.TempDir()}}
	for b.Loop() {
		if _, _, err := config.Load(s); err != nil {
			b.Fatal(err)
		}
	}
}
