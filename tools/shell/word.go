package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Characters that stand in a value for what is not literal text. A command line
// cannot hold the first, and the second is noncharacter enough.
const (
	unknown = '\x00'       // what a variable or a command gives
	star    = '\U0010FFFF' // a "*" that matches names
)

// maxBraces bounds the words that the braces of one word stand for; braces that
// stand for more are not read.
const maxBraces = 64

// words returns the values of words, braces expanded.
func (r *reader) words(list []*syntax.Word) []string {
	var out []string
	for _, w := range list {
		w := &syntax.Word{Parts: slices.Clone(w.Parts)}
		syntax.SplitBraces(w)
		all := []*syntax.Word{w}
		if n := alternatives(w); n > 1 && n <= maxBraces {
			all = spell(w)
		}
		for _, w := range all {
			v := r.value(w)
			if *r.left == 0 {
				return out
			}
			out = append(out, v)
		}
	}
	return out
}

// alternatives returns how many words the braces of w stand for, or something
// above maxBraces when they are that many or are a sequence.
func alternatives(w *syntax.Word) int {
	n := 1
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		sum := 0
		for _, e := range b.Elems {
			sum += alternatives(e)
		}
		if b.Sequence {
			sum = maxBraces + 1
		}
		n = min(n*sum, maxBraces+1)
	}
	return n
}

// spell returns the words that w stands for, one for each choice in its braces.
// The caller has made sure that they are few.
func spell(w *syntax.Word) []*syntax.Word {
	words := []*syntax.Word{{}}
	for _, p := range w.Parts {
		choices := []*syntax.Word{{Parts: []syntax.WordPart{p}}}
		if b, ok := p.(*syntax.BraceExp); ok {
			choices = nil
			for _, e := range b.Elems {
				choices = append(choices, spell(e)...)
			}
		}
		var longer []*syntax.Word
		for _, w := range words {
			for _, c := range choices {
				longer = append(longer, &syntax.Word{Parts: slices.Concat(w.Parts, c.Parts)})
			}
		}
		words = longer
	}
	return words
}

// value returns the text that w has when it runs.
func (r *reader) value(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	s := r.spelled(w)
	if len(s) > maxValue || !r.spend(1+len(s)/perUnit) {
		return string(unknown)
	}
	return s
}

func (r *reader) spelled(w *syntax.Word) string {
	var s strings.Builder
	for i, p := range w.Parts {
		if s.Len() > maxValue {
			break
		}
		switch p := p.(type) {
		case *syntax.Lit:
			if i == 0 {
				s.WriteString(r.tilde(p.Value, len(w.Parts) == 1))
				continue
			}
		case *syntax.ParamExp: // not quoted, so that a "*" in it matches names
			s.WriteString(strings.ReplaceAll(r.param(p), "*", string(star)))
			continue
		}
		r.part(&s, p)
	}
	return s.String()
}

// tilde returns the value of a literal that starts a word.
func (r *reader) tilde(lit string, alone bool) string {
	rest, ok := strings.CutPrefix(lit, "~")
	if !ok {
		return unescape(lit)
	}
	switch {
	case (rest == "+" || strings.HasPrefix(rest, "+/")) && alone && r.dir != "":
		return r.dir + unescape(rest[1:])
	case rest == "" && !alone, rest != "" && rest[0] != '/':
		return string(unknown) // the home of somebody, or no home at all
	case r.home == "":
		return string(unknown) + unescape(rest)
	}
	return r.home + unescape(rest)
}

// part appends the value of a part of a word, unless s is too long already.
func (r *reader) part(s *strings.Builder, p syntax.WordPart) {
	if s.Len() > maxValue {
		return
	}
	switch p := p.(type) {
	case *syntax.Lit:
		s.WriteString(unescape(p.Value))
	case *syntax.SglQuoted:
		if p.Dollar && strings.ContainsRune(p.Value, '\\') {
			s.WriteRune(unknown)
			return
		}
		s.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			if lit, ok := q.(*syntax.Lit); ok {
				s.WriteString(unescapeQuoted(lit.Value))
				continue
			}
			r.part(s, q)
		}
	case *syntax.ParamExp:
		s.WriteString(r.param(p))
	case *syntax.CmdSubst:
		s.WriteString(r.substituted(p))
	default:
		s.WriteRune(unknown)
	}
}

// param returns the value of a parameter.
func (r *reader) param(p *syntax.ParamExp) string {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil {
		return string(unknown)
	}
	v, ok := r.variable(p.Param.Value)
	if p.Exp == nil {
		if !ok {
			return string(unknown)
		}
		return v
	}
	switch p.Exp.Op {
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if !ok {
			return string(unknown) + "?" // whatever it is, it is not empty
		}
		return v
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !ok || v == "" {
			return r.value(p.Exp.Word)
		}
		return v
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if cut := r.value(p.Exp.Word); ok && !strings.ContainsAny(cut, "?["+string(unknown)+string(star)) {
			return strings.TrimSuffix(v, cut)
		}
	}
	return string(unknown)
}

// variable returns the value of a variable, if it is known.
func (r *reader) variable(name string) (string, bool) {
	v, ok := r.vars[name]
	switch {
	case ok:
		return v, true
	case name == "HOME":
		return r.home, r.home != ""
	case name == "PWD":
		return r.dir, r.dir != ""
	case name == "OLDPWD":
		return r.before, r.before != ""
	}
	return "", false
}

// substituted returns what a command prints, which we know of pwd only.
func (r *reader) substituted(c *syntax.CmdSubst) string {
	if len(c.Stmts) == 1 && r.dir != "" {
		if call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) == 1 && call.Args[0].Lit() == "pwd" {
			return r.dir
		}
	}
	return string(unknown)
}

// unescape returns what an unquoted literal stands for.
func unescape(s string) string {
	var out strings.Builder
	escaped := false
	for _, c := range s {
		switch {
		case escaped:
			if c != '\n' {
				out.WriteRune(c)
			}
			escaped = false
		case c == '\\':
			escaped = true
		case c == '*':
			out.WriteRune(star)
		default:
			out.WriteRune(c)
		}
	}
	if escaped { // the last of the line stands for itself
		out.WriteByte('\\')
	}
	return out.String()
}

// unescapeQuoted returns what a literal inside double quotes stands for.
func unescapeQuoted(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\\"$`\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// name returns the name of the program that a word calls.
func name(word string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/"))), ".exe")
}
