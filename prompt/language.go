package prompt

import (
	"slices"
	"strings"
)

const (
	fallbackLanguage = "English"
	maxLocale        = 100 // bytes; what is longer is no locale, and is not searched
)

// languageName returns the English name of the language of a locale, which is a
// language tag or a locale of POSIX, as "pt-BR" or "zh_TW.UTF-8". A locale that
// names no language known here is English.
func languageName(locale string) string {
	if len(locale) > maxLocale {
		return fallbackLanguage
	}
	tag, _, _ := strings.Cut(locale, ".")
	tag, _, _ = strings.Cut(tag, "@")
	subtags := strings.FieldsFunc(tag, func(r rune) bool { return r == '-' || r == '_' })
	if len(subtags) == 0 {
		return fallbackLanguage
	}
	for _, sub := range slices.Backward(subtags[1:]) {
		if name, ok := languageOf(subtags[0] + "-" + sub); ok {
			return name
		}
	}
	if name, ok := languageOf(subtags[0]); ok {
		return name
	}
	return fallbackLanguage
}

// languageOf finds a tag in the list of languages, one "tag name" a line.
func languageOf(tag string) (string, bool) {
	for line := range strings.Lines(languages) {
		t, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.EqualFold(t, tag) {
			return name, true
		}
	}
	return "", false
}
