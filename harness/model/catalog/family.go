package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

//go:embed families.json
var familiesJSON []byte

// A family is a group of models whose ids begin alike.
type family struct {
	Prefix  string `json:"prefix"`
	Window  int    `json:"window"`
	Images  bool   `json:"images"`
	NoTools bool   `json:"no_tools"`
	Thinks  bool   `json:"thinks"`
}

// families reads the data once; it is part of the program, so that a mistake in
// it is one of ours.
var families = sync.OnceValue(func() []family {
	var all []family
	if err := json.Unmarshal(familiesJSON, &all); err != nil {
		panic(fmt.Sprintf("reading the families of models: %v", err))
	}
	return all
})

// lookup finds the family with the longest prefix. A maker's name before a
// slash, as resellers write it, does not count, nor does case.
func lookup(id string) (best family, ok bool) {
	id = strings.ToLower(id)
	id = id[strings.LastIndexByte(id, '/')+1:]
	for _, f := range families() {
		if strings.HasPrefix(id, f.Prefix) && len(f.Prefix) > len(best.Prefix) {
			best, ok = f, true
		}
	}
	return best, ok
}
