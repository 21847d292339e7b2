package workspace

import (
	"encoding/json"

	"github.com/lorimer-dev/lorimer/tools"
)

// searchTitle returns the title of a search for pattern in a path. Without a
// path it is left to the verb, which does not speak of one: the line would end
// in the middle.
func searchTitle(verb, pattern, path string) string {
	if path == "" {
		return ""
	}
	input, err := json.Marshal(map[string]string{"pattern": pattern, "path": path})
	if err != nil {
		return "" // the verb says it too
	}
	return tools.Title(tools.Info{Verb: verb + " in {path}"}, input)
}
