package client_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
)

// changes collects what is told to have changed.
type changes struct {
	mu   sync.Mutex // guards list
	list []client.Kind
}

func (c *changes) add(kind client.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, kind)
}

// take returns what was told since it was called last.
func (c *changes) take() []client.Kind {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list
	c.list = nil
	return list
}

// A server of the older era tells of changes without being asked.
func TestChangesAreTold(t *testing.T) {
	var got changes
	f := handshake(nil)
	bubble(t, f, client.Options{Changed: got.add}, func(t *testing.T, p client.Peer) {
		for _, kind := range []string{"tools", "prompts", "resources"} {
			f.tell("notifications/"+kind+"/list_changed", ``)
		}
		f.tell("notifications/resources/updated", `{"uri":"a://b"}`)
		if diff := cmp.Diff([]client.Kind{client.Tools, client.Prompts, client.Resources}, got.take()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
	f = handshake(nil)
	bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
		f.tell("notifications/tools/list_changed", ``) // nobody is interested
	})
}

// One of the newer era tells only those who hold a stream (C093), which is asked for
// again when it ends.
func TestChangesAreListenedFor(t *testing.T) {
	var got changes
	stream := make(chan string) // what the server says on it; "" ends it
	f := stateless(map[string]reply{
		"tools/list": says(`{"tools":[]}`),
		"subscriptions/listen": func(ctx ctx, f *fake, r request) (string, error) {
			f.tell("notifications/subscriptions/acknowledged", `{"notifications":{"toolsListChanged":true}}`)
			for {
				select {
				case method := <-stream:
					if method == "" {
						return `{"resultType":"complete"}`, nil
					}
					f.tell(method, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"1"}}`)
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
		},
	})
	synctest.Test(t, func(t *testing.T) {
		stream = make(chan string)
		p := connect(t, f, client.Options{Changed: got.add})
		defer p.Close(t.Context())
		if changed := got.take(); changed != nil {
			t.Errorf("changes %q before anything was read", changed)
		}
		tools(t, p)
		if got, want := string(f.last(t, "subscriptions/listen").Params), `"notifications":{"toolsListChanged":true}`; !contains(got, want) {
			t.Errorf("listening with %s, want %s", got, want)
		}
		stream <- "notifications/tools/list_changed"
		if diff := cmp.Diff([]client.Kind{client.Tools}, got.take()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		stream <- ""
		if changed := got.take(); changed != nil {
			t.Errorf("changes %q while nobody listens", changed)
		}
		time.Sleep(time.Second)
		if diff := cmp.Diff([]client.Kind{client.Tools}, got.take()); diff != "" {
			t.Errorf("changes since the stream is back (-want +got):\n%s", diff)
		}
		stream <- "notifications/tools/list_changed"
		if diff := cmp.Diff([]client.Kind{client.Tools}, got.take()); diff != "" {
			t.Errorf("changes on the second stream (-want +got):\n%s", diff)
		}
	})
}

// The pauses before it is asked again grow, and begin anew after a stream that held.
func TestListenBacksOff(t *testing.T) {
	tests := []struct {
		name  string
		reply reply
		in    time.Duration
		want  int // requests
	}{
		{"refused again and again", refuses(-32603, "busy"), 63 * time.Second, 7}, // at 0, 1, 3, 7, 15, 31 and 63 s
		{"not known", refuses(-32601, "Method not found"), time.Hour, 1},
		{"for an hour", refuses(-32603, "busy"), time.Hour, 20}, // and at 127, 255 and 511 s, and each five minutes from there
		{"streams that hold for a minute", after(time.Minute, says(`{}`)), 10 * time.Minute, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := stateless(map[string]reply{"subscriptions/listen": tt.reply})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				time.Sleep(tt.in)
				synctest.Wait()
				if got := len(f.methods()) - 1; got != tt.want {
					t.Errorf("asked %d times in %v, want %d", got, tt.in, tt.want)
				}
			})
		})
	}
}

// Nobody listens to a server that tells of no changes.
func TestNothingToListenFor(t *testing.T) {
	f := stateless(map[string]reply{"server/discover": says(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)})
	bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
		synctest.Wait()
		if diff := cmp.Diff([]string{"server/discover"}, f.methods()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}
