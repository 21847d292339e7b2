// Package probe looks for model servers on this machine (R-CMD-13).
//
// A port counts only when it answers its own product's status route in that
// product's own shape, within 150 ms. Nothing but loopback is ever asked, and
// no proxy stands in between.
package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	limit    = 150 * time.Millisecond // for a status route, and again for the details
	maxBytes = 4 << 20                // of an answer
	maxShown = 16                     // models whose details are asked for
)

// Options are where to look. The zero value is the usual ports.
type Options struct {
	Ollama   string // default http://127.0.0.1:11434
	LMStudio string // default http://127.0.0.1:1234
	LlamaCPP string // default http://127.0.0.1:8080
}

// Found is a server that answered and has a model.
type Found struct {
	Provider string  // ollama, lmstudio or llamacpp
	BaseURL  string  // of its OpenAI-compatible interface
	Models   []Model // the one to choose comes first
}

// A Model is a model that a server offers.
type Model struct {
	ID     string
	Tools  bool // calls tools, as far as the server says
	Images bool
	Window int // in tokens; 0 is unknown

	loaded bool
}

// Local asks the servers at once and returns those that answered, in the order
// Ollama, LM Studio, llama.cpp. Of the models of a server one that calls tools
// comes first, then one that is loaded, then the server's own order.
func Local(ctx context.Context, o Options) []Found {
	direct := newTransport()
	defer direct.CloseIdleConnections()
	c := client{http.Client{
		Transport:     direct,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	servers := []struct {
		provider, base string
		models         func(context.Context, string) ([]Model, error)
	}{
		{"ollama", cmp.Or(o.Ollama, "http://127.0.0.1:11434"), c.ollama},
		{"lmstudio", cmp.Or(o.LMStudio, "http://127.0.0.1:1234"), c.lmStudio},
		{"llamacpp", cmp.Or(o.LlamaCPP, "http://127.0.0.1:8080"), c.llamaCPP},
	}
	found := make([]Found, len(servers)) // each goroutine has its own slot
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			base := strings.TrimRight(s.base, "/")
			models, err := s.models(ctx, base)
			if err != nil || len(models) == 0 {
				return // a server that is not there is the usual case
			}
			slices.SortStableFunc(models, preferred)
			found[i] = Found{Provider: s.provider, BaseURL: base + "/v1", Models: models}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(found, func(f Found) bool { return f.Provider == "" })
}

// newTransport returns one that reaches this machine alone, and no proxy.
func newTransport() *http.Transport {
	return &http.Transport{DialContext: (&net.Dialer{Control: onlyLoopback}).DialContext}
}

// preferred orders models by what makes them the better choice.
func preferred(a, b Model) int {
	first := func(a, b bool) int {
		if a == b {
			return 0
		}
		if a {
			return -1
		}
		return 1
	}
	return cmp.Or(first(a.Tools, b.Tools), first(a.loaded, b.loaded))
}

// onlyLoopback refuses to connect to another machine, whatever a name resolved
// to.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%s is not on this machine", host)
	}
	return nil
}

// errShape says that an answer is not one of the product.
var errShape = errors.New("answer of another product")

// A client asks servers for JSON.
type client struct{ http.Client }

// ask gets address, or posts body to it, and decodes the answer into out.
func (c *client) ask(ctx context.Context, address, body string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	method, reader := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, reader = http.MethodPost, strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxBytes)).Decode(out)
}
