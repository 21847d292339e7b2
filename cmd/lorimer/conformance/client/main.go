// Client is a small client on the packages of the bridge, which the conformance suites
// of MCP drive: it connects, logs in where it has to, lists the tools and calls each.
//
// The address of the server is the last argument. MCP_CONFORMANCE_CONTEXT may have what
// a scenario tells its client beforehand.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/oauth"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
	"github.com/lorimer-dev/lorimer/tools/server"
)

const (
	limit     = 25 * time.Second // of the whole; a suite gives up after 30 s
	maxLogins = 3                // a server that is never content ends it
)

// document is the client id metadata document that the suites know.
const document = "https://conformance-test.local/client-metadata.json"

// A scenario is what the suite tells of one.
type scenario struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	ToolCalls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: client URL")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := run(ctx, os.Args[len(os.Args)-1], os.Getenv("MCP_CONFORMANCE_CONTEXT")); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// run uses the server until that works, and logs in whenever the server wants it.
func run(ctx context.Context, url, beforehand string) error {
	var sc scenario
	if beforehand != "" {
		if err := json.Unmarshal([]byte(beforehand), &sc); err != nil {
			return fmt.Errorf("reading MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log := zerolog.New(os.Stderr)
	settings := oauth.Settings{ClientID: document}
	if sc.ClientID != "" {
		settings.ClientID, settings.ClientSecret = sc.ClientID, sc.ClientSecret
	}
	o := oauth.Options{URL: url, Settings: settings, Log: log}
	store := oauth.NewStore(dir)
	for range maxLogins {
		err := use(ctx, url, sc, oauth.NewAuthorizer(store, o), log)
		refused, wants := errors.AsType[*transport.StatusError](err)
		wants = wants && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden) || errors.Is(err, oauth.ErrLogin)
		if !wants {
			return err
		}
		challenge := ""
		if refused != nil {
			challenge = refused.Challenge
		}
		log.Info().Err(err).Str("challenge", challenge).Msg("logging in")
		if _, err := oauth.Login(ctx, store, oauth.LoginOptions{Options: o, Challenge: challenge, Open: open(ctx)}); err != nil {
			return fmt.Errorf("logging in: %w", err)
		}
	}
	return use(ctx, url, sc, oauth.NewAuthorizer(store, o), log)
}

// open follows an address as a browser does whose user says yes.
func open(ctx context.Context) func(string) error {
	return func(url string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return res.Body.Close()
	}
}

// use connects, and calls what there is.
func use(ctx context.Context, url string, sc scenario, auth web.Authorizer, log zerolog.Logger) error {
	dial := func() transport.Transport { return web.New(web.Options{URL: url, Auth: auth, Log: log}) }
	peer, err := client.Connect(ctx, dial, client.Options{
		Name: "lorimer-conformance", Version: "1", HTTP: true, Host: host{}, Label: "conformance", Log: log,
	})
	if err != nil {
		return err
	}
	defer peer.Close(context.WithoutCancel(ctx))
	tools, err := peer.Tools(ctx)
	if err != nil {
		return err
	}
	byName := make(map[string]client.Tool)
	for _, t := range tools {
		byName[t.Name] = t
	}
	call := func(name string, arguments json.RawMessage) error {
		r, err := peer.Call(ctx, byName[name], arguments, client.CallOptions{Timeout: 10 * time.Second})
		log.Info().Err(err).Str("tool", name).RawJSON("arguments", arguments).Interface("result", r).Msg("called")
		if _, answered := errors.AsType[*transport.Error](err); answered {
			return nil // a mistake in the arguments, say
		}
		return err
	}
	if len(sc.ToolCalls) > 0 {
		for _, c := range sc.ToolCalls {
			if _, ok := byName[c.Name]; !ok {
				continue
			}
			if err := call(c.Name, c.Arguments); err != nil {
				return err
			}
		}
		return nil
	}
	// Beside each other: one that waits for an answer of its client must not hear that
	// of another.
	errs := make([]error, len(tools)) // each goroutine has its own slot
	var wg sync.WaitGroup
	for i, t := range tools {
		wg.Go(func() { errs[i] = call(t.Name, arguments(t, tools)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// arguments makes up what a tool requires.
func arguments(t client.Tool, all []client.Tool) json.RawMessage {
	var schema struct {
		Properties map[string]struct{ Type any }
		Required   []string
	}
	made := make(map[string]any)
	if json.Unmarshal(t.Input, &schema) != nil {
		return json.RawMessage("{}")
	}
	for _, name := range append(schema.Required, "schema") { // which the suite wants given back
		p, ok := schema.Properties[name]
		switch kind, _ := p.Type.(string); {
		case !ok:
		case name == "schema":
			made[name] = other(t, all)
		case kind == "number" || kind == "integer":
			made[name] = 5
		case kind == "boolean":
			made[name] = true
		case kind == "object":
			made[name] = map[string]any{}
		case kind == "array":
			made[name] = []any{}
		default:
			made[name] = "text"
		}
	}
	data, err := json.Marshal(made)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

// other returns the schema of the first tool that is not t, as it came.
func other(t client.Tool, all []client.Tool) json.RawMessage {
	for _, o := range all {
		if o.Name != t.Name && strings.Contains(string(o.Input), "$schema") {
			return o.Input
		}
	}
	return json.RawMessage("{}")
}

// A host says yes to everything.
type host struct{}

// Roots implements [server.Host].
func (host) Roots() []string { return []string{os.TempDir()} }

// Offers implements [server.Host].
func (host) Offers() server.Offers { return server.Offers{Form: true, Sampling: true} }

// Elicit accepts a form with what it has filled in already.
func (host) Elicit(_ context.Context, _ string, e server.Elicitation) (server.Reply, error) {
	var form struct {
		Properties map[string]struct {
			Type    string
			Default json.RawMessage
		}
		Required []string
	}
	if err := json.Unmarshal(e.Schema, &form); err != nil {
		return server.Reply{Action: "decline"}, nil
	}
	filled := make(map[string]any)
	for name, p := range form.Properties {
		if p.Default != nil {
			filled[name] = p.Default
		}
	}
	for _, name := range form.Required {
		if _, ok := filled[name]; ok {
			continue
		}
		switch form.Properties[name].Type {
		case "boolean":
			filled[name] = true
		case "number", "integer":
			filled[name] = 1
		default:
			filled[name] = "text"
		}
	}
	data, err := json.Marshal(filled)
	return server.Reply{Action: "accept", Content: data}, err
}

// Sample answers with a text.
func (host) Sample(context.Context, string, server.Sampling) (server.Sampled, error) {
	return server.Sampled{Model: "none", Text: "text", Stop: "endTurn"}, nil
}
