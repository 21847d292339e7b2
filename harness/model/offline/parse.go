package offline

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// maxWords bounds the request to stream words.
const maxWords = 100_000

// maxLook is how many bytes of lines are compared with the forms. A message of
// many megabytes has to be passed over as soon as one of a few words, since what
// cancels a turn waits for the model.
const maxLook = 64 << 10

// maxDate is how much of the end of a message may be the line with the date.
const maxDate = 4 << 10

// A command is a request that has been understood.
type command struct {
	verb    string // list, read, find, run, write, edit, fetch, search, call, plan, think, stream, help
	subject string // directory, file, text, command line, address, query, tool, topic
	where   string // directory to find in; text to replace
	content string // to write, or to put in place; the JSON of a call
	count   int
}

// A form is a way to phrase a request, in lower case or not. Its groups are
// named like the fields of [command].
type form struct {
	verb string
	re   *regexp.Regexp
}

// forms lists the phrases in the order in which they are tried: the more
// specific one before the one that would take it too.
var forms = sync.OnceValue(func() []form {
	return []form{
		pattern("help", `help|\?|what can you do`),
		pattern("list", `(?:list|show)(?: me)?(?: the| all| all the)? files`+here+`?|ls|list`),
		pattern("list", `(?:list|show)(?: me)?(?: the| all| all the)? files(?: in| under| of)? (?P<subject>\S.*)`),
		pattern("list", `(?:ls|list) (?P<subject>`+name+`)`),
		pattern("search", `search the web (?:for )?(?P<subject>\S.*)`),
		pattern("search", `(?:web search|search online)(?: for)? (?P<subject>\S.*)`),
		pattern("edit", `edit (?P<subject>`+name+`):? replace (?P<where>`+phrase+`) (?:with|by) (?P<content>.*)`),
		pattern("edit", `in (?P<subject>`+name+`?),? replace (?P<where>`+phrase+`) (?:with|by) (?P<content>.*)`),
		pattern("edit", `replace (?P<where>`+phrase+`) (?:with|by) (?P<content>`+phrase+`) in (?P<subject>`+name+`)`),
		pattern("write", `(?:write|create)(?: the| a)?(?: file)? (?P<subject>`+name+`)(?::| with(?: the)?(?: content| text)?:?)(?P<content>(?: |$).*)`),
		pattern("fetch", `(?:fetch|open|get|visit) (?P<subject>https?://\S+)`),
		pattern("fetch", `fetch (?P<subject>\S+)`),
		pattern("read", `(?:read|show|open|cat|print)(?: me)?(?: the)?(?: file)? (?P<subject>`+name+`)`),
		pattern("find", `(?:find|search(?: for)?|grep(?: for)?) (?P<subject>`+phrase+`)(?: in(?: the| all| all the)?)? files(?: in| under| of) (?P<where>`+name+`)`),
		pattern("find", `(?:find|search(?: for)?|grep(?: for)?) (?P<subject>`+phrase+`) in(?: the| all| all the)? files`),
		pattern("find", `(?:find|grep(?: for)?|search for) (?P<subject>`+phrase+`) (?:in|under) (?P<where>`+name+`)`),
		pattern("find", `(?:find|grep(?: for)?|search for) (?P<subject>\S.*)`),
		pattern("run", `(?:run|execute)(?: the)?(?: command)?:? (?P<subject>\S.*)`),
		pattern("run", `\$ (?P<subject>\S.*)`),
		pattern("call", `(?:call|use)(?: the)?(?: tool)? (?P<subject>[\w.-]+)(?: with)?:? (?P<content>\{.*)`),
		pattern("call", `call(?: the)?(?: tool)? (?P<subject>[\w.-]+)`),
		pattern("plan", `(?:show|make|give)(?: me)?(?: a| the)? plan(?: (?:for|of|to) (?P<subject>\S.*))?`),
		pattern("plan", `plan (?P<subject>\S.*)`),
		pattern("think", `think(?: hard)?(?: (?:about|of|over) (?P<subject>\S.*))?`),
		pattern("stream", `(?:stream|write|say) (?P<count>\d{1,6}) words`),
	}
})

// here is the working directory in words. One in quotes is a directory of that
// name.
const here = "(?: (?:in )?here| in (?:this|the(?: current| working)?) (?:directory|folder|workspace|project))"

// name is a file, a directory or an address: one word, or words in quotes.
const name = "(?:`[^`]+`|\"[^\"]+\"|'[^']+'|[^\\s:]+)"

// phrase is a text, in quotes if it holds one of the words around it.
const phrase = "(?:\"[^\"]+\"|`[^`]+`|\\S.*?)"

// pattern compiles a form, which has to fit the whole line.
func pattern(verb, expr string) form {
	return form{verb, regexp.MustCompile(`(?is)^(?:please,? |can you |could you )?(?:` + expr + `)$`)}
}

// dateLine is the line with the date that a message may end with.
var dateLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n[^\n]*\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b[^\n]*\b\d{4}\b[^\n]*\d?\d:\d\d[^\n]*\s*$`)
})

// parse finds the first line that is a request. What a message carries beside
// it is passed over: notes before, the date after, and material in a fence or a
// pair of tags, which is data and asks for nothing.
func parse(message string) (command, bool) {
	lines := strings.Split(withoutDate("\n"+strings.ReplaceAll(message, "\r\n", "\n")), "\n")
	left := maxLook
	end := "" // of the material that the line is in
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case end != "":
			if strings.HasPrefix(line, end) {
				end = ""
			}
			continue
		case strings.HasPrefix(line, "```"):
			end = "```"
			continue
		case strings.HasPrefix(line, "<"):
			if tag, _, ok := strings.Cut(line[1:], ">"); ok && !strings.HasSuffix(tag, "/") {
				tag, _, _ = strings.Cut(tag, " ")
				if closing := "</" + tag + ">"; !strings.Contains(line, closing) {
					end = closing
				}
			}
			continue
		}
		if left -= len(line); left < 0 {
			break
		}
		for _, f := range forms() {
			if m := f.re.FindStringSubmatch(sentence(line, f.verb)); m != nil {
				return f.command(m, strings.Join(lines[i+1:], "\n")), true
			}
		}
	}
	return command{}, false
}

// withoutDate drops the line with the date from the end of a message.
func withoutDate(message string) string {
	tail := max(0, len(message)-maxDate)
	if at := dateLine().FindStringIndex(message[tail:]); at != nil {
		return message[:tail+at[0]]
	}
	return message
}

// sentence drops the mark at the end of a sentence, where it cannot be part of
// what was asked for.
func sentence(line, verb string) string {
	switch verb {
	case "run", "write", "edit", "call":
		return line
	}
	if line == "?" {
		return line
	}
	line = strings.TrimRight(line, "?! ")
	if head, ok := strings.CutSuffix(line, "."); ok && head != "" && !strings.ContainsRune(" ./", rune(head[len(head)-1])) {
		return head
	}
	return line
}

// command builds what m says; rest is what follows its line.
func (f form) command(m []string, rest string) command {
	group := func(name string) string {
		if i := f.re.SubexpIndex(name); i >= 0 {
			return strings.TrimSpace(m[i])
		}
		return ""
	}
	c := command{verb: f.verb, content: group("content")}
	c.subject = unquote(group("subject"))
	c.where = unquote(group("where"))
	switch f.verb {
	case "write":
		c.content = body(c.content, rest)
	case "edit":
		c.subject = strings.TrimRight(c.subject, ".,:")
		c.content = unquote(c.content)
	case "call":
		if strings.HasPrefix(c.content, "{") {
			c.content = strings.TrimSpace(c.content + "\n" + rest)
		}
	case "run":
		if strings.HasPrefix(c.subject, "```") {
			c.subject = strings.TrimSpace(body("", c.subject+"\n"+rest))
		}
	case "stream":
		c.count, _ = strconv.Atoi(group("count")) // the pattern takes digits only
		c.count = min(c.count, maxWords)
	}
	return c
}

// body returns the content of a file: what stands on the line, else what
// follows it, without the fence around it if it has one.
func body(line, rest string) string {
	if line != "" {
		return strings.Trim(unquote(line), "\n") + "\n"
	}
	rest = strings.Trim(rest, "\n")
	if open, inner, ok := strings.Cut(rest, "\n"); ok && strings.HasPrefix(open, "```") {
		if end := strings.LastIndex("\n"+inner, "\n```"); end >= 0 {
			return inner[:end]
		}
	}
	if rest == "" {
		return ""
	}
	return rest + "\n"
}

// unquote removes a pair of quotes around s.
func unquote(s string) string {
	for _, q := range []string{"`", `"`, "'", "“”"} {
		open, end := q, q
		if r := []rune(q); len(r) == 2 {
			open, end = string(r[0]), string(r[1])
		}
		if len(s) >= len(open)+len(end) && strings.HasPrefix(s, open) && strings.HasSuffix(s, end) {
			return s[len(open) : len(s)-len(end)]
		}
	}
	return s
}
