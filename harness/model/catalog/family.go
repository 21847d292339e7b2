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

// A family is a group of models whose ids begin alike. It says nothing of prices:
// gpt-5.2-mini would not cost what gpt-5.2 does.
type family struct {
	Prefix  string `json:"prefix"`
	Window  int    `json:"window"` // 0 is unknown
	Images  bool   `json:"images"`
	NoTools bool   `json:"no_tools"`
	Thinks  bool   `json:"thinks"`
	Efforts string `json:"efforts"` // parted by spaces; "" is low medium high
	Closed  bool   `json:"closed"`  // to be had from its vendor alone
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

// lookup finds the family with the longest prefix, or one of which nothing is
// known. A maker's name before a slash, as resellers write it, does not count, nor
// does case.
func lookup(id string) (best family) {
	id = strings.ToLower(id)
	id = id[strings.LastIndexByte(id, '/')+1:]
	for _, f := range families() {
		if strings.HasPrefix(id, f.Prefix) && len(f.Prefix) > len(best.Prefix) {
			best = f
		}
	}
	return best
}
