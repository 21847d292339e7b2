package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// maxLog bounds what is logged of a text of a server, in bytes.
const maxLog = 1 << 10

// A handler hears what the server of a peer sends of its own accord.
type handler struct{ p *peer }

func (h handler) Notify(method string, params json.RawMessage) { h.p.notify(method, params) }

func (h handler) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return h.p.answer(ctx, method, params)
}

// notify hears a notification.
func (p *peer) notify(method string, params json.RawMessage) {
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		p.changed(Tools)
	case mcp.MethodNotificationPromptsListChanged:
		p.changed(Prompts)
	case mcp.MethodNotificationResourcesListChanged:
		p.changed(Resources)
	case mcp.MethodNotificationSubscriptionsAcknowledged:
		p.acknowledged()
	case string(mcp.MethodNotificationProgress):
		p.progressed(params)
	case string(mcp.MethodNotificationElicitationComplete):
		p.left(params)
	case string(mcp.MethodNotificationMessage):
		o, _ := fields(params)
		p.o.Log.Debug().Str("severity", line(o["level"], maxName)).Str("logger", p.shown(line(o["logger"], maxName))).
			Str("data", p.shown(literal(o["data"]))).Msg("mcp server logs")
	}
}

// shown returns what is logged of a text of the server.
func (p *peer) shown(text string) string {
	if p.o.Hide != nil {
		text = p.o.Hide(text)
	}
	return cut(text, maxLog)
}

// fault returns what is logged of an error, which may be in words of the server.
func (p *peer) fault(err error) string {
	if err == nil {
		return ""
	}
	return p.shown(err.Error())
}

func (p *peer) changed(kind Kind) {
	if p.o.Changed != nil {
		p.o.Changed(kind)
	}
}

// answer answers a request of the server, as the errors of package transport.
func (p *peer) answer(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	o, _ := fields(params)
	var reply any
	var err error
	switch {
	case method == string(mcp.MethodPing):
		reply = struct{}{}
	case method == string(mcp.MethodListRoots) && p.o.Host != nil:
		reply = map[string]any{"roots": roots(p.o.Host.Roots())}
	case method == string(mcp.MethodElicitationCreate) && (p.offers.Form || p.offers.URL):
		reply, err = p.elicit(ctx, o)
	case method == string(mcp.MethodSamplingCreateMessage) && p.offers.Sampling:
		reply, err = p.sample(ctx, o)
	default:
		err = &transport.Error{Code: transport.CodeMethodNotFound, Message: "Method not found"}
	}
	if err != nil {
		return nil, err
	}
	return related(reply, o)
}

// related encodes a reply, with the task that the question was of.
func related(reply any, question object) (json.RawMessage, error) {
	raw, err := json.Marshal(reply)
	meta, _ := fields(question["_meta"])
	if err != nil || none(meta[mcp.RelatedTaskMetaKey]) {
		return raw, err
	}
	o, _ := fields(raw)
	o["_meta"], err = json.Marshal(map[string]any{mcp.RelatedTaskMetaKey: meta[mcp.RelatedTaskMetaKey]})
	if err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// roots returns directories as the protocol has them.
func roots(dirs []string) []map[string]string {
	list := []map[string]string{}
	for _, dir := range dirs {
		path := filepath.ToSlash(dir)
		if filepath.VolumeName(dir) != "" {
			path = "/" + path
		}
		list = append(list, map[string]string{
			"uri": (&url.URL{Scheme: "file", Path: path}).String(), "name": filepath.Base(dir),
		})
	}
	return list
}

// elicit asks the user. The server hears that the user declined also where a rule of
// the user did, and that the question was cancelled where nobody answered it.
func (p *peer) elicit(ctx context.Context, o object) (any, error) {
	e := server.Elicitation{}
	e.Message, _ = text(o["message"])
	switch mode := literal(o["mode"]); {
	case mode == mcp.ElicitationModeURL && p.offers.URL:
		var ok bool
		if e, ok = address(o); !ok {
			return nil, invalid("url is none of http or https")
		}
	case (mode == "" || mode == mcp.ElicitationModeForm) && p.offers.Form:
		e.Schema = kept(o["requestedSchema"])
		if _, ok := fields(e.Schema); !ok {
			return nil, invalid("requestedSchema is no object")
		}
	default:
		return nil, invalid("this client has no elicitation of mode " + cut(mode, maxName))
	}
	answered := p.ask()
	reply, err := p.o.Host.Elicit(ctx, p.o.Label, e)
	answered()
	switch {
	case errors.Is(err, server.ErrRefused):
		return map[string]any{"action": "decline"}, nil
	case err != nil && ctx.Err() != nil:
		return map[string]any{"action": "cancel"}, nil
	case err != nil:
		return nil, err
	case reply.Action != "accept" || e.Schema == nil:
		return map[string]any{"action": reply.Action}, nil
	}
	content, err := filled(reply.Content, e.Schema)
	return map[string]any{"action": "accept", "content": content}, err
}

// filled returns the content of a form with the defaults of the fields that were left
// out.
func filled(content, schema json.RawMessage) (object, error) {
	all := object{}
	if !none(content) {
		given, ok := fields(content)
		if !ok {
			return nil, fmt.Errorf("the answer to a form is no object, but has %d bytes of something else", len(content))
		}
		maps.Copy(all, given)
	}
	s, _ := fields(schema)
	properties, _ := fields(s["properties"])
	for name, property := range properties {
		o, _ := fields(property)
		if value := o["default"]; !none(value) && all[name] == nil {
			all[name] = value
		}
	}
	return all, nil
}

// sample has the model of the session answer.
func (p *peer) sample(ctx context.Context, o object) (any, error) {
	if tools, _ := elements(o["tools"]); len(tools) > 0 {
		return nil, invalid("this client has no sampling with tools")
	}
	s := server.Sampling{Limit: int(min(max(number(o["maxTokens"]), 0), 1<<30)), Messages: decodeMessages(o["messages"])}
	s.System, _ = text(o["systemPrompt"])
	if len(s.Messages) == 0 {
		return nil, invalid("messages are missing")
	}
	answered := p.ask()
	sampled, err := p.o.Host.Sample(ctx, p.o.Label, s)
	answered()
	if errors.Is(err, server.ErrRefused) {
		return nil, &transport.Error{Code: -1, Message: "User rejected sampling request"}
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"role": "assistant", "model": sampled.Model, "stopReason": sampled.Stop,
		"content": map[string]string{"type": "text", "text": sampled.Text},
	}, nil
}

func invalid(message string) error {
	return &transport.Error{Code: transport.CodeInvalidParams, Message: message}
}
