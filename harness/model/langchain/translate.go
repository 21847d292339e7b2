package langchain

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// errorMark begins the result of a call that failed, for models that have no
// field for it.
const errorMark = "ERROR: "

// messages turns a request into what every model of langchaingo understands:
// one part per tool message, no parts of ours.
func messages(req *model.Request) []llms.MessageContent {
	var out []llms.MessageContent
	if req.System != "" {
		out = append(out, llms.TextParts(llms.ChatMessageTypeSystem, req.System))
	}
	for _, m := range req.Messages {
		var parts []llms.ContentPart
		for _, p := range m.Parts {
			switch p := p.(type) {
			case model.Reasoning:
			case model.Extra:
				parts = append(parts, p.ToolCall)
			case model.ToolResult:
				r := p.ToolCallResponse
				if p.IsError {
					r.Content = errorMark + r.Content
				}
				parts = append(parts, r)
			case llms.TextContent:
				if p.Text != "" {
					parts = append(parts, p)
				}
			default:
				parts = append(parts, p)
			}
		}
		if m.Role == llms.ChatMessageTypeTool {
			for _, p := range parts {
				out = append(out, llms.MessageContent{Role: m.Role, Parts: []llms.ContentPart{p}})
			}
		} else if len(parts) > 0 {
			out = append(out, llms.MessageContent{Role: m.Role, Parts: parts})
		}
	}
	return out
}

// tools turns tools into langchaingo's. The schema is a map, which is what its
// models look into.
func tools(ts []model.Tool) []llms.Tool {
	var out []llms.Tool
	for _, t := range ts {
		var schema any = map[string]any{"type": "object"}
		var m map[string]any
		if json.Unmarshal(t.Schema, &m) == nil && m != nil {
			schema = m
		}
		out = append(out, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schema,
		}})
	}
	return out
}

// isToolJSON reports whether a chunk is a list of tool calls in JSON, which
// some models push into the stream of text.
func isToolJSON(p []byte) bool {
	if !bytes.HasPrefix(p, []byte("[{")) {
		return false
	}
	var calls []struct {
		Type     string           `json:"type"`
		Function *json.RawMessage `json:"function"`
	}
	if json.Unmarshal(p, &calls) != nil || len(calls) == 0 {
		return false
	}
	for _, c := range calls {
		if c.Function == nil && c.Type != "function" {
			return false
		}
	}
	return true
}

// stop gives the words of many providers one meaning.
func stop(raw string, calls bool) model.Stop {
	switch strings.ToLower(raw) {
	case "length", "max_tokens", "finishreasonmaxtokens":
		return model.StopLength
	case "model_context_window_exceeded":
		return model.StopContext
	case "content_filter", "refusal", "safety", "finishreasonsafety":
		return model.StopRefusal
	case "pause_turn":
		return model.StopPause
	}
	if calls {
		return model.StopTools
	}
	return model.StopEnd
}

// usage reads the token counts under the names that langchaingo's models use.
// Some leave the cached part out of the input; it is part of it here.
func usage(info map[string]any) model.Usage {
	count := func(names ...string) (int, bool) {
		for _, name := range names {
			switch n := info[name].(type) {
			case int:
				return n, true
			case int32:
				return int(n), true
			case int64:
				return int(n), true
			case float64:
				return int(n), true
			}
		}
		return 0, false
	}
	var u model.Usage
	input, known := count("PromptTokens", "input_tokens")
	without, bare := count("InputTokens") // without the cached part
	u.CacheRead, _ = count("PromptCachedTokens", "CacheReadInputTokens")
	u.CacheWrite, _ = count("CacheCreationInputTokens")
	u.Output, _ = count("CompletionTokens", "OutputTokens", "output_tokens")
	u.Reasoning, _ = count("ReasoningTokens", "CompletionReasoningTokens", "ThinkingTokens")
	u.Input, u.Known = input, known || bare
	if !known && bare {
		u.Input = without + u.CacheRead + u.CacheWrite
	}
	return u
}

// kind is what a code of langchaingo is here.
func kind(code llms.ErrorCode) model.Kind {
	switch code {
	case llms.ErrCodeAuthentication:
		return model.Auth
	case llms.ErrCodeRateLimit:
		return model.RateLimit
	case llms.ErrCodeInvalidRequest, llms.ErrCodeNotImplemented:
		return model.Invalid
	case llms.ErrCodeResourceNotFound:
		return model.NotFound
	case llms.ErrCodeTimeout:
		return model.Idle
	case llms.ErrCodeCanceled:
		return model.Canceled
	case llms.ErrCodeQuotaExceeded:
		return model.Quota
	case llms.ErrCodeContentFilter:
		return model.Refused
	case llms.ErrCodeTokenLimit:
		return model.TokenLimit
	case llms.ErrCodeProviderUnavailable:
		return model.Overloaded
	}
	return model.Unknown
}
