package acp

import (
	"context"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// What is cancelled before initialize has been answered reserves its id no longer.
func TestCancelledClaims(t *testing.T) {
	for _, method := range []string{
		acpsdk.AgentMethodSessionNew, acpsdk.AgentMethodSessionFork, acpsdk.AgentMethodSessionLoad, acpsdk.AgentMethodSessionResume,
	} {
		t.Run(method, func(t *testing.T) {
			c := newConn(Options{})
			c.client = &client{}
			r := &wire.Request{Method: method, Params: []byte(`{"sessionId":"s","_meta":{"lorimer.dev":{"sessionId":"s"}}}`)}
			c.Admit(r)
			if s := c.sessions["s"]; s == nil {
				t.Fatal("no session is reserved")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := c.Serve(ctx, r); err == nil {
				t.Error("the request was answered before initialize")
			}
			if n := len(c.sessions); n != 0 {
				t.Errorf("%d sessions are reserved, want none", n)
			}
		})
	}
}
