package v1

import (
	"encoding/json"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/tools"
)

// An Update is the parameters of session/update.
type Update struct {
	Session string `json:"sessionId"`
	Update  any    `json:"update"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type chunkUpdate struct {
	Kind      string         `json:"sessionUpdate"`
	MessageID string         `json:"messageId"`
	Content   textBlock      `json:"content"`
	Meta      map[string]any `json:"_meta,omitempty"`
}

type usageUpdate struct {
	Kind string         `json:"sessionUpdate"`
	Used int            `json:"used"`
	Size int            `json:"size"`            // 0 where the window is unknown: the field is required
	Meta map[string]any `json:"_meta,omitempty"` // that used is an estimate
}

// A Title is the update session_info_update. A time that is absent stays as it was.
type Title struct {
	Update  string `json:"sessionUpdate"`
	Title   string `json:"title"`
	Updated string `json:"updatedAt,omitempty"` // RFC 3339
}

type noticeUpdate struct {
	Kind        string         `json:"sessionUpdate"`
	Severity    event.Severity `json:"severity"`
	Title       string         `json:"title"`
	Description string         `json:"description,omitempty"`
}

// A ToolCall is a tool call as a client is told of it: as the update tool_call
// or tool_call_update, and without Kind inside a permission request. Members that
// are absent stay as they were.
type ToolCall struct {
	Update    string          `json:"sessionUpdate,omitempty"`
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title,omitempty"`
	Name      string          `json:"name,omitempty"`
	Kind      tools.Kind      `json:"kind,omitempty"`
	Status    event.Status    `json:"status,omitempty"`
	Content   []any           `json:"content,omitempty"` // of content, diff and terminal
	Locations []location      `json:"locations,omitempty"`
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput json.RawMessage `json:"rawOutput,omitempty"`
	Meta      map[string]any  `json:"_meta,omitempty"`
}

// empty reports whether u says no more than which call it is about.
func (u ToolCall) empty() bool {
	return u.Title == "" && u.Kind == "" && u.Status == "" && len(u.Content) == 0 && len(u.Locations) == 0 &&
		u.RawInput == nil && u.RawOutput == nil && len(u.Meta) == 0
}

type location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // from 1
}

type content struct {
	Type    string `json:"type"`
	Content any    `json:"content"` // a text or an image
}

type imageBlock struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
	MIME string `json:"mimeType"`
}

type diff struct {
	Type    string  `json:"type"`
	Path    string  `json:"path"`
	OldText *string `json:"oldText"` // null for a new file
	NewText string  `json:"newText"`
}

type terminal struct {
	Type string `json:"type"`
	ID   string `json:"terminalId"`
}

func textContent(s string) content { return content{"content", textBlock{"text", s}} }
