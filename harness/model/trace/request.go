package trace

import (
	"encoding/json"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A request is what the trace says of a request to a model.
type request struct {
	Session   string       `json:"session"`
	Kind      string       `json:"kind"`                // main or task
	TaskKind  string       `json:"task_kind,omitempty"` // of a task
	Signature string       `json:"signature"`
	System    string       `json:"system"`
	Messages  []message    `json:"messages"`
	Tools     []string     `json:"tools"` // names in wire order
	Schemas   []schema     `json:"tool_schemas"`
	Callable  []string     `json:"callable"` // names that would run
	NoTools   bool         `json:"no_tools,omitempty"`
	JSON      bool         `json:"json,omitempty"`
	Effort    model.Effort `json:"effort,omitempty"`
	Limits    limits       `json:"limits"`
}

type limits struct {
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

type schema struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

type message struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// A part is a piece of a message; the fields of its type are set.
type part struct {
	Type     string `json:"type"` // text, reasoning, tool_call, tool_result, image, image_url
	Text     string `json:"text,omitempty"`
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	Args     string `json:"args,omitempty"`
	IsError  bool   `json:"is_error,omitempty"`
	MIME     string `json:"mime,omitempty"`
	Bytes    int    `json:"bytes,omitempty"` // of a picture, which itself is left out
	URL      string `json:"url,omitempty"`
	Provider string `json:"provider,omitempty"`
	Images   []part `json:"images,omitempty"`
}

// requestOf turns a request into its line.
func requestOf(req *model.Request) request {
	r := request{
		Session: req.Session, Kind: "main", Signature: req.Signature, System: req.System,
		Messages: []message{}, Tools: []string{}, Schemas: []schema{}, Callable: req.Callable,
		NoTools: req.NoTools, JSON: req.JSON, Effort: req.Effort,
		Limits: limits{req.MaxTokens, req.Temperature},
	}
	if req.Kind != "" && req.Kind != "main" {
		r.Kind, r.TaskKind = "task", req.Kind
	}
	for _, m := range req.Messages {
		out := message{Role: role(m.Role), Parts: []part{}}
		for _, p := range m.Parts {
			out.Parts = append(out.Parts, partOf(p))
		}
		r.Messages = append(r.Messages, out)
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, t.Name)
		s := schema{Name: t.Name, Description: t.Description}
		if json.Valid(t.Schema) {
			s.Schema = t.Schema
		}
		r.Schemas = append(r.Schemas, s)
	}
	if r.Callable == nil {
		r.Callable = r.Tools
	}
	return r
}

// role returns the name that providers use for a role.
func role(r llms.ChatMessageType) string {
	switch r {
	case llms.ChatMessageTypeHuman:
		return "user"
	case llms.ChatMessageTypeAI:
		return "assistant"
	}
	return string(r)
}

func partOf(p llms.ContentPart) part {
	switch p := p.(type) {
	case llms.TextContent:
		return part{Type: "text", Text: p.Text}
	case model.SignedText:
		return part{Type: "text", Text: p.Text, Provider: p.Provider}
	case model.Reasoning:
		return part{Type: "reasoning", Text: p.Text, Provider: p.Provider}
	case llms.ToolCall:
		return callOf(p)
	case model.Extra:
		out := callOf(p.ToolCall)
		out.Provider = p.Provider
		return out
	case llms.ToolCallResponse:
		return part{Type: "tool_result", ID: p.ToolCallID, Name: p.Name, Text: p.Content}
	case model.ToolResult:
		out := partOf(p.ToolCallResponse)
		out.IsError = p.IsError
		for _, img := range p.Images {
			out.Images = append(out.Images, partOf(img))
		}
		return out
	case llms.BinaryContent:
		return part{Type: "image", MIME: p.MIMEType, Bytes: len(p.Data)}
	case llms.ImageURLContent:
		return part{Type: "image_url", URL: p.URL}
	}
	return part{Type: "other"}
}

func callOf(c llms.ToolCall) part {
	out := part{Type: "tool_call", ID: c.ID}
	if c.FunctionCall != nil {
		out.Name, out.Args = c.FunctionCall.Name, c.FunctionCall.Arguments
	}
	return out
}
