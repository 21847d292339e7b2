package modeltest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// responses is the protocol of Responses. Nothing is stored unless a request
// leaves store out or sets it, so that what a model thought has to come back
// encrypted. The items of an answer belong together: one that followed a thought
// is refused without it. Models from gpt-5.3 on name the phase of what they say
// and want it back.
type responses struct{ memory *memory }

func (responses) fault(_ *request, w *wrong) any { return openAIFault(w) }

func (p responses) parse(r *http.Request, body []byte) (*request, error) {
	if err := checkBearer(r.Header); err != nil {
		return nil, err
	}
	m, err := members(body, "model", "input", "instructions", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
		"max_output_tokens", "max_tool_calls", "temperature", "top_p", "top_logprobs", "metadata", "user", "safety_identifier", "service_tier",
		"store", "include", "text", "reasoning", "truncation", "background", "previous_response_id", "conversation", "prompt", "moderation",
		"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "context_management")
	if err != nil {
		return nil, err
	}
	req := newRequest(m.text("model"), m.text("prompt_cache_key"))
	c := responsesChecker{req: req, memory: p.memory, family: familyOf(req.model)}
	c.pairs.ids = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	req.cache = c.family.cache()
	for _, check := range []func(object) error{c.top, c.storage, c.thinks, c.format, c.tools, c.input} {
		if err := check(m); err != nil {
			return req, err
		}
	}
	return req, nil
}

// responsesChecker walks through one request.
type responsesChecker struct {
	req    *request
	memory *memory
	family openAIFamily
	pairs  pairs
	first  string // first message of the user
}

func (c *responsesChecker) top(m object) error {
	switch {
	case c.req.model == "":
		return coded(0, "missing_required_parameter", "model", "the model is missing")
	case string(m["stream"]) != "true":
		return bad("stream", "only streams are served; set stream")
	case c.family.reasons && (m.has("temperature") || m.has("top_p")):
		return coded(0, "unsupported_parameter", "temperature", "neither temperature nor top_p is supported with this model")
	case m.has("instructions") && !isText(m["instructions"]):
		return bad("instructions", "not a string: %.80s", m["instructions"])
	}
	if _, err := m.int("max_output_tokens", 16); err != nil {
		return err
	}
	if _, err := m.word("truncation", "auto", "disabled"); err != nil {
		return err
	}
	if err := checkCacheKey(m); err != nil {
		return err
	}
	return c.family.cacheOptions(m, c.req)
}

// storage checks what stays with the server from one request to the next.
func (c *responsesChecker) storage(m object) error {
	c.req.stored = string(m["store"]) != "false"
	if m.has("store") && string(m["store"]) != "true" && string(m["store"]) != "false" {
		return bad("store", "neither true nor false: %.80s", m["store"])
	}
	for i, raw := range list(m["include"]) {
		switch text(raw) {
		case "reasoning.encrypted_content":
			if c.family.own && !c.family.reasons {
				return bad("include", "encrypted content is not supported with this model")
			}
			c.req.encrypted = true
		case "message.output_text.logprobs", "message.input_image.image_url", "file_search_call.results",
			"web_search_call.action.sources", "code_interpreter_call.outputs", "computer_call_output.output.image_url":
		default:
			return bad(elem("include", i), "%.80s is not supported", raw)
		}
	}
	id := m.text("previous_response_id")
	if id == "" {
		return nil
	}
	if m.has("conversation") {
		return bad("previous_response_id", "it excludes conversation")
	}
	calls, ok := c.memory.answer(id)
	if !ok {
		return coded(0, "previous_response_not_found", "previous_response_id", "no response with id %q is stored", id)
	}
	c.pairs.seen = map[string]bool{}
	for _, id := range calls {
		c.pairs.seen[id] = true
	}
	c.pairs.open = slices.Clone(calls)
	return nil
}

func (c *responsesChecker) thinks(m object) error {
	if !m.has("reasoning") {
		return nil
	}
	r, err := members(m["reasoning"], "effort", "summary", "generate_summary", "context", "mode")
	if err != nil {
		return at("reasoning", err)
	}
	if _, err := c.family.effort(r, "effort"); err != nil {
		return at("reasoning", err)
	}
	if c.family.own && !c.family.reasons {
		return coded(0, "unsupported_parameter", "reasoning", "not supported with this model")
	}
	if _, err := r.word("context", "auto", "current_turn", "all_turns"); err != nil {
		return at("reasoning", err)
	}
	_, err = r.word("summary", "auto", "concise", "detailed")
	return at("reasoning", err)
}

func (c *responsesChecker) format(m object) error {
	if !m.has("text") {
		return nil
	}
	t, err := members(m["text"], "format", "verbosity")
	if err != nil {
		return at("text", err)
	}
	if _, err := t.word("verbosity", "low", "medium", "high"); err != nil {
		return at("text", err)
	}
	if !t.has("format") {
		return nil
	}
	f, err := members(t["format"], "type", "name", "schema", "strict", "description")
	if err != nil {
		return at("text.format", err)
	}
	kind, err := f.word("type", "text", "json_object", "json_schema")
	if err == nil && kind == "json_object" && !strings.Contains(strings.ToLower(string(m["input"])+string(m["instructions"])), "json") {
		return bad("input", "the word json must occur in the messages to use a text.format of type json_object")
	}
	return at("text.format", err)
}

func (c *responsesChecker) tools(m object) error {
	if !m.has("tools") {
		for _, k := range []string{"tool_choice", "parallel_tool_calls"} {
			if m.has(k) {
				return bad(k, "only allowed with tools")
			}
		}
		return nil
	}
	var names []string
	for i, raw := range list(m["tools"]) {
		where := elem("tools", i)
		t, err := members(raw, "type", "name", "description", "parameters", "strict")
		if err != nil {
			return at(where, err)
		}
		if t.text("type") != "function" {
			return bad(where+".type", "%q is not function", t.text("type"))
		}
		if err := c.checkTool(t); err != nil {
			return at(where, err)
		}
		names = append(names, t.text("name"))
		c.req.add("tool", raw, nil, "")
	}
	switch {
	case len(names) == 0:
		return bad("tools", "an empty list")
	case len(names) > 128:
		return bad("tools", "%d tools; the most is 128", len(names))
	}
	if err := checkNames(names); err != nil {
		return err
	}
	return checkChoice(m, names, "")
}

// checkTool checks a declaration. One that does not say strict is taken for strict,
// with all of its parameters required, which no one means.
func (c *responsesChecker) checkTool(t object) error {
	if err := c.family.checkSchema(t["parameters"]); err != nil {
		return at("parameters", err)
	}
	switch string(t["strict"]) {
	case "false":
		return nil
	case "true":
		return at("parameters", eachSchema(t["parameters"], func(s object) error {
			if s.text("type") == "object" && string(s["additionalProperties"]) != "false" {
				return bad("additionalProperties", "must be false where strict is true")
			}
			if len(list(s["required"])) != len(properties(s)) {
				return bad("required", "must name every property where strict is true")
			}
			return nil
		}))
	}
	return coded(0, "missing_required_parameter", "strict", "missing, which makes all parameters required; set it to false")
}

func (c *responsesChecker) input(m object) error {
	if m.has("instructions") {
		c.req.add("system", m["instructions"], nil, "")
	}
	if s := m.text("input"); s != "" {
		c.req.last, c.first = s, s
		c.req.add("message", m["input"], nil, "")
	} else if err := c.items(list(m["input"])); err != nil {
		return err
	}
	if c.req.session == "" {
		c.req.session = c.first
	}
	return at("input", c.pairs.settled())
}

func (c *responsesChecker) items(items []json.RawMessage) error {
	if len(items) == 0 {
		return bad("input", "it is empty")
	}
	var before reasoned
	for i, raw := range items {
		m, err := members(raw)
		if err == nil {
			err = c.item(i, m, &before)
		}
		if err != nil {
			return at(elem("input", i), err)
		}
		content := "content"
		if m.text("type") == "function_call_output" {
			content = "output"
		}
		c.req.add("item", raw, list(m[content]), breakpoint)
		if i == len(items)-1 && m.text("role") == "assistant" {
			return bad(elem("input", i), "the last message is the model's own")
		}
	}
	return before.alone()
}

// reasoned is the reasoning item that waits for what was thought of.
type reasoned struct {
	open bool
	at   int
	id   string // of the latest one, "" if it is that of another answer
}

// alone refuses a thought that nothing follows.
func (r *reasoned) alone() error {
	if r.open {
		return bad(elem("input", r.at), "item %q of type 'reasoning' was provided without its required following item", r.id)
	}
	return nil
}

func (c *responsesChecker) item(i int, m object, before *reasoned) error {
	kind := m.text("type")
	if kind == "" && m.has("role") {
		kind = "message"
	}
	own := kind == "function_call" || kind == "message" && m.text("role") == "assistant"
	if !own {
		if err := before.alone(); err != nil {
			return err
		}
	}
	var err error
	switch kind {
	case "message":
		err = c.message(i, m)
	case "reasoning":
		*before = reasoned{open: true, at: i, id: m.text("id")}
		return c.reasoning(m)
	case "function_call":
		err = c.functionCall(m)
	case "function_call_output":
		err = c.output(m)
	default:
		return coded(0, "invalid_value", "type", "%q is not supported", kind)
	}
	if err != nil || !own {
		*before = reasoned{}
		return err
	}
	if id := m.text("id"); id != "" {
		if needs := c.memory.item(id).reasoning; needs != "" && before.id != needs {
			return bad("", "item %q of type %q was provided without its required 'reasoning' item: %q", id, kind, needs)
		}
	}
	before.open = false
	return nil
}

// checkID checks the id of an item, which shows what it is.
func checkID(m object, prefix string) error {
	id := m.text("id")
	switch {
	case m.has("id") && !strings.HasPrefix(id, prefix+"_"):
		return bad("id", "%s is not an id that begins with %q", m["id"], prefix)
	case len(id) > 64:
		return coded(0, "string_above_max_length", "id", "a string of %d bytes; the most is 64", len(id))
	}
	return nil
}

func (c *responsesChecker) reasoning(m object) error {
	if err := only(m, "type", "id", "summary", "encrypted_content", "content", "status"); err != nil {
		return err
	}
	if err := checkID(m, "rs"); err != nil {
		return err
	}
	switch id, sealed := m.text("id"), m.text("encrypted_content"); {
	case c.family.own && !c.family.reasons:
		return bad("", "reasoning items are not supported with this model")
	case m["summary"] == nil || m["summary"][0] != '[':
		return coded(0, "missing_required_parameter", "summary", "the list is missing")
	case sealed == "" && c.memory.item(id).stored:
	case sealed == "":
		return coded(http.StatusNotFound, "", "id", "item with id %q not found; items are not persisted when store is false", id)
	default:
		if err := unsigned(c.req.model, id, sealed); err != nil {
			return coded(0, "invalid_encrypted_content", "encrypted_content", "the encrypted content for item %s could not be verified: %v", id, err)
		}
	}
	for i, raw := range list(m["summary"]) {
		s, err := members(raw, "type", "text")
		if err == nil && s.text("type") != "summary_text" {
			err = bad("type", "%q is not summary_text", s.text("type"))
		}
		if err != nil {
			return at(elem("summary", i), err)
		}
	}
	return nil
}

func (c *responsesChecker) functionCall(m object) error {
	if err := only(m, "type", "id", "call_id", "name", "arguments", "status"); err != nil {
		return err
	}
	if err := checkID(m, "fc"); err != nil {
		return err
	}
	if !isObject(json.RawMessage(m.text("arguments"))) {
		return bad("arguments", "not an object: %.80q", m.text("arguments"))
	}
	return c.pairs.call(m.text("call_id"), m.text("name"))
}

func (c *responsesChecker) output(m object) error {
	if err := only(m, "type", "id", "call_id", "output", "status"); err != nil {
		return err
	}
	switch {
	case isText(m["output"]):
		c.req.last = m.text("output")
	default:
		said, err := c.content(m, "output", "input_text", "input_image")
		if err != nil {
			return err
		}
		c.req.last = said
	}
	return at("call_id", c.pairs.result(m.text("call_id")))
}
