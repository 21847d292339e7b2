package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// maxQuoted is how much of a result an answer repeats, in bytes.
const maxQuoted = 8 << 10

// A turn is what the model sees of the turn it answers in.
type turn struct {
	req     *model.Request
	results []result // of the calls so far, in order
}

// A result is what a call gave.
type result struct {
	tool    string
	text    string
	isError bool
}

// A toolCall is a call to make.
type toolCall struct{ id, name, args string }

// lastTurn returns the request that is being answered, and the results since
// then. A message that is no request and follows a result is a note of the
// program: noted says that there is one, and that the time has come to answer.
func lastTurn(msgs []llms.MessageContent) (c command, results []result, noted, ok bool) {
	start := len(msgs)
	for i, m := range slices.Backward(msgs) {
		if m.Role != llms.ChatMessageTypeHuman || textOf(m) == "" {
			continue
		}
		start = i + 1
		if c, ok = parse(textOf(m)); ok {
			break
		}
		if i == 0 || msgs[i-1].Role != llms.ChatMessageTypeTool {
			return c, nil, noted, false
		}
		noted = true
	}
	for _, m := range msgs[start:] {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case model.ToolResult:
				results = append(results, result{p.Name, p.Content, p.IsError})
			case llms.ToolCallResponse:
				results = append(results, result{p.Name, p.Content, false})
			}
		}
	}
	return c, results, noted, ok
}

func textOf(m llms.MessageContent) string {
	var parts []string
	for _, p := range m.Parts {
		if t, ok := p.(llms.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// next decides on the next step: a call that is still to be made, or the
// answer.
func (c command) next(t turn) step {
	switch c.verb {
	case "help":
		return step{text: strings.TrimSpace(helpText)}
	case "think":
		return c.think()
	case "stream":
		return step{text: numbers(c.count)}
	case "plan":
		return c.plan(t)
	}
	todo := c.calls(t)
	done := len(t.results)
	if done >= len(todo) || done > 0 && t.results[done-1].isError && !todo[done-1].try {
		return step{text: c.report(t)}
	}
	want := todo[done]
	tool, ok := t.tool(want.names...)
	switch {
	case !ok:
		return step{text: notOffered(want.names[0])}
	case t.req.NoTools:
		return step{text: fmt.Sprintf("I would call `%s` for this, and was told to answer without a further call.", tool.Name)}
	}
	args, err := json.Marshal(want.args(properties(tool.Schema)))
	if err != nil {
		return step{text: fmt.Sprintf("The arguments for `%s` cannot be written as JSON: %v.", tool.Name, err)}
	}
	if want.raw != "" {
		args = []byte(want.raw)
	}
	return step{
		think: "The offline model has found a request that it knows. ",
		text:  want.say,
		calls: []toolCall{{id: "offline_" + strconv.Itoa(countCalls(t.req.Messages)+1), name: tool.Name, args: string(args)}},
	}
}

// A wish is a call in terms that do not depend on how a tool names its input.
type wish struct {
	names []string // of tools, the first that is offered is called
	say   string
	raw   string // the arguments as they are
	try   bool   // a failure does not end the request
	args  func(p map[string]json.RawMessage) map[string]any
}

// calls lists the calls of a request in order. Each is made after the one
// before it has succeeded.
func (c command) calls(t turn) []wish {
	file := fill("path", c.subject, "path", "file_path", "file", "filename")
	read := wish{names: []string{"read"}, say: "I read `" + c.subject + "` first.\n\n", args: file}
	switch c.verb {
	case "list":
		return []wish{{names: []string{"glob"}, say: "I list the files.\n\n", args: both(
			fill("pattern", "**/*", "pattern", "glob"), optional(c.subject, "path", "dir", "directory"))}}
	case "read":
		return []wish{{names: []string{"read"}, say: "I read `" + c.subject + "`.\n\n", args: file}}
	case "find":
		return []wish{{names: []string{"grep"}, say: "I look for the text.\n\n", args: both(
			fill("pattern", regexp.QuoteMeta(c.subject), "pattern", "regex", "query"), optional(c.where, "path", "dir", "directory"))}}
	case "run":
		return []wish{{names: []string{"bash"}, say: "I run the command.\n\n", args: fill("command", c.subject, "command", "cmd")}}
	case "write":
		write := wish{names: []string{"write"}, say: "I write `" + c.subject + "`.\n\n", args: both(file, fill("content", c.content, "content", "text"))}
		if _, ok := t.tool("glob"); !ok || path.IsAbs(c.subject) {
			return []wish{write}
		}
		look := wish{names: []string{"glob"}, say: "I look whether `" + c.subject + "` exists.\n\n", try: true,
			args: fill("pattern", literal.Replace(path.Clean(c.subject)), "pattern", "glob")}
		if len(t.results) > 0 && !names(t.results[0].text, c.subject) {
			return []wish{look, write}
		}
		return []wish{look, read, write}
	case "edit":
		return []wish{read, {names: []string{"edit"}, say: "I change `" + c.subject + "`.\n\n", args: both(file, replacement(c.where, c.content))}}
	case "fetch":
		return []wish{{names: []string{"fetch_content"}, say: "I fetch the page.\n\n", args: fill("url", c.subject, "url", "uri", "address")}}
	case "search":
		return []wish{{names: []string{"search"}, say: "I search the web.\n\n", args: fill("query", c.subject, "query", "q")}}
	}
	return []wish{{names: []string{c.subject}, say: "I call `" + c.subject + "`.\n\n", raw: cmp.Or(c.content, "{}"), args: nothing}}
}

// literal quotes what has a meaning in the pattern of a path.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// names reports whether one of the lines of a list is file.
func names(list, file string) bool {
	for line := range strings.Lines(list) {
		if path.Clean(strings.TrimSpace(line)) == path.Clean(file) {
			return true
		}
	}
	return false
}

// report tells what the last call gave.
func (c command) report(t turn) string {
	last := t.results[len(t.results)-1]
	text := strings.TrimRight(last.text, "\n")
	cut := ""
	if len(text) > maxQuoted {
		text, cut = strings.ToValidUTF8(text[:maxQuoted], ""), "\n\nThe rest of the result is left out here."
	}
	if last.isError {
		return fmt.Sprintf("`%s` did not do it. It says:\n\n%s%s", last.tool, text, cut)
	}
	if text == "" {
		return fmt.Sprintf("`%s` is done and returned nothing.", last.tool)
	}
	if c.verb == "search" || c.verb == "fetch" {
		return fmt.Sprintf("`%s` returned:\n\n%s%s", last.tool, text, cut) // its markers for sources count as citations
	}
	fence := strings.Repeat("`", max(3, longestTicks(text)+1))
	return fmt.Sprintf("`%s` returned:\n\n%s\n%s\n%s%s", last.tool, fence, text, fence, cut)
}

// longestTicks returns the length of the longest run of backticks.
func longestTicks(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

func notOffered(name string) string {
	return fmt.Sprintf("I need the tool `%s` for this, and it is not offered here. "+
		"The session may have its tools switched off, its mode may withhold it, or nobody has set it up.", name)
}

// think answers with thoughts that are said to be none.
func (c command) think() step {
	topic := cmp.Or(c.subject, "nothing in particular")
	return step{
		think: fmt.Sprintf("The topic is %s. The offline model has no thoughts of its own. It streams these words so that a client can show them.", topic),
		text:  fmt.Sprintf("I have streamed some thoughts about %s. There is no language model behind them.", topic),
	}
}

// plan shows a plan through the task tool, or in words where there is none.
func (c command) plan(t turn) step {
	topic := cmp.Or(c.subject, "the request")
	list := []string{"Read what is there for " + topic, "Make the change", "Check the result"}
	tool, ok := t.tool("addTasks")
	if !ok || t.req.NoTools {
		var b strings.Builder
		for i, entry := range list {
			fmt.Fprintf(&b, "%d. %s\n", i+1, entry)
		}
		return step{text: "This is a plan in words, since no tool for tasks is offered here.\n\n" + b.String()}
	}
	if len(t.results) > 0 {
		return step{text: c.report(t)}
	}
	args, err := json.Marshal(map[string]any{firstOf(properties(tool.Schema), "tasks", "tasks", "items"): list})
	if err != nil {
		return step{text: fmt.Sprintf("The plan cannot be written as JSON: %v.", err)}
	}
	return step{text: "I put a plan up.\n\n", calls: []toolCall{{id: "offline_" + strconv.Itoa(countCalls(t.req.Messages)+1), name: tool.Name, args: string(args)}}}
}

// numbers returns n words.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("word")
		b.WriteString(strconv.Itoa(i + 1))
		b.WriteByte(' ')
	}
	return strings.TrimRight(b.String(), " ")
}

// tool returns the first of the named tools that is offered.
func (t turn) tool(names ...string) (model.Tool, bool) {
	for _, name := range names {
		i := slices.IndexFunc(t.req.Tools, func(o model.Tool) bool { return o.Name == name })
		if i >= 0 {
			return t.req.Tools[i], true
		}
	}
	return model.Tool{}, false
}

// countCalls counts the calls of the conversation.
func countCalls(msgs []llms.MessageContent) int {
	n := 0
	for _, m := range msgs {
		for _, p := range m.Parts {
			switch p.(type) {
			case llms.ToolCall, model.Extra:
				n++
			}
		}
	}
	return n
}
