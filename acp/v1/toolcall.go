package v1

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// A call is what the client knows of a tool call.
type call struct {
	title    string
	kind     tools.Kind
	terminal bool  // its content is a terminal of ours
	diffs    bool  // its content is changes of files
	running  bool  // it is under way
	final    bool  // it is over; nothing follows
	live     *live // its output while it runs; nil before the first
}

// toolCall tells ev. The first event of an id announces the call, whatever it
// says of itself, and nothing follows the final state (R-ACP-23).
func (e *Encoder) toolCall(t *Turn, ev event.ToolCall) error {
	c, known := e.calls[ev.ID]
	if !known {
		c = &call{}
		e.calls[ev.ID] = c
		t.ids = append(t.ids, ev.ID)
	}
	if c.final {
		return nil
	}
	if ev.Title == c.title {
		ev.Title = "" // the client has it
	}
	c.title = cmp.Or(ev.Title, c.title, ev.Name, "tool call")
	c.kind = cmp.Or(ev.Kind, c.kind, tools.KindOther)
	c.running = c.running || ev.Status == event.InProgress

	u := ToolCall{
		Update:    "tool_call_update",
		ID:        ev.ID,
		Title:     ev.Title,
		Kind:      ev.Kind,
		Status:    ev.Status,
		Locations: e.locations(ev.Locations),
		RawInput:  verbatim(ev.Input),
		RawOutput: rawOutput(ev),
		Meta:      make(map[string]any),
	}
	if isObject(ev.Meta) {
		u.Meta[Namespace] = ev.Meta
	}
	if !known {
		u.Update, u.Title, u.Name, u.Kind = "tool_call", c.title, ev.Name, c.kind
		u.Status = cmp.Or(ev.Status, event.Pending)
		if e.o.Terminal && c.kind == tools.KindExecute {
			c.terminal = true
			u.Content = []any{terminal{"terminal", ev.ID}}
			u.Meta["terminal_info"] = map[string]any{"terminal_id": ev.ID, "cwd": e.o.Dir}
		}
	}
	if !c.terminal {
		u.Content = e.content(c, ev)
	}
	if ev.Status == event.Completed || ev.Status == event.Failed {
		if err := e.finish(c, ev, &u); err != nil {
			return err
		}
		if t.replay { // it has told all of the call, and may tell of any number
			t.ids = slices.DeleteFunc(t.ids, func(id string) bool { return id == ev.ID })
			delete(e.calls, ev.ID)
		}
	}
	if known && u.empty() {
		return nil // arguments that cannot be read, under the title that it has
	}
	return e.update(u)
}

// finish ends the live output of c. In a terminal its rest and how it ended are
// told; elsewhere the content of the last update takes its place.
func (e *Encoder) finish(c *call, ev event.ToolCall, u *ToolCall) error {
	e.stop(c)
	c.final = true
	shown := c.live
	c.live = nil
	if !c.terminal {
		return nil
	}
	data := ev.Text
	if shown != nil && shown.any {
		data = shown.take()
		if ev.Status == event.Failed {
			data += "\n" + lastLine(ev.Text)
		}
	}
	if u.Update == "tool_call" {
		// The call is announced and over in one event: the terminal must be
		// there before something is written to it.
		u.Meta["terminal_output"] = map[string]any{"terminal_id": ev.ID, "data": data}
	} else if data != "" {
		if err := e.terminalOutput(ev.ID, data); err != nil {
			return err
		}
	}
	code, signal := exitStatus(u.RawOutput)
	u.Meta["terminal_exit"] = map[string]any{"terminal_id": ev.ID, "exit_code": code, "signal": signal}
	return nil
}

// content returns what the client is to show of ev, or nil if that is to stay.
// Changes of files stay when the call succeeds, though its text comes later.
func (e *Encoder) content(c *call, ev event.ToolCall) []any {
	var list []any
	if ev.Status != event.Failed {
		for _, d := range ev.Diffs {
			if d.Old == nil || *d.Old != d.New {
				list = append(list, diff{"diff", e.absolute(d.Path), d.Old, d.New})
			}
		}
	}
	if len(list) > 0 {
		c.diffs = true
		return list
	}
	if ev.Text != "" && (!c.diffs || ev.Status == event.Failed) {
		text := ev.Text
		if ev.Status != event.Failed || strings.Contains(text, "\n") { // one line of a failure is a sentence
			text = display(c.kind, text)
		}
		list = append(list, textContent(text))
	}
	return append(list, pictures(ev.Images)...)
}

// pictures returns pictures as content, and a line for each that would make the update
// longer than clients read (R-MCP-17).
func pictures(all []tools.Image) (list []any) {
	left := maxPictures
	for _, img := range all {
		if len(img.Data) > left || !strings.HasPrefix(img.MIME, "image/") {
			list = append(list, textContent(fmt.Sprintf("A picture (%s, %d KiB) is not shown.", oneLine(img.MIME), (len(img.Data)+1023)/1024)))
			continue
		}
		left -= len(img.Data)
		list = append(list, content{"content", imageBlock{"image", img.Data, img.MIME}})
	}
	return list
}

// maxPictures is how many bytes of pictures one update has: some clients read no line of
// more than 10 MiB.
const maxPictures = 5 << 20

// Question returns the tool call of a permission request. It says everything
// that the user has to know, since some clients show it alone.
func (e *Encoder) Question(q approve.Question) ToolCall {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.calls[q.CallID]
	if c == nil {
		c = &call{}
	}
	u := ToolCall{
		ID:        q.CallID,
		Title:     cmp.Or(oneLine(q.Plan.Title), c.title, q.Tool),
		Kind:      cmp.Or(q.Kind, c.kind, tools.KindOther),
		Status:    event.Pending,
		Locations: e.locations(q.Plan.Locations),
		RawInput:  verbatim(q.Input),
	}
	if c.running { // it asks for something in the middle of its work
		u.Status = event.InProgress
	}
	if !c.terminal {
		u.Content = e.content(c, event.ToolCall{Diffs: q.Plan.Diffs})
	}
	if q.Reason != "" {
		if c.terminal {
			u.Content = append(u.Content, terminal{"terminal", q.CallID})
		}
		u.Content = append(u.Content, textContent(q.Reason))
	}
	return u
}

func (e *Encoder) locations(ls []tools.Location) []location {
	var list []location
	for _, l := range ls {
		list = append(list, location{e.absolute(l.Path), max(0, l.Line)})
	}
	return list
}

// absolute returns path as the protocol wants it; a relative one is meant from
// the session's directory, never from that of the process.
func (e *Encoder) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.o.Dir, path)
}

// display returns text as Markdown: what comes from files and programs is fenced,
// so that it is shown as it is.
func display(k tools.Kind, text string) string {
	switch k {
	case tools.KindExecute, tools.KindRead, tools.KindSearch:
		return fence(text)
	}
	return text
}

func fence(text string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", max(3, longest+1))
	return marks + "\n" + strings.TrimSuffix(text, "\n") + "\n" + marks
}

// verbatim returns raw as it is, so that large numbers keep their digits, or as
// a string if it is not JSON: a model may write anything.
func verbatim(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if json.Valid(raw) {
		return transportable(raw)
	}
	return quote(string(raw))
}

// transportable returns raw without what a JSON value may hold inside its strings
// but a line should not: bytes that are not UTF-8 are replaced, and the line
// separators of Unicode, at which some readers split, are escaped.
func transportable(raw json.RawMessage) json.RawMessage {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	for sep, escaped := range map[string]string{"\u2028": `\u2028`, "\u2029": `\u2029`} {
		if bytes.Contains(raw, []byte(sep)) {
			raw = bytes.ReplaceAll(raw, []byte(sep), []byte(escaped))
		}
	}
	return raw
}

func quote(s string) json.RawMessage {
	b := append(make([]byte, 0, len(s)+2), '"')
	return append(appendEscaped(b, s), '"')
}

// rawOutput returns the result for programs: what the tool made for them, else
// the text.
func rawOutput(ev event.ToolCall) json.RawMessage {
	final := ev.Status == event.Completed || ev.Status == event.Failed
	switch out := ev.Output.(type) {
	case nil:
		if final && ev.Text != "" {
			return quote(ev.Text)
		}
		return nil
	case json.RawMessage:
		return verbatim(out)
	case string:
		return quote(out)
	default:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if enc.Encode(out) != nil {
			return quote(ev.Text) // it holds what JSON cannot say
		}
		return transportable(bytes.TrimSpace(b.Bytes()))
	}
}

// exitStatus reads how a command ended from its raw output, each part null if it
// does not say.
func exitStatus(raw json.RawMessage) (code *int, signal *string) {
	var status struct {
		Code   *int    `json:"exitCode"`
		Signal *string `json:"signal"`
	}
	if json.Unmarshal(raw, &status) != nil {
		return nil, nil
	}
	if status.Code != nil && *status.Code < 0 {
		status.Code = nil // a signal ended it
	}
	return status.Code, status.Signal
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func oneLine(s string) string { return tools.Line(s, tools.MaxTitle) }
