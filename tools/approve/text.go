package approve

import (
	_ "embed"
	"strings"
)

// What the model reads instead of a result (R-ACP-41, C041). REASON stands for
// the reason, in words that begin in lower case.
var (
	//go:embed refused_user.md
	refusedUser string
	//go:embed refused_rule.md
	refusedRule string
	//go:embed refused_nobody.md
	refusedNobody string
)

// refuse returns the verdict of a refusal. The reason may be "" where the text
// has none.
func refuse(why Refusal, reason string) Verdict {
	text := refusedUser
	switch why {
	case ByRule:
		text = refusedRule
	case Nobody:
		text = refusedNobody
		if reason == "" {
			reason = "it can change something"
		}
	}
	return Verdict{Refused: why, Text: strings.TrimSpace(strings.ReplaceAll(text, "REASON", reason))}
}
