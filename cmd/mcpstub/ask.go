package main

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
)

// An answer is what the client says to a request of ours.
type answer struct {
	result json.RawMessage
	err    *fault
}

// ask sends a request to the client, in the stream of the request that needs it,
// and waits for the answer.
func (c *session) ask(ctx context.Context, emit func([]byte), method string, params any) (json.RawMessage, error) {
	got := make(chan answer, 1)
	c.mu.Lock()
	c.last++
	id := json.RawMessage(strconv.Quote("stub-" + strconv.Itoa(c.last)))
	c.asked[string(id)] = got
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.asked, string(id))
	}()
	if params == nil {
		params = map[string]any{}
	}
	emit(object("jsonrpc", "2.0", "id", id, "method", method, "params", params))
	select {
	case a := <-got:
		if a.err != nil {
			return nil, a.err
		}
		return a.result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answered hears the answer to a request of ours.
func (c *session) answered(m message) {
	c.mu.Lock()
	got := c.asked[string(m.ID)]
	delete(c.asked, string(m.ID))
	c.mu.Unlock()
	if got != nil {
		got <- answer{m.Result, m.Error}
	}
}

// ask answers the tools that ask the client for something: by a request of ours, or
// in the stateless revision by a result that wants an answer.
func (r *request) ask(ctx context.Context, call toolCall) (any, error) {
	method, params := question(call)
	if r.revision != stateless {
		reply, err := r.c.ask(ctx, r.emit, method, params)
		if err != nil {
			return failed(err), nil
		}
		return text(string(reply)), nil
	}
	if reply, ok := call.Responses["answer"]; ok && (call.State == "second" || !r.c.s.o.modes.has("ask-twice")) {
		return text(string(reply)), nil
	}
	state := "first"
	if call.State != "" {
		state = "second"
	}
	return map[string]any{
		"resultType":    "input_required",
		"inputRequests": map[string]any{"answer": map[string]any{"method": method, "params": params}},
		"requestState":  state,
	}, nil
}

// question returns what the client is asked.
func question(call toolCall) (method string, params map[string]any) {
	a := call.args
	switch call.Name {
	case "sample":
		return "sampling/createMessage", map[string]any{
			"messages":     []any{map[string]any{"role": "user", "content": block("text", "text", a.Prompt)}},
			"systemPrompt": "Be brief.", "maxTokens": 100,
		}
	case "roots":
		return "roots/list", map[string]any{}
	}
	message := cmp.Or(a.Message, "What is your name?")
	if a.URL != "" {
		return "elicitation/create", map[string]any{"mode": "url", "message": message, "url": a.URL, "elicitationId": "visit-1"}
	}
	return "elicitation/create", form(message)
}

// failed returns a result that says what went wrong.
func failed(err error) map[string]any {
	result := text("refused: " + err.Error())
	result["isError"] = true
	return result
}
