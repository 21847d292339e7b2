package modeltest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What a server refuses depends on the model, as with the real ones. These tell
// the families from an id, that of a reseller (MAKER/ID) included.

var (
	gptRule    = regexp.MustCompile(`^gpt-(\d{1,2})(?:\.(\d{1,2}))?(?:-|$)`)
	oRule      = regexp.MustCompile(`^o[1-9](-|$)`)
	claudeRule = regexp.MustCompile(`^claude-(?:[a-z]+-)?(\d{1,2})(?:-(\d{1,2}))?(?:-|$)`)
	geminiRule = regexp.MustCompile(`^gemini-(\d{1,2})(?:\.(\d{1,2}))?(?:-|$)`)
	nineRule   = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
)

// bare is id less the maker that a reseller puts in front.
func bare(id string) string { return strings.ToLower(id[strings.LastIndexByte(id, '/')+1:]) }

// version is a hundred times the major version plus the minor one, 0 if rule
// does not match.
func version(rule *regexp.Regexp, id string) int {
	g := rule.FindStringSubmatch(bare(id))
	if g == nil {
		return 0
	}
	major, _ := strconv.Atoi(g[1]) // digits, as the rule says
	minor, _ := strconv.Atoi(g[2]) // the same, or nothing, which is 0
	return major*100 + minor
}

// An openAIFamily is what OpenAI's own models take; the zero value is a model of
// another maker, of which less is known.
type openAIFamily struct {
	own     bool
	reasons bool
	version int // 504 is gpt-5.4; 0 for the o series
}

func familyOf(id string) openAIFamily {
	v := version(gptRule, id)
	o := oRule.MatchString(bare(id))
	return openAIFamily{own: v > 0 || o || strings.HasPrefix(bare(id), "gpt-"), reasons: v >= 500 || o, version: v}
}

// efforts are the efforts that f takes.
func (f openAIFamily) efforts() []string {
	switch v := f.version; {
	case !f.reasons:
		return nil
	case v == 0:
		return []string{"low", "medium", "high"}
	case v == 500:
		return []string{"minimal", "low", "medium", "high"}
	case v == 501:
		return []string{"none", "low", "medium", "high"}
	case v < 506:
		return []string{"none", "low", "medium", "high", "xhigh"}
	}
	return []string{"none", "low", "medium", "high", "xhigh", "max"}
}

// breakpoints reports whether the cache of f matches at breakpoints.
func (f openAIFamily) breakpoints() bool { return f.version >= 506 }

// reasonsByDefault reports whether f is known to think when it is told nothing;
// what comes after gpt-5 is not.
func (f openAIFamily) reasonsByDefault() bool {
	return f.reasons && (f.version == 0 || f.version == 500 || f.version >= 505 && f.version < 600)
}

func claudeVersion(id string) int { return version(claudeRule, id) }

func geminiVersion(id string) int { return version(geminiRule, id) }

func isMistral(id string) bool {
	return beginsWith(id, "mistral-", "ministral-", "devstral-", "codestral-", "magistral-", "pixtral-")
}

// countsUnasked reports whether the server of a model tells token counts without
// being asked.
func countsUnasked(id string) bool { return isMistral(id) || isGLM(id) }

// wantsReasoning reports whether a model insists on its reasoning_content with
// calls, takesReasoning whether it takes it back at all.
func wantsReasoning(id string) bool {
	return beginsWith(id, "deepseek", "kimi") && !strings.Contains(id, "instruct") // those do not think
}

func takesReasoning(id string) bool { return wantsReasoning(id) || isGLM(id) }

func isGLM(id string) bool { return beginsWith(id, "glm-") }

func beginsWith(id string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(bare(id), p) })
}
