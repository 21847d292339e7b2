package instructions

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

const (
	maxDepth   = 5    // imports inside of each other
	maxImports = 100  // files that one AGENTS.md brings in or tries to
	maxTarget  = 1024 // bytes of the path of an import; a longer word is text
)

// Why an import stays as it is, besides what is wrong with its file.
var (
	errCycle = errors.New("it would import itself; remove one of the imports")
	errDepth = fmt.Errorf("more than %d imports stand inside of each other; import it from an outer file", maxDepth)
	errMany  = fmt.Errorf("there are more than %d imports; put several files into one", maxImports)
)

// An expansion is an AGENTS.md on its way into the prompt, its imports in their
// places.
type expansion struct {
	folder
	strings.Builder
	limit int
	full  bool // it is cut

	done  map[string]string // the real paths of the files in it, by those and by the paths that imported them
	stack []string          // the real paths of the files that are open
	tried int               // imports
	told  report
}

// begin reads all of it and returns the size of the AGENTS.md itself. An error
// means that it cannot be used at all.
func (x *expansion) begin() (int64, error) {
	real, err := x.locate(Name)
	if absent(err) {
		return 0, errDangling
	}
	if err != nil {
		return 0, err
	}
	if x.secret(real) {
		return 0, ErrSecret
	}
	l, err := x.load(real, x.limit)
	if err != nil {
		return 0, err
	}
	x.put(Name, real, l)
	if x.full {
		all := cut(x.String(), x.limit)
		x.Reset()
		x.WriteString(all)
	}
	return l.size, nil
}

// put adds the file that was reached by rel and is at real.
func (x *expansion) put(rel, real string, l loaded) {
	x.done[rel], x.done[real] = real, real
	x.stack = append(x.stack, real)
	defer func() { x.stack = x.stack[:len(x.stack)-1] }()
	if !strings.Contains(l.text, "@") {
		x.add(l.text)
	} else {
		x.lineByLine(rel, l.text)
	}
	x.full = x.full || l.more
}

func (x *expansion) lineByLine(rel, text string) {
	var s scanner
	number := 0
	for line := range strings.Lines(text) {
		if x.full {
			return
		}
		number++
		target := s.target(line)
		if target == "" {
			x.add(line)
			continue
		}
		ok, err := x.follow(rel, target)
		if err != nil && x.told.takes() {
			x.told.add(fmt.Sprintf("%s:%d: @%s stays as it is: %s", shown(filepath.Join(x.dir, rel)), number, shown(target), reason(err)))
		}
		if !ok {
			x.add(line)
		}
	}
}

// follow adds the file that the file at rel imports as target, and reports whether
// it did. One that is in the text already needs no second place, and no error.
func (x *expansion) follow(rel, target string) (bool, error) {
	name, err := x.resolve(rel, target)
	if err != nil {
		return false, err
	}
	if real, ok := x.done[name]; ok {
		return false, x.cycle(real)
	}
	if x.tried == maxImports {
		return false, errMany
	}
	x.tried++
	real, err := x.locate(name)
	if err != nil {
		return false, err
	}
	if _, ok := x.done[real]; ok {
		return false, x.cycle(real)
	}
	switch {
	case len(x.stack) > maxDepth:
		return false, errDepth
	case x.secret(name) || x.secret(real):
		return false, errSecret
	}
	l, err := x.load(real, x.limit-x.Len())
	if err != nil {
		return false, err
	}
	if l.text != "" && !strings.HasSuffix(l.text, "\n") && !l.more {
		l.text += "\n"
	}
	x.put(name, real, l)
	return true, nil
}

// resolve returns the path from the folder that target has in the file at rel.
func (x *expansion) resolve(rel, target string) (string, error) {
	name := filepath.FromSlash(target)
	var err error
	if filepath.IsAbs(name) {
		name, err = filepath.Rel(x.dir, name)
	} else {
		name = filepath.Join(filepath.Dir(rel), name)
	}
	if err != nil || !filepath.IsLocal(name) || strings.HasPrefix(target, "~/") {
		return "", errOutside
	}
	return name, nil
}

// cycle returns an error if the file at real is one of those being read.
func (x *expansion) cycle(real string) error {
	if slices.Contains(x.stack, real) {
		return errCycle
	}
	return nil
}

func (x *expansion) secret(name string) bool {
	return x.reader.limits.Secret != nil && x.reader.limits.Secret(name)
}

// add adds s as far as it fits; begin cuts what is full between characters.
func (x *expansion) add(s string) {
	if room := x.limit - x.Len(); len(s) > room {
		s, x.full = s[:room], true
	}
	x.WriteString(s)
}

// A scanner goes through the lines of a file and finds those that import another.
type scanner struct {
	fence   string // what opened the code fence that the line is in; "" is none
	comment bool   // the line is in one
}

// target returns the path that the next line imports, "" if it imports none.
func (s *scanner) target(line string) string {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	item := strings.TrimLeft(line, " \t")
	if s.fence != "" {
		if strings.HasPrefix(item, s.fence) && strings.Trim(item, s.fence[:1]) == "" {
			s.fence = ""
		}
		return ""
	}
	if s.inComment(line) {
		return ""
	}
	indent := line[:len(line)-len(item)]
	body := withoutBullet(item)
	if s.fence = fence(body); s.fence != "" {
		return ""
	}
	if body == item && (len(indent) >= 4 || strings.Contains(indent, "\t")) {
		return "" // code by its indentation
	}
	target, ok := strings.CutPrefix(body, "@")
	if !ok || len(target) > maxTarget || strings.ContainsFunc(target, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return ""
	}
	return target
}

// inComment reports whether line is, at least in part, a comment.
func (s *scanner) inComment(line string) bool {
	was := s.comment
	if was || strings.Contains(line, "<!--") {
		s.comment = strings.LastIndex(line, "-->") < strings.LastIndex(line, "<!--") ||
			was && !strings.Contains(line, "-->")
		return true
	}
	return false
}

// withoutBullet returns what an item of a list says, and other lines as they are.
func withoutBullet(line string) string {
	rest := strings.TrimLeft(line, "0123456789")
	digits := len(line) - len(rest)
	if rest == "" || digits > 9 {
		return line
	}
	numbered := digits > 0 && (rest[0] == '.' || rest[0] == ')')
	if !numbered && (digits > 0 || !strings.ContainsRune("-*+", rune(rest[0]))) {
		return line
	}
	body := strings.TrimLeft(rest[1:], " \t")
	if len(body) == len(rest)-1 {
		return line // no space after the bullet
	}
	return body
}

// fence returns what opens a code fence at the beginning of line, "" if nothing
// does.
func fence(line string) string {
	for _, mark := range []string{"`", "~"} {
		info := strings.TrimLeft(line, mark)
		n := len(line) - len(info)
		if n >= 3 && !(mark == "`" && strings.Contains(info, "`")) {
			return line[:n]
		}
	}
	return ""
}
