// Package budget counts the web calls of a turn.
package budget

// Notice is what the line begins with that ends every result of a web tool; the
// number of calls that remain follows it (R-WEB-10).
const Notice = "Web calls remaining this turn: "

// An Intent is how much looking up the user asks for. It decides what a turn may
// spend (R-WEB-02).
type Intent string

// The intents.
const (
	Auto     Intent = "auto"
	Search   Intent = "search"
	Research Intent = "research"
)

// IntentOf returns the intent of a message by its slash tokens, and by nothing
// else: research wins over search (R-WEB-03).
func IntentOf(tokens []string) Intent {
	intent := Auto
	for _, t := range tokens {
		switch Intent(t) {
		case Research:
			return Research
		case Search:
			intent = Search
		}
	}
	return intent
}
