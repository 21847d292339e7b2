package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/prompt"
)

// BenchmarkAssemble makes the full prompt with 60 tools and 40 skills, as it is made
// for each step of a turn. It is to take at most a millisecond.
func BenchmarkAssemble(b *testing.B) {
	c := everything()
	schema, err := json.Marshal(map[string]any{"type": "object", "description": strings.Repeat("x", 1000)})
	if err != nil {
		b.Fatal(err)
	}
	for i := range c.Tools {
		c.Tools[i].Schema = schema
	}
	for i := len(c.Tools); i < 60; i++ {
		c.Tools = append(c.Tools, prompt.ToolSchema{Name: fmt.Sprint("tool_", i), Description: strings.Repeat("y", 400), Schema: schema})
	}
	r, err := prompt.Standard(prompt.Options{WebNotice: webNotice})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Parts(c, noon); err != nil {
			b.Fatal(err)
		}
	}
}
