package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

func TestConnect(t *testing.T) {
	const discover, initialize = "server/discover", "initialize"
	unknownMethod := refuses(-32601, "Method not found")
	tests := []struct {
		name     string
		era      client.Era // remembered
		servers  []map[string]reply
		want     client.Era
		revision string
		asked    []string // of all servers, in order
		took     time.Duration
	}{
		{"a server of the newer era", client.Unknown,
			[]map[string]reply{{discover: discovered(`["2026-07-28"]`)}},
			client.Stateless, "2026-07-28", []string{discover}, 0},
		{"a server of both eras", client.Unknown,
			[]map[string]reply{{discover: discovered(`["2027-03-30","2026-07-28","2025-11-25"]`), initialize: initialized("2025-11-25")}},
			client.Stateless, "2026-07-28", []string{discover}, 0},
		{"a server that refuses the probe", client.Unknown,
			[]map[string]reply{{initialize: initialized("2025-06-18")}},
			client.Handshake, "2025-06-18", []string{discover, initialize}, 0},
		{"a server that refuses the probe in a way of its own", client.Unknown,
			[]map[string]reply{{discover: refuses(0, "not yet"), initialize: initialized("2025-03-26")}},
			client.Handshake, "2025-03-26", []string{discover, initialize}, 0},
		{"a server that answers anything with an empty result", client.Unknown,
			[]map[string]reply{{discover: says(`{}`), initialize: initialized("2024-11-05")}},
			client.Handshake, "2024-11-05", []string{discover, initialize}, 0},
		{"a server that supports no revision", client.Unknown,
			[]map[string]reply{{discover: discovered(`[]`), initialize: initialized("2025-11-25")}},
			client.Handshake, "2025-11-25", []string{discover, initialize}, 0},
		{"a server whose versions are no list", client.Unknown,
			[]map[string]reply{{discover: discovered(`"2026-07-28"`), initialize: initialized("2025-11-25")}},
			client.Handshake, "2025-11-25", []string{discover, initialize}, 0},
		{"a server that knows the probe and only the older era", client.Unknown,
			[]map[string]reply{{discover: discovered(`["2025-11-25"]`), initialize: initialized("2025-11-25")}},
			client.Handshake, "2025-11-25", []string{discover, initialize}, 0},
		{"a server that ignores the probe", client.Unknown,
			[]map[string]reply{{discover: silent, initialize: initialized("2025-06-18")}},
			client.Handshake, "2025-06-18", []string{discover, initialize}, 5 * time.Second},
		{"a server of the older era that needs half a minute to start", client.Unknown,
			[]map[string]reply{{discover: after(30*time.Second, unknownMethod), initialize: after(25*time.Second, initialized("2025-06-18"))}},
			client.Handshake, "2025-06-18", []string{discover, initialize}, 30 * time.Second},
		{"a server of the newer era that needs half a minute to start", client.Unknown,
			[]map[string]reply{{discover: after(30*time.Second, discovered(`["2026-07-28"]`)), initialize: silent}},
			client.Stateless, "2026-07-28", []string{discover, initialize}, 30 * time.Second},
		{"a late answer to the probe after initialize was refused", client.Unknown,
			[]map[string]reply{{discover: after(8*time.Second, discovered(`["2026-07-28"]`)), initialize: unknownMethod}},
			client.Stateless, "2026-07-28", []string{discover, initialize}, 8 * time.Second},
		{"a refusal that names the same revision", client.Unknown,
			[]map[string]reply{{discover: inTurn(refusesWith(-32022, "no", `{"supported":["2026-07-28"]}`), discovered(`["2026-07-28"]`))}},
			client.Stateless, "2026-07-28", []string{discover, discover}, 0},
		{"a refusal that names an older revision", client.Unknown,
			[]map[string]reply{{discover: refusesWith(-32022, "no", `{"supported":["2025-06-18","2024-11-05"]}`), initialize: initialized("2025-06-18")}},
			client.Handshake, "2025-06-18", []string{discover, initialize}, 0},
		{"initialize refused for its revision", client.Unknown,
			[]map[string]reply{{initialize: inTurn(refusesWith(-32602, "Unsupported protocol version", `{"supported":["2024-11-05"],"requested":"2025-11-25"}`), initialized("2024-11-05"))}},
			client.Handshake, "2024-11-05", []string{discover, initialize, initialize}, 0},
		{"a server that ends at the probe", client.Unknown,
			[]map[string]reply{{discover: exits}, {discover: exits, initialize: initialized("2025-11-25")}},
			client.Handshake, "2025-11-25", []string{discover, initialize}, 0},
		{"a server that answers the probe and ends", client.Unknown,
			[]map[string]reply{{initialize: exits}, {initialize: initialized("2025-11-25")}},
			client.Handshake, "2025-11-25", []string{discover, initialize, initialize}, 0},
		{"a server that ends at the probe after a while", client.Unknown,
			[]map[string]reply{{discover: after(7*time.Second, exits), initialize: silent}, {initialize: after(time.Second, initialized("2025-11-25"))}},
			client.Handshake, "2025-11-25", []string{discover, initialize, initialize}, 8 * time.Second},
		{"the older era is remembered", client.Handshake,
			[]map[string]reply{{discover: exits, initialize: initialized("2025-06-18")}},
			client.Handshake, "2025-06-18", []string{initialize}, 0},
		{"the older era is remembered wrongly", client.Handshake,
			[]map[string]reply{{discover: discovered(`["2026-07-28"]`)}},
			client.Stateless, "2026-07-28", []string{initialize, discover}, 0},
		{"the older era is remembered, and initialize agrees on the newer one", client.Handshake,
			[]map[string]reply{{discover: discovered(`["2026-07-28"]`), initialize: initialized("2026-07-28")}},
			client.Stateless, "2026-07-28", []string{initialize, discover}, 0},
		{"the older era is remembered wrongly, over HTTP", client.Handshake,
			[]map[string]reply{{discover: discovered(`["2026-07-28"]`), initialize: fails(&transport.StatusError{Status: 400})}},
			client.Stateless, "2026-07-28", []string{initialize, discover}, 0},
		{"the newer era is remembered", client.Stateless,
			[]map[string]reply{{discover: after(15*time.Second, discovered(`["2026-07-28"]`))}},
			client.Stateless, "2026-07-28", []string{discover}, 15 * time.Second},
		{"the newer era is remembered wrongly", client.Stateless,
			[]map[string]reply{{initialize: initialized("2025-06-18")}},
			client.Handshake, "2025-06-18", []string{discover, initialize}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var fakes []*fake
				for _, knows := range tt.servers {
					fakes = append(fakes, &fake{knows: knows})
				}
				begin := time.Now()
				p, err := client.Connect(t.Context(), dials(t, fakes...), client.Options{Era: tt.era})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close(context.WithoutCancel(t.Context()))
				if got := time.Since(begin); got != tt.took {
					t.Errorf("it took %v, want %v", got, tt.took)
				}
				if got := p.About(); got.Era != tt.want || got.Revision != tt.revision {
					t.Errorf("About() = %q %q, want %q %q", got.Era, got.Revision, tt.want, tt.revision)
				}
				var asked []string
				for i, f := range fakes {
					for _, method := range f.methods() {
						if method != "subscriptions/listen" {
							asked = append(asked, method)
						}
					}
					if alive := f.Err() == nil; alive != (i == len(fakes)-1) {
						t.Errorf("server %d is alive: %v", i, alive)
					}
				}
				if diff := cmp.Diff(tt.asked, asked); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				last := fakes[len(fakes)-1]
				if last.revision != tt.revision {
					t.Errorf("the transport was told of revision %q", last.revision)
				}
				if got := len(last.notified) == 1; got != (tt.want == client.Handshake) {
					t.Errorf("notifications %q in the era %q", last.notified, tt.want)
				}
			})
		})
	}
}

func TestConnectFails(t *testing.T) {
	const discover, initialize = "server/discover", "initialize"
	tests := []struct {
		name    string
		era     client.Era
		servers []map[string]reply
		is      error
		text    string // of the error, in part
		took    time.Duration
	}{
		{"only a newer revision by the probe", client.Unknown,
			[]map[string]reply{{discover: discovered(`["2027-03-30"]`), initialize: initialized("2025-11-25")}},
			nil, "the server speaks MCP 2027-03-30, this program 2024-11-05 to 2026-07-28", 0},
		{"only a newer revision by a refusal", client.Unknown,
			[]map[string]reply{{discover: refusesWith(-32022, "no", `{"supported":["2027-03-30"]}`)}},
			nil, "the server speaks MCP 2027-03-30, this program", 0},
		{"an unknown revision by initialize", client.Unknown,
			[]map[string]reply{{initialize: initialized("2025-01-01")}},
			nil, "the server speaks MCP 2025-01-01, this program", 0},
		{"no revision by initialize", client.Unknown,
			[]map[string]reply{{initialize: says(`{"capabilities":{}}`)}},
			nil, "does not say which revision", 0},
		{"initialize with no object", client.Unknown,
			[]map[string]reply{{initialize: says(`"ok"`)}},
			nil, "initialize: the server's answer is no JSON object", 0},
		{"both refused", client.Unknown,
			[]map[string]reply{{initialize: refuses(-32603, "no database")}},
			nil, "no database (-32603)", 0},
		{"initialize refused, the probe ignored", client.Unknown,
			[]map[string]reply{{discover: silent, initialize: refuses(-32603, "no database")}},
			nil, "no database (-32603)", 10 * time.Second},
		{"the newer era misses something", client.Unknown,
			[]map[string]reply{{discover: refuses(-32021, "sampling is required"), initialize: initialized("2025-11-25")}},
			nil, "sampling is required (-32021)", 0},
		{"the probe is refused for its revision again", client.Unknown,
			[]map[string]reply{{discover: refusesWith(-32022, "no", `{"supported":["2026-07-28"]}`)}},
			nil, "no (-32022)", 0},
		{"a login is needed", client.Unknown,
			[]map[string]reply{{discover: fails(&transport.StatusError{Status: 401}), initialize: initialized("2025-11-25")}},
			nil, "needs authorization", 0},
		{"nothing can be reached", client.Unknown,
			[]map[string]reply{{discover: fails(transport.ErrUnsent), initialize: initialized("2025-11-25")}},
			transport.ErrUnsent, "", 0},
		{"a server that ends always", client.Unknown,
			[]map[string]reply{{discover: exits}, {initialize: exits}},
			transport.ErrGone, "exit status 3): fatal: no key", 0},
		{"a server that ends, and is known not to end at a probe", client.Handshake,
			[]map[string]reply{{initialize: exits}},
			transport.ErrGone, "exit status 3): fatal: no key", 0},
		{"a server that never answers", client.Unknown,
			[]map[string]reply{{discover: silent, initialize: silent}},
			client.ErrTimeout, "it has not answered initialize", time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var fakes []*fake
				for _, knows := range tt.servers {
					fakes = append(fakes, &fake{knows: knows})
				}
				begin := time.Now()
				p, err := client.Connect(t.Context(), dials(t, fakes...), client.Options{Era: tt.era})
				if err == nil {
					p.Close(context.WithoutCancel(t.Context()))
					t.Fatal("connected")
				}
				if tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("error = %v, want %v with %q", err, tt.is, tt.text)
				}
				if got := time.Since(begin); got != tt.took {
					t.Errorf("it took %v, want %v", got, tt.took)
				}
				for i, f := range fakes {
					if f.Err() == nil {
						t.Errorf("server %d was left alive", i)
					}
				}
			})
		})
	}
}

// A caller that gives up gets its own error, and nothing is left behind.
func TestConnectCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{knows: map[string]reply{"server/discover": silent, "initialize": silent}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		if _, err := client.Connect(ctx, dials(t, f), client.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want that of the context", err)
		}
		if f.Err() == nil {
			t.Error("the server was left alive")
		}
	})
}

// A stubborn server ends when it is killed.
type stubborn struct{ *fake }

func (s stubborn) Close(ctx context.Context) error {
	<-ctx.Done()
	return s.fake.Close(ctx)
}

// A server that is given up has its time to end, unless the caller is about to end too.
func TestConnectGivesUp(t *testing.T) {
	for _, tt := range []struct {
		name     string
		knows    map[string]reply
		deadline time.Duration // of the caller; 0 is none
		cancel   time.Duration // after which the caller gives up; 0 is never
		quit     time.Duration // after which the caller leaves; 0 is never
		want     time.Duration // until Connect returns
	}{
		{name: "time is over", knows: map[string]reply{"server/discover": silent, "initialize": silent}, deadline: 3 * time.Second, want: 13 * time.Second},
		{name: "refused", want: 10 * time.Second},
		{name: "refused, and time is over", deadline: time.Second, want: 10 * time.Second},
		{name: "cancelled", knows: map[string]reply{"server/discover": silent, "initialize": silent}, cancel: 3 * time.Second, want: 3200 * time.Millisecond},
		{name: "refused, then left", quit: 4 * time.Second, want: 4 * time.Second},
		{name: "time is over, then left", knows: map[string]reply{"server/discover": silent, "initialize": silent}, deadline: 3 * time.Second, quit: 5 * time.Second, want: 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				if tt.deadline > 0 {
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				quit := make(chan struct{})
				if tt.quit > 0 {
					time.AfterFunc(tt.quit, func() { close(quit) })
				}
				start := time.Now()
				dial := func() transport.Transport { return stubborn{&fake{knows: tt.knows}} }
				if _, err := client.Connect(ctx, dial, client.Options{Quit: quit}); err == nil {
					t.Error("it connects")
				}
				if got := time.Since(start); got != tt.want {
					t.Errorf("it returns after %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// Each request of the newer era says what the older one said once.
func TestRequestsTellWhoAsks(t *testing.T) {
	f := stateless(map[string]reply{"tools/list": says(`{"tools":[]}`)})
	bubble(t, f, client.Options{Name: "lorimer", Version: "1.2", Host: &host{offers: everything}}, func(t *testing.T, p client.Peer) {
		if _, err := p.Tools(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28",
			"io.modelcontextprotocol/clientInfo":      map[string]any{"name": "lorimer", "version": "1.2"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{
				"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}},
				"roots":      map[string]any{}, "sampling": map[string]any{},
				"elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}},
			},
		}
		for _, method := range []string{"server/discover", "tools/list"} {
			var params struct {
				Meta map[string]any `json:"_meta"`
			}
			if err := json.Unmarshal(f.last(t, method).Params, &params); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, params.Meta); diff != "" {
				t.Errorf("_meta of %s (-want +got):\n%s", method, diff)
			}
		}
	})
}

// A server of the older era is told once, and of nothing that the host has not.
func TestInitializeTellsWhoAsks(t *testing.T) {
	tests := []struct {
		name string
		host *host
		want string // capabilities
	}{
		{"no host", nil, `{}`},
		{"a host that asks nobody", &host{}, `{"roots":{}}`},
		{"a host with forms", &host{offers: offersForm}, `{"elicitation":{"form":{}},"roots":{}}`},
		{"a host with everything", &host{offers: everything}, `{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(nil)
			o := client.Options{Name: "lorimer", Version: "1.2"}
			if tt.host != nil {
				o.Host = tt.host
			}
			bubble(t, f, o, func(t *testing.T, p client.Peer) {
				want := `{"capabilities":` + tt.want + `,"clientInfo":{"name":"lorimer","version":"1.2"},"protocolVersion":"2025-11-25"}`
				if got := string(f.last(t, "initialize").Params); got != want {
					t.Errorf("initialize with\n%s, want\n%s", got, want)
				}
			})
		})
	}
}

func TestAbout(t *testing.T) {
	tests := []struct {
		name, raw string
		want      client.About
	}{
		{"all of it", `{"protocolVersion":"2025-11-25","instructions":"be kind",
			"serverInfo":{"name":"n","title":"T","version":"1","icons":[{"src":"file:///etc/passwd"},{"src":"https://a/b.png"}]},
			"capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":null}}`,
			client.About{Name: "n", Title: "T", Version: "1", Instructions: "be kind", Icon: "https://a/b.png",
				Has: []client.Kind{client.Tools, client.Resources}}},
		{"empty arrays for empty objects", `{"protocolVersion":"2025-11-25","serverInfo":[],"capabilities":{"tools":[],"prompts":true,"resources":false}}`,
			client.About{Has: []client.Kind{client.Tools, client.Prompts}}},
		{"everything of the wrong kind", `{"protocolVersion":"2025-11-25","serverInfo":7,"capabilities":"all","instructions":["be kind"]}`,
			client.About{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{"initialize": says(tt.raw)})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				tt.want.Era, tt.want.Revision = client.Handshake, "2025-11-25"
				if diff := cmp.Diff(tt.want, p.About()); diff != "" {
					t.Errorf("About() (-want +got):\n%s", diff)
				}
			})
		})
	}
}
