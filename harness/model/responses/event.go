package responses

import (
	"encoding/json"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// An event of the stream, as far as it matters.
type event struct {
	Type      string          `json:"type"`
	ItemID    string          `json:"item_id"`
	Output    *int            `json:"output_index"`
	Content   int             `json:"content_index"`
	Summary   int             `json:"summary_index"`
	Delta     stream.Text     `json:"delta"`
	Text      stream.Text     `json:"text"`
	Refusal   stream.Text     `json:"refusal"`
	Arguments stream.Text     `json:"arguments"`
	Part      json.RawMessage `json:"part"`
	Item      json.RawMessage `json:"item"`
	Response  json.RawMessage `json:"response"`
	Error     json.RawMessage `json:"error"`
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
	Type      string      `json:"type"`
	ID        string      `json:"id"`
	Status    string      `json:"status"`
	Phase     string      `json:"phase"`
	CallID    string      `json:"call_id"`
	Name      string      `json:"name"`
	Arguments stream.Text `json:"arguments"`
	Content   []block     `json:"content"`
	Summary   []block     `json:"summary"`
	Encrypted string      `json:"encrypted_content"`
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
