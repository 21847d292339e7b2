//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/wirecheck"
)

// A tap keeps the lines that pass between a client and an agent.
type tap struct {
	mu   sync.Mutex // guards wire
	wire []wirecheck.Line
}

// to returns a writer that keeps what is written to it as lines in a direction.
func (t *tap) to(d wirecheck.Dir) io.Writer { return &tapped{tap: t, dir: d} }

type tapped struct {
	tap  *tap
	dir  wirecheck.Dir
	rest []byte // of a line whose end has not come
}

func (t *tapped) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	for {
		line, rest, ok := bytes.Cut(t.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		t.tap.mu.Lock()
		t.tap.wire = append(t.tap.wire, wirecheck.Line{Dir: t.dir, Text: string(line)})
		t.tap.mu.Unlock()
		t.rest = rest
	}
}

// An sdkClient is a client that others wrote. What it has not offered it does
// not have, so that a call of it would panic.
type sdkClient struct {
	acpsdk.Client

	mu      sync.Mutex // guards the fields below
	updates map[acpsdk.SessionId][]acpsdk.SessionUpdate
	asked   []string // titles of the calls that it was asked about
}

func (c *sdkClient) SessionUpdate(_ context.Context, n acpsdk.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates[n.SessionId] = append(c.updates[n.SessionId], n.Update)
	return nil
}

func (c *sdkClient) RequestPermission(_ context.Context, r acpsdk.RequestPermissionRequest) (acpsdk.RequestPermissionResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, *r.ToolCall.Title)
	i := slices.IndexFunc(r.Options, func(o acpsdk.PermissionOption) bool { return o.Kind == acpsdk.PermissionOptionKindAllowOnce })
	return acpsdk.RequestPermissionResponse{Outcome: acpsdk.NewRequestPermissionOutcomeSelected(r.Options[i].OptionId)}, nil
}

// said returns the text of a session's answers, and the names of its calls.
func (c *sdkClient) said(id acpsdk.SessionId) (text string, calls []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.updates[id] {
		if m := u.AgentMessageChunk; m != nil && m.Content.Text != nil {
			text += m.Content.Text.Text
		}
		if u.ToolCall != nil {
			calls = append(calls, string(u.ToolCall.ToolCallId))
		}
	}
	return text, calls
}

// Row 190 (R-ACP-13, R-ACP-40) and C024: another agent opens two sessions at the
// same time and drives both at once, in auto mode, through a library that is not
// ours; their files and their updates stay apart.
func TestRow190OtherAgents(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	script := filepath.Join(home, "script.jsonl")
	var lines []string
	for _, s := range []string{"left", "right"} {
		lines = append(lines, fmt.Sprintf(`{"match": {"session": %q, "contains": "go"}, "tools": [{"name": "bash", "args": {"command": "printf %s > f.txt"}}]}`, s, s),
			fmt.Sprintf(`{"match": {"session": %q}, "text": ["%s ", "is done"]}`, s, s))
	}
	lines = append(lines, `{"match": {"contains": "ask"}, "tools": [{"name": "bash", "args": {"command": "echo asked"}}]}`, `{"text": "asked"}`)
	if err := os.WriteFile(script, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("lorimer", "acp", "--model", "script:"+script)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), raceOptions()}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := &sdkClient{updates: map[acpsdk.SessionId][]acpsdk.SessionUpdate{}}
	var wire tap
	conn := acpsdk.NewClientSideConnection(client,
		io.MultiWriter(wire.to(wirecheck.ToAgent), in), io.TeeReader(out, wire.to(wirecheck.ToClient)))
	conn.SetLogger(slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	hello, err := conn.Initialize(ctx, acpsdk.InitializeRequest{ProtocolVersion: acpsdk.ProtocolVersionNumber})
	if err != nil || hello.ProtocolVersion != acpsdk.ProtocolVersionNumber || hello.AgentInfo == nil {
		t.Fatalf("initialize = %+v, %v", hello, err)
	}
	var both sync.WaitGroup
	for _, name := range []string{"left", "right"} {
		both.Go(func() { driveSDK(ctx, t, conn, client, name) })
	}
	both.Wait()
	if len(client.asked) != 0 {
		t.Errorf("asked about %q in auto mode", client.asked)
	}

	s, err := conn.NewSession(ctx, acpsdk.NewSessionRequest{Cwd: t.TempDir(), McpServers: []acpsdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Prompt(ctx, acpsdk.PromptRequest{SessionId: s.SessionId, Prompt: []acpsdk.ContentBlock{acpsdk.TextBlock("ask")}}); err != nil {
		t.Error(err)
	}
	if len(client.asked) != 1 || !strings.Contains(client.asked[0], "echo asked") {
		t.Errorf("a new session asked about %q, want the command: modes belong to a session", client.asked)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	<-conn.Done()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the agent ended with %v, want exit code 0", err)
	}
	judge(t, wire.wire)
}

// driveSDK has a file made in a session with the wished id name.
func driveSDK(ctx context.Context, t *testing.T, conn *acpsdk.ClientSideConnection, client *sdkClient, name string) {
	dir := t.TempDir()
	s, err := conn.NewSession(ctx, acpsdk.NewSessionRequest{
		Cwd: dir, McpServers: []acpsdk.McpServer{}, Meta: namespaced("sessionId", name),
	})
	if err != nil {
		t.Errorf("session/new: %v", err)
		return
	}
	if string(s.SessionId) != name || s.Modes == nil || len(s.ConfigOptions) == 0 {
		t.Errorf("session/new = %+v, want the id %s, modes and options", s, name)
	}
	if _, err := conn.SetSessionMode(ctx, acpsdk.SetSessionModeRequest{SessionId: s.SessionId, ModeId: "auto"}); err != nil {
		t.Errorf("session/set_mode: %v", err)
	}
	r, err := conn.Prompt(ctx, acpsdk.PromptRequest{SessionId: s.SessionId, Prompt: []acpsdk.ContentBlock{acpsdk.TextBlock("go")}})
	if err != nil || r.StopReason != acpsdk.StopReasonEndTurn {
		t.Errorf("session/prompt = %+v, %v", r, err)
	}
	if p, err := os.ReadFile(filepath.Join(dir, "f.txt")); err != nil || string(p) != name {
		t.Errorf("the file of %s holds %q (%v)", name, p, err)
	}
	if text, calls := client.said(s.SessionId); text != name+" is done" || len(calls) != 1 {
		t.Errorf("session %s said %q with calls %q", name, text, calls)
	}
}
