// Package probe asks model servers what they offer.
//
// [Local] looks for servers on this machine (R-CMD-13). A port counts only when it
// answers its own product's status route in that product's own shape, within
// 150 ms. Nothing but loopback is ever asked, and no proxy stands in between.
//
// [Ask] and [List] ask a server that is configured about its models. Every product
// says other things in another shape; what it does not say is unknown. An answer is
// bounded, no redirect is followed, and nothing of it reaches an error, since
// servers quote the keys that they refuse.
package probe

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// limit is the time for a status route, and again for the details.
const limit = 150 * time.Millisecond

// Options are where to look. The zero value is the usual ports.
type Options struct {
	Ollama   string // default http://127.0.0.1:11434
	LMStudio string // default http://127.0.0.1:1234
	LlamaCPP string // default http://127.0.0.1:8080
}

// Found is a server that answered and has a model.
type Found struct {
	Provider string  // ollama, lmstudio or llamacpp
	BaseURL  string  // of its own interface with Ollama, else of that of OpenAI
	Models   []Model // the one to choose comes first
}

// Local asks the servers at once and returns those that answered, in the order
// Ollama, LM Studio, llama.cpp. Of the models of a server one that calls tools
// comes first, then one that is loaded, then the server's own order.
func Local(ctx context.Context, o Options) []Found {
	direct := newTransport()
	defer direct.CloseIdleConnections()
	a := Server{Client: &http.Client{Transport: direct}}.asker()
	a.limit = limit
	servers := []struct {
		provider, base, version string
		models                  func(context.Context, string) ([]Model, error)
	}{
		{"ollama", cmp.Or(o.Ollama, "http://127.0.0.1:11434"), "", a.ollama},
		{"lmstudio", cmp.Or(o.LMStudio, "http://127.0.0.1:1234"), "/v1", a.lmStudio},
		{"llamacpp", cmp.Or(o.LlamaCPP, "http://127.0.0.1:8080"), "/v1", a.llamaCPP},
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
			found[i] = Found{Provider: s.provider, BaseURL: base + s.version, Models: models}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(found, func(f Found) bool { return f.Provider == "" })
}

// newTransport returns one that reaches this machine alone, and no proxy.
func newTransport() *http.Transport {
	return &http.Transport{DialContext: (&net.Dialer{Control: onlyLoopback}).DialContext}
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
