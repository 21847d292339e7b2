package skills

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/prompt"
)

// Limits of a skill.
const (
	maxName        = 64
	maxDescription = 1024     // characters
	maxInstruction = 64 << 10 // bytes
	maxRead        = maxMatter + maxInstruction + 4<<10
)

// The keys of front matter that mean something here.
const (
	nameKey        = "name"
	descriptionKey = "description"
	enabledKey     = "enabled"
	contractKey    = "output-contract"
	metadataKey    = "metadata"
)

// A remark is something to tell about a file, in words that follow its path.
type remark struct {
	text  string
	fatal bool // the file is no skill
	petty bool // only the linter tells
}

func fatal(format string, args ...any) remark {
	return remark{text: fmt.Sprintf(format, args...), fatal: true}
}

func mild(format string, args ...any) remark { return remark{text: fmt.Sprintf(format, args...)} }

func petty(format string, args ...any) remark {
	return remark{text: fmt.Sprintf(format, args...), petty: true}
}

// A document is a file of a skill as it was read: the skill, unless a remark is
// fatal, with its description on one line and its instruction within the limit, both
// with hidden characters revealed.
type document struct {
	skill   prompt.Skill
	enabled bool
	remarks []remark
}

// refused reports whether d is no skill.
func (d *document) refused() bool {
	for _, r := range d.remarks {
		if r.fatal {
			return true
		}
	}
	return false
}

// parse reads a file of size bytes that begins with head. A skill that says no name
// has that of its file or folder, which is name.
func parse(name string, head []byte, size int64) *document {
	d := &document{enabled: true}
	text, err := decode(head, int64(len(head)) < size)
	if err != nil {
		d.remarks = append(d.remarks, fatal("%v", err))
		return d
	}
	matter, body, opened, ok := split(text)
	if !ok {
		d.remarks = append(d.remarks, noMatter(opened))
		return d
	}
	found, err := fields(matter)
	if err != nil {
		d.remarks = append(d.remarks, mild("its front matter is no YAML (%v) and is read line by line; "+
			"put values that hold a colon or begin with a mark in quotes", err))
	}
	d.skill.Name = name
	d.take(found, name)
	d.finish(body, int64(len(head)) < size, size)
	return d
}

func noMatter(opened bool) remark {
	if opened {
		return fatal("its front matter has no end within %d bytes; close it with a line ---", maxMatter)
	}
	return fatal("has no front matter; begin it with the lines ---, name: NAME, description: WHEN TO USE IT, ---")
}

// decode returns what is UTF-8 as a text with line feeds. If the text goes on,
// the last character may be incomplete and is left out.
func decode(p []byte, more bool) (string, error) {
	if bytes.HasPrefix(p, []byte("\xff\xfe")) || bytes.HasPrefix(p, []byte("\xfe\xff")) {
		return "", errors.New("is UTF-16; save it as UTF-8")
	}
	p = bytes.TrimPrefix(p, []byte("\ufeff"))
	for range utf8.UTFMax - 1 {
		if last, size := utf8.DecodeLastRune(p); !more || last != utf8.RuneError || size != 1 {
			break
		}
		p = p[:len(p)-1]
	}
	switch {
	case len(bytes.TrimSpace(p)) == 0:
		return "", errors.New("is empty; write front matter with a name and a description, and an instruction below it")
	case bytes.IndexByte(p, 0) >= 0 || !utf8.Valid(p):
		return "", errors.New("is no text in UTF-8; save it as UTF-8")
	}
	return strings.ReplaceAll(string(p), "\r\n", "\n"), nil
}

// take sets what the fields of front matter say. file is the name of the file or
// folder.
func (d *document) take(found []field, file string) {
	named := false
	for _, f := range found {
		switch f.key {
		case nameKey:
			if named = strings.TrimSpace(f.value) != ""; named {
				d.skill.Name = strings.TrimSpace(f.value)
			}
		case descriptionKey:
			switch {
			case f.alias != "":
				d.remarks = append(d.remarks, fatal("its description is the alias %.40q, which is not followed; write the text in its place", "*"+f.alias))
			case !f.scalar:
				d.remarks = append(d.remarks, fatal("its description is a list or a mapping; write it as text"))
			}
			d.skill.Description = f.value
		case enabledKey:
			d.enabled = d.truth(f, true)
		case contractKey, metadataKey + "." + contractKey:
			d.skill.Contract = d.truth(f, false)
		case "license", "compatibility", "allowed-tools", metadataKey: // of the layout that programs share
		default:
			d.ignore(f.key)
		}
	}
	switch {
	case !named:
		d.remarks = append(d.remarks, petty("has no name in its front matter and is called %.80q; write it there", file))
	case d.skill.Name != file:
		d.remarks = append(d.remarks, petty("is called %.80q but stands in %.80q; make them equal", d.skill.Name, file))
	}
}

// ignore tells of a key that means nothing. One that was probably mistyped is told
// to whoever uses the skill too; what stands below metadata may have any name, so only
// another spelling counts there.
func (d *document) ignore(key string) {
	name, below := strings.CutPrefix(key, metadataKey+".")
	switch meant := likely(name); {
	case below && (meant != contractKey || folded(name) != folded(contractKey)):
	case meant != "":
		d.remarks = append(d.remarks, mild("the key %.40q has no effect; %s was probably meant", key, meant))
	default:
		d.remarks = append(d.remarks, petty("the key %.40q has no effect; remove it or put it below metadata", key))
	}
}

// truth returns what a field says, otherwise if that is neither yes nor no.
func (d *document) truth(f field, otherwise bool) bool {
	switch strings.ToLower(strings.TrimSpace(f.value)) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	value := f.value
	if f.alias != "" {
		value = "*" + f.alias
	}
	d.remarks = append(d.remarks, mild("%s is %.40q, which counts as %t; write true or false", f.key, value, otherwise))
	return otherwise
}

// finish sets the instruction and tells what is wrong with the whole. The file goes
// on after body if more is set.
func (d *document) finish(body string, more bool, size int64) {
	d.shape(body, more, size)
	if d.refused() {
		return
	}
	if err := Check(d.skill); err != nil {
		d.remarks = append(d.remarks, fatal("%v", err))
	}
}

// shape sets the instruction and brings both texts into the form in which they are
// kept.
func (d *document) shape(body string, more bool, size int64) {
	if hidden := prompt.Hidden(d.skill.Description + body); hidden != "" {
		d.remarks = append(d.remarks, mild("has hidden characters, which the model is shown as code points: %s; remove them", hidden))
	}
	var long int
	if d.skill.Description, long = describe(d.skill.Description); long > 0 {
		d.remarks = append(d.remarks, mild("its description has %d characters and is cut at %d; shorten it", long, maxDescription))
	}
	var cut bool
	if d.skill.Instruction, cut = instruct(body, more); cut {
		d.remarks = append(d.remarks, mild("has %d bytes, and its instruction is cut at %d; move parts into files beside it", size, maxInstruction))
	}
}

// describe returns a description on one line, revealed and within the limit, and
// its length in characters if that was above it.
func describe(s string) (line string, long int) {
	line = prompt.Reveal(strings.Join(strings.Fields(s), " "))
	n := utf8.RuneCountInString(line)
	if n <= maxDescription {
		return line, 0
	}
	return strings.TrimRight(string([]rune(line)[:maxDescription-1]), " ") + "…", n
}

// instruct returns an instruction, revealed and within the limit: cut after a line
// if one ends in its last quarter, with a mark below. more tells that the text went
// on.
func instruct(s string, more bool) (text string, cut bool) {
	text = strings.TrimSpace(prompt.Reveal(s))
	if len(text) <= maxInstruction && !more {
		return text, false
	}
	text = text[:ends(text, min(maxInstruction, len(text)))]
	if at := strings.LastIndexByte(text, '\n'); at > maxInstruction*3/4 {
		text = text[:at]
	}
	return strings.TrimSpace(text) + "\n\n" + sentence("cut"), true
}

// ends returns the largest n up to limit at which s can be cut between characters.
func ends(s string, limit int) int {
	for limit > 0 && limit < len(s) && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return limit
}

// Check reports what keeps s, which may come from a client, from being a skill
// (R-PROMPT-40). Lengths of its texts do not count: they are cut.
func Check(s prompt.Skill) error {
	switch {
	case s.Name == "":
		return errors.New("has no name; give it one of a–z, 0–9 and hyphens")
	case !valid(s.Name):
		return fmt.Errorf("the name %.80q does not work; use 1 to %d of a–z, 0–9 and single hyphens between them%s", s.Name, maxName, like(s.Name))
	case reserved(s.Name):
		return fmt.Errorf("the name %q is that of a command, and the command counts; choose another", s.Name)
	case strings.TrimSpace(s.Description) == "":
		return errors.New("has no description; say when to use it")
	case strings.TrimSpace(s.Instruction) == "":
		return errors.New("has no instruction; write what to do")
	}
	return nil
}

// valid reports whether name is one of R-PROMPT-40.
func valid(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for part := range strings.SplitSeq(name, "-") {
		if part == "" || strings.ContainsFunc(part, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }) {
			return false
		}
	}
	return true
}

// Reserved returns the names that no skill can have, sorted: those of the commands of
// sessions, and of one to come.
func Reserved() []string { return []string{"compact", "help", "retry", "usage"} }

func reserved(name string) bool { return slices.Contains(Reserved(), name) }

// like proposes a name that works in place of one that does not.
func like(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	near := strings.Join(words, "-")
	if near = strings.TrimRight(near[:min(len(near), maxName)], "-"); !valid(near) || reserved(near) {
		return ""
	}
	return fmt.Sprintf(", such as %q", near)
}
