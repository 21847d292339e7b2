package skills

import (
	"embed"
	"fmt"
	"sync"
)

//go:embed builtin
var builtin embed.FS

// seeds returns the skills of this program.
var seeds = sync.OnceValue(func() []Skill {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		panic(err) // it is embedded
	}
	var out []Skill
	for _, e := range entries {
		text, err := builtin.ReadFile("builtin/" + e.Name() + "/" + fileName)
		if err != nil {
			panic(err) // as above
		}
		d := parse(e.Name(), text, int64(len(text)))
		if len(d.remarks) > 0 {
			panic(fmt.Sprintf("built-in skill %s %s", e.Name(), d.remarks[0].text)) // a test reads them
		}
		out = append(out, Skill{Skill: d.skill, Scope: Builtin, Enabled: d.enabled})
	}
	return out
})
