package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/lorimer-dev/lorimer/tools"
)

// maxLine is how many characters of a title or a name are written.
const maxLine = 300

// Markdown writes the thread with the given id for people. What the user wrote
// stands in fences, as it is; what the model wrote is Markdown of its own, in a
// quotation; so neither can be taken for a part of the document. What would steer a
// terminal is written out. The sources of all answers follow at the end, each with
// the number that answers cite it by (R-ACP-54).
func Markdown(ctx context.Context, w io.Writer, s Source, id string, o Options) error {
	info, err := s.Info(ctx, id)
	if err != nil {
		return err
	}
	m := markdown{w: bufio.NewWriter(w), o: o}
	title := info.Title
	if title == "" {
		title = id
	}
	m.block("# " + inline(title))
	facts := "- Session: " + code(id) + "\n- Directory: " + code(info.Cwd) + "\n- Begun: " + o.time(info.Created) + "\n- Last message: " + o.time(info.Updated)
	if info.Project != "" {
		facts += "\n- Project: " + code(info.Project)
	}
	if info.Bound != "" {
		facts += "\n- Workspace: " + code(info.Bound)
	}
	if info.Parent != "" {
		facts += "\n- Copied from: " + code(info.Parent)
	}
	m.block(facts)
	if err := Walk(ctx, s, info, o, m.piece); err != nil {
		return err
	}
	m.end()
	return m.w.Flush()
}

// A markdown is a document being written. The first error of the writer stays
// until it is flushed.
type markdown struct {
	w       *bufio.Writer
	o       Options
	begun   bool   // there is a block already
	items   bool   // the last block is a list that may go on
	speaker string // of the last heading
	sources []Cited
}

// block writes a block, with a blank line before it.
func (m *markdown) block(text string) {
	if m.begun {
		m.w.WriteString("\n")
	}
	m.w.WriteString(tools.Visible(text) + "\n")
	m.begun, m.items = true, false
}

// item writes an item of a list.
func (m *markdown) item(text string) {
	if m.items {
		m.w.WriteString("- " + tools.Visible(text) + "\n")
		return
	}
	m.block("- " + text)
	m.items = true
}

func (m *markdown) piece(p Piece) error {
	m.heading(p)
	switch p.Kind {
	case User:
		if p.Text != "" {
			m.block(fenced(p.Text))
		}
		for _, a := range p.Attached {
			m.item("Attached: " + attached(a))
		}
	case Answer:
		m.block(quoted(p.Text))
	case Thought:
		m.block("*Thought:*")
		m.block(quoted(p.Text))
	case Call:
		title := ""
		if p.Tool.Title != "" {
			title = ": " + code(p.Tool.Title)
		}
		m.item("Tool " + code(p.Tool.Name) + title + " (" + string(p.Tool.State) + ")")
		for _, a := range p.Tool.Answers {
			m.item("Asked: " + answered(a))
		}
	}
	if p.Partial {
		m.block("*This answer was cut off.*")
	}
	for _, c := range p.Sources {
		if !slices.ContainsFunc(m.sources, func(have Cited) bool { return have.Index == c.Index && have.URL == c.URL }) {
			m.sources = append(m.sources, c)
		}
	}
	return nil
}

// heading says who speaks from here on.
func (m *markdown) heading(p Piece) {
	speaker := "Assistant"
	switch {
	case p.Kind == User:
		speaker = "User"
	case p.Replaced:
		speaker = "Assistant, replaced by what follows"
	}
	if p.Kind != User && speaker == m.speaker {
		return
	}
	m.speaker = speaker
	m.block(fmt.Sprintf("## %s, %s", speaker, m.o.time(p.Time)))
}

// end lists the sources by their numbers.
func (m *markdown) end() {
	if len(m.sources) == 0 {
		return
	}
	slices.SortStableFunc(m.sources, func(a, b Cited) int { return a.Index - b.Index })
	m.block("## Sources")
	m.w.WriteString("\n")
	m.items = true
	for _, c := range m.sources {
		m.item(fmt.Sprintf(`\[%d\] %s`, c.Index, link(c)))
	}
}

// link leads to web pages alone; another address is shown as it is.
func link(c Cited) string {
	title := c.Title
	if title == "" {
		title = c.URL
	}
	if u, err := url.Parse(c.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return "[" + inline(title) + "](<" + address().Replace(c.URL) + ">)"
	}
	return inline(title) + ": " + code(c.URL)
}

// address writes what would end a destination in another way.
var address = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("<", "%3C", ">", "%3E", `\`, "%5C", "\n", "%0A", "\r", "%0D")
})

func attached(a Attachment) string {
	var parts []string
	for _, s := range []string{a.Name, a.URI, a.MIME} {
		if s != "" {
			parts = append(parts, code(s))
		}
	}
	if a.Bytes > 0 || a.Empty {
		parts = append(parts, fmt.Sprintf("%d bytes", a.Bytes))
	}
	return strings.Join(parts, ", ")
}

// answered is a question with what the user said to it.
func answered(a tools.Answer) string {
	var chosen []string
	for _, c := range a.Chosen {
		chosen = append(chosen, inline(c))
	}
	if len(chosen) == 0 {
		return inline(a.Question) + " No response."
	}
	return inline(a.Question) + " Answered: " + strings.Join(chosen, "; ")
}

// fenced returns text in a fence that nothing in it ends.
func fenced(text string) string {
	text = breaks().ReplaceAllString(text, "\n")
	fence := strings.Repeat("`", max(3, 1+longest(text)))
	return fence + "text\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

// quoted returns text as a quotation. Each line carries the mark, so that nothing
// that is begun in it goes on after it.
func quoted(text string) string {
	lines := breaks().Split(strings.TrimRight(text, "\r\n"), -1)
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
		if strings.HasSuffix(l, "  ") {
			lines[i] += "  " // a line break
		}
	}
	return strings.Join(lines, "\n")
}

// breaks finds the line ends that Markdown has.
var breaks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\r\n|\r|\n`) })

// code returns s, on one line, as a code span that nothing in it ends.
func code(s string) string {
	s = tools.Line(s, maxLine)
	if s == "" {
		return `""`
	}
	mark := strings.Repeat("`", 1+longest(s))
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return mark + s + mark
}

// inline returns s, on one line, without a meaning in Markdown.
func inline(s string) string {
	var b strings.Builder
	for _, c := range tools.Line(s, maxLine) {
		if strings.ContainsRune("\\`*_[]<>#&|~$", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// longest returns the length of the longest run of backticks.
func longest(s string) int {
	most, run := 0, 0
	for _, c := range []byte(s) {
		if c != '`' {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}
