package prompt_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden holds whole requests, for a reviewer to read as the model does.
func TestGolden(t *testing.T) {
	lat, long := 59.91, 10.75
	environment := &prompt.Environment{
		Cwd: "/home/ada/engine", Roots: []string{"/home/ada/notes", "/srv/data"}, Shell: "/bin/bash",
		OS: "linux/amd64", Timeout: 2 * time.Minute, MaxOutput: 64 << 10,
	}
	tools := named("bash", "read")
	tools[0].Guidance = "# Commands\n\nRun one command for one question."
	tests := []struct {
		name string
		c    prompt.Context
		send prompt.Send
	}{
		{"agent", prompt.Context{Model: "Example 1", Tools: tools},
			prompt.Send{Shape: prompt.Harness, Client: prompt.Client{Name: "zed", Version: "1.2"}, Environment: environment}},
		{"configured", prompt.Context{Model: "Example 1", Tools: tools, Facts: prompt.Facts{
			Name: "Ada", Location: "Oslo", Latitude: &lat, Longitude: &long, Units: "metric, 24-hour clock, NOK", Locale: "nb_NO",
		}}, prompt.Send{Shape: prompt.Harness, Volatile: prompt.InSystem}},
		{"stateless", prompt.Context{Model: "Example 1", Facts: prompt.Facts{Location: "Oslo"}}, prompt.Send{Shape: prompt.Stateless}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := standard(t)
			tt.send.Parts = parts(t, r, tt.c, noon)
			c, err := r.Compose(tt.send)
			if err != nil {
				t.Fatal(err)
			}
			got := c.System + "\n-- user --\n" + c.Turn("Why is the build red?") + "\n"
			file := filepath.Join("testdata", tt.name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// TestStandardOrder is R-PROMPT-12 and R-PROMPT-23: ascending orders, the style
// last.
func TestStandardOrder(t *testing.T) {
	a := assemble(t, standard(t), prompt.Context{Model: "m1", Tools: named("bash")})
	if !slices.IsSortedFunc(a.Sections, func(a, b prompt.Entry) int { return int(a.Order - b.Order) }) {
		t.Errorf("sections = %q are not in ascending order", sectionNames(a))
	}
	want := []string{prompt.IdentityName, prompt.PersonaName, "Principles", "Context", "Tools", "Multi-step and recovery",
		"Output format", "Trust boundary", "Language", "Conversation style"}
	if diff := cmp.Diff(want, sectionNames(a)); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	// With all tools of the agent the first request is to stay within 16 kB.
	if n := len(parts(t, standard(t), prompt.Context{Model: "m1", Tools: named("bash")}, noon).Stable); n > 5<<10 {
		t.Errorf("stable part has %d bytes, want at most 5 KiB", n)
	}
}
