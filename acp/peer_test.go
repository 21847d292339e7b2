package acp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"
)

// A peer is a client that others wrote: the client side of acp-go-sdk.
type peer struct {
	mu      sync.Mutex
	updates map[acpsdk.SessionId][]acpsdk.SessionUpdate
}

func (p *peer) SessionUpdate(_ context.Context, n acpsdk.SessionNotification) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.updates[n.SessionId] = append(p.updates[n.SessionId], n.Update)
	return nil
}

// said returns the text of the answers of a session, and its tool calls that
// were completed.
func (p *peer) said(id acpsdk.SessionId) (text string, completed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.updates[id] {
		if c := u.AgentMessageChunk; c != nil && c.Content.Text != nil {
			text += c.Content.Text.Text
		}
		if c := u.ToolCallUpdate; c != nil && c.Status != nil && *c.Status == acpsdk.ToolCallStatusCompleted {
			completed++
		}
	}
	return text, completed
}

// replayed returns what a replay has told of the user's texts, and its tool calls
// that were completed.
func (p *peer) replayed(id acpsdk.SessionId) (text string, completed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.updates[id] {
		if c := u.UserMessageChunk; c != nil && c.Content.Text != nil {
			text += c.Content.Text.Text
		}
		if c := u.ToolCall; c != nil && c.Status == acpsdk.ToolCallStatusCompleted {
			completed++
		}
	}
	return text, completed
}

func (*peer) RequestPermission(context.Context, acpsdk.RequestPermissionRequest) (r acpsdk.RequestPermissionResponse, err error) {
	return r, errors.New("asked in auto mode")
}

func (*peer) ReadTextFile(context.Context, acpsdk.ReadTextFileRequest) (r acpsdk.ReadTextFileResponse, err error) {
	return r, errors.ErrUnsupported
}

func (*peer) WriteTextFile(context.Context, acpsdk.WriteTextFileRequest) (r acpsdk.WriteTextFileResponse, err error) {
	return r, errors.ErrUnsupported
}

func (*peer) CreateTerminal(context.Context, acpsdk.CreateTerminalRequest) (r acpsdk.CreateTerminalResponse, err error) {
	return r, errors.ErrUnsupported
}

func (*peer) KillTerminal(context.Context, acpsdk.KillTerminalRequest) (r acpsdk.KillTerminalResponse, err error) {
	return r, errors.ErrUnsupported
}

func (*peer) TerminalOutput(context.Context, acpsdk.TerminalOutputRequest) (r acpsdk.TerminalOutputResponse, err error) {
	return r, errors.ErrUnsupported
}

func (*peer) ReleaseTerminal(context.Context, acpsdk.ReleaseTerminalRequest) (r acpsdk.ReleaseTerminalResponse, err error) {
	return r, errors.ErrUnsupported
}

func (*peer) WaitForTerminalExit(context.Context, acpsdk.WaitForTerminalExitRequest) (r acpsdk.WaitForTerminalExitResponse, err error) {
	return r, errors.ErrUnsupported
}

// Another agent drives two sessions at once, in auto mode, through a library that
// is not ours (R-ACP-13, R-ACP-40).
func TestPeer(t *testing.T) {
	agentIn, in := io.Pipe()
	out, agentOut := io.Pipe()
	r := rig{model: `
{"match":{"contains":"go"},"tools":[{"name":"write","args":{"path":"f.txt","content":"<made>\n"}}],"repeat":true}
{"text":["all ","<done>"],"repeat":true}`}
	done := make(chan error, 1)
	go func() {
		done <- r.serve(t)(t.Context(), agentIn, agentOut)
		agentOut.Close()
	}()

	p := &peer{updates: make(map[acpsdk.SessionId][]acpsdk.SessionUpdate)}
	c := acpsdk.NewClientSideConnection(p, in, out)
	c.SetLogger(slog.New(slog.DiscardHandler))
	first, err := c.Initialize(t.Context(), acpsdk.InitializeRequest{ProtocolVersion: acpsdk.ProtocolVersionNumber})
	if err != nil {
		t.Fatal(err)
	}
	if len(first.AuthMethods) != 1 || first.AuthMethods[0].Agent == nil || first.AgentInfo == nil {
		t.Errorf("initialize = %+v, want one method of the agent and its name", first)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { drive(t, c, p) })
	}
	wg.Wait()
	in.Close()
	if err := <-done; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// drive opens a session, has a file made, and closes it.
func drive(t *testing.T, c *acpsdk.ClientSideConnection, p *peer) {
	ctx, dir := t.Context(), t.TempDir()
	s, err := c.NewSession(ctx, acpsdk.NewSessionRequest{Cwd: dir, McpServers: []acpsdk.McpServer{}})
	if err != nil {
		t.Errorf("session/new: %v", err)
		return
	}
	if s.Modes == nil || len(s.ConfigOptions) == 0 || s.ConfigOptions[0].Select == nil {
		t.Errorf("session/new = %+v, want modes and options", s)
	}
	if _, err := c.SetSessionMode(ctx, acpsdk.SetSessionModeRequest{SessionId: s.SessionId, ModeId: "auto"}); err != nil {
		t.Errorf("session/set_mode: %v", err)
	}
	res, err := c.Prompt(ctx, acpsdk.PromptRequest{SessionId: s.SessionId, Prompt: []acpsdk.ContentBlock{acpsdk.TextBlock("go")}})
	if err != nil || res.StopReason != acpsdk.StopReasonEndTurn {
		t.Errorf("session/prompt = %v, %v", res, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f.txt")); err != nil || string(data) != "<made>\n" {
		t.Errorf("file = %q, %v", data, err)
	}
	text, completed := p.said(s.SessionId)
	if strings.TrimSpace(text) != "all <done>" || completed != 1 {
		t.Errorf("the peer heard %q and %d completed calls", text, completed)
	}
	if _, err := c.CloseSession(ctx, acpsdk.CloseSessionRequest{SessionId: s.SessionId}); err != nil {
		t.Errorf("session/close: %v", err)
	}
	again(t, c, p, s.SessionId, dir)
}

// again finds a closed session in the list, loads it and deletes it.
func again(t *testing.T, c *acpsdk.ClientSideConnection, p *peer, id acpsdk.SessionId, dir string) {
	ctx := t.Context()
	list, err := c.ListSessions(ctx, acpsdk.ListSessionsRequest{Cwd: &dir})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != id || list.Sessions[0].Title == nil {
		t.Errorf("session/list = %+v, %v; want the session and its title", list, err)
	}
	loaded, err := c.LoadSession(ctx, acpsdk.LoadSessionRequest{SessionId: id, Cwd: dir, McpServers: []acpsdk.McpServer{}})
	if err != nil || loaded.Modes == nil || loaded.Modes.CurrentModeId != "auto" {
		t.Errorf("session/load = %+v, %v; want the mode that was chosen", loaded, err)
	}
	text, calls := p.replayed(id)
	if text != "go" || calls != 1 {
		t.Errorf("the replay has %q of the user and %d completed calls", text, calls)
	}
	if _, err := c.ResumeSession(ctx, acpsdk.ResumeSessionRequest{SessionId: id, Cwd: dir}); err != nil {
		t.Errorf("session/resume: %v", err)
	}
	fork, err := c.UnstableForkSession(ctx, acpsdk.UnstableForkSessionRequest{SessionId: id, Cwd: dir})
	if err != nil || fork.SessionId == id || fork.Modes == nil {
		t.Errorf("session/fork = %+v, %v; want another session", fork, err)
	}
	for range 2 { // the second time it is gone already
		if _, err := c.UnstableDeleteSession(ctx, acpsdk.UnstableDeleteSessionRequest{SessionId: id}); err != nil {
			t.Errorf("session/delete: %v", err)
		}
	}
}
