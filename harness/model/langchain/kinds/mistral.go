package kinds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	sdk "github.com/gage-technologies/mistral-go"
	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/mistral"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// mistralTimeout ends a request of a library that heeds no context.
const mistralTimeout = 10 * time.Minute

// mistral takes no client and no context. While it streams it does not put the
// pieces of a call together, and results go without the id of their call, so that
// each has to follow it.
func mistral() kind {
	return kind{
		Info: Info{Name: "mistral", Title: "Mistral", BaseURL: "https://api.mistral.ai", Key: "API key", Tools: true},
		adapt: langchain.Options{
			Shape: langchain.Paired, WholeWithTools: true, NamesEnd: true, Deaf: true,
		},
		open: func(d model.Descriptor, o Options, _ *http.Client) (llms.Model, error) {
			// One attempt: repeating is for who knows what has been told.
			m, err := lib.New(lib.WithAPIKey(o.Key), lib.WithModel(d.ID), lib.WithMaxRetries(1), lib.WithTimeout(mistralTimeout),
				lib.WithEndpoint(d.BaseURL))
			return mistralModel{m}, err
		},
	}
}

// A mistralModel gives ids the form that the provider wants, and counts the tokens
// where they are looked for.
type mistralModel struct{ llms.Model }

func (m mistralModel) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	resp, err := m.Model.GenerateContent(ctx, shortIDs(msgs), opts...)
	if err != nil || resp == nil {
		return resp, err
	}
	for _, c := range resp.Choices {
		if u, ok := c.GenerationInfo["usage"].(sdk.UsageInfo); ok {
			c.GenerationInfo["PromptTokens"], c.GenerationInfo["CompletionTokens"] = u.PromptTokens, u.CompletionTokens
		}
	}
	return resp, nil
}

// shortIDs returns msgs with ids of calls that are nine letters and digits.
func shortIDs(msgs []llms.MessageContent) []llms.MessageContent {
	out := make([]llms.MessageContent, len(msgs))
	for i, m := range msgs {
		parts := make([]llms.ContentPart, len(m.Parts))
		for j, p := range m.Parts {
			if c, ok := p.(llms.ToolCall); ok {
				c.ID = shortID(c.ID)
				p = c
			}
			parts[j] = p
		}
		out[i] = llms.MessageContent{Role: m.Role, Parts: parts}
	}
	return out
}

func shortID(id string) string {
	const size = 9
	ok := len(id) == size
	for i := range len(id) {
		c := id[i]
		ok = ok && ('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if ok {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:size]
}
