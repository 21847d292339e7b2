package place

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// most is how many bytes of an id are made from a name, which leaves room for a
// number.
const most = 48

// NewID makes an id from a name or a title: its words in the letters a to z and
// digits, with hyphens between them and without accents. Where nothing of the name
// is left it is "unnamed", and where the id is taken it ends in a number.
func NewID(name string, taken func(id string) bool) string {
	base := slug(name)
	id := base
	for n := 2; taken(id); n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	return id
}

func slug(name string) string {
	var b strings.Builder
	hyphen := ""
	for _, c := range strings.ToLower(norm.NFKD.String(name)) {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			if b.Len()+len(hyphen) == most {
				return b.String()
			}
			b.WriteString(hyphen)
			b.WriteRune(c)
			hyphen = ""
		case b.Len() > 0 && !unicode.IsLetter(c) && !unicode.IsMark(c) && c != '\'' && c != '’':
			hyphen = "-"
		}
	}
	return cmp.Or(b.String(), "unnamed")
}
