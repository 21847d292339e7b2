package acp

import (
	"context"
	"errors"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/clientio"
)

// callLimit bounds every request to the client but those that a person answers
// (R-ACP-37).
const callLimit = 20 * time.Second

var _ clientio.Editor = (*session)(nil)

type fileParams struct {
	Session string  `json:"sessionId"`
	Path    string  `json:"path"`
	Content *string `json:"content,omitempty"` // of a write
}

// ReadTextFile implements [clientio.Editor].
func (s *session) ReadTextFile(ctx context.Context, path string) (string, error) {
	var res struct {
		Content *string `json:"content"`
	}
	if err := s.ask(ctx, acpsdk.ClientMethodFsReadTextFile, fileParams{Session: s.id, Path: path}, &res); err != nil {
		return "", err
	}
	if res.Content == nil {
		return "", errors.New("the editor answered without content")
	}
	return *res.Content, nil
}

// WriteTextFile implements [clientio.Editor].
func (s *session) WriteTextFile(ctx context.Context, path, text string) error {
	return s.ask(ctx, acpsdk.ClientMethodFsWriteTextFile, fileParams{Session: s.id, Path: path, Content: &text}, nil)
}

// ask sends a request that the client's program answers, not its user.
func (s *session) ask(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	return s.c.wire.Call(ctx, method, params, result)
}
