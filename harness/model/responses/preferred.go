package responses

import (
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/internal/gpt"
)

// Preferred reports whether the server at base is asked for the model id in this
// protocol rather than by chat completions. OpenAI itself is, for its models that
// reason, which it answers in full here alone; every other server that says to be
// like OpenAI means chat completions.
func Preferred(base, id string) bool {
	return gpt.Home(base) && (gpt.Of(id).Strict() || strings.HasPrefix(strings.ToLower(id), "computer-use"))
}
