package responses

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// An event of the stream, as far as it matters.
type event struct {
	Type      string          `json:"type"`
	ItemID    string          `json:"item_id"`
	Output    *int            `json:"output_index"`
	Content   int             `json:"content_index"`
	Summary   int             `json:"summary_index"`
	Delta     text            `json:"delta"`
	Text      text            `json:"text"`
	Refusal   text            `json:"refusal"`
	Arguments text            `json:"arguments"`
	Part      json.RawMessage `json:"part"`
	Item      json.RawMessage `json:"item"`
	Response  json.RawMessage `json:"response"`
	Error     json.RawMessage `json:"error"`
}

// A text is a string of an event. Where an event of a type that nobody here knows
// has something else under the same name, the text is that value as JSON.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if n := len(b) - 1; n > 0 && b[0] == '"' && plain(b[1:n]) { // most of all deltas
		*t = text(b[1:n])
		return nil
	}
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(t))
	case 'n':
		*t = ""
	default:
		*t = text(b)
	}
	return nil
}

// plain reports whether b, the inside of a JSON string, stands for itself.
func plain(b []byte) bool {
	for _, c := range b {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// A response is the object that closes a stream.
type response struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage  usage             `json:"usage"`
	Output []json.RawMessage `json:"output"`
}

// A source is an item as the server has it: of what it is made when it is whole.
type source struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Status    string  `json:"status"`
	Phase     string  `json:"phase"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments text    `json:"arguments"`
	Content   []block `json:"content"`
	Summary   []block `json:"summary"`
	Encrypted string  `json:"encrypted_content"`
}

type block struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// usage is token counts. Those that cannot be read are unknown, and no reason to
// fail.
type usage model.Usage

func (u *usage) UnmarshalJSON(b []byte) error {
	var v struct {
		Input     int `json:"input_tokens"`
		Output    int `json:"output_tokens"`
		InputMore struct {
			Cached  int `json:"cached_tokens"`
			Written int `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputMore struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
	*u = usage{}
	if json.Unmarshal(b, &v) != nil || v.Input+v.Output == 0 {
		return nil
	}
	*u = usage{
		Input: v.Input, Output: v.Output, CacheRead: v.InputMore.Cached, CacheWrite: v.InputMore.Written,
		Reasoning: v.OutputMore.Reasoning, Known: true,
	}
	return nil
}
