package wirecheck

import (
	"encoding/json"
	"strings"
)

// capabilities are those of a client that allow an agent something.
type capabilities struct {
	FS struct {
		Read  bool `json:"readTextFile"`
		Write bool `json:"writeTextFile"`
	} `json:"fs"`
	Terminal bool `json:"terminal"`
	Auth     struct {
		Terminal bool `json:"terminal"`
	} `json:"auth"`
	Elicitation struct {
		Form json.RawMessage `json:"form"`
		URL  json.RawMessage `json:"url"`
	} `json:"elicitation"`
	Session struct {
		Notices       json.RawMessage `json:"notices"`
		ConfigOptions struct {
			Boolean json.RawMessage `json:"boolean"`
		} `json:"configOptions"`
	} `json:"session"`
	Meta struct {
		TerminalOutput bool `json:"terminal_output"`
	} `json:"_meta"`
}

// offered reports whether a capability that is an object or a bool is there.
func offered(raw json.RawMessage) bool {
	s := string(raw)
	return s != "" && s != "null" && s != "false"
}

// read decodes what the rules look at. What does not fit is left out: the
// schemas tell.
func read[T any](raw json.RawMessage) (v T) {
	_ = json.Unmarshal(raw, &v)
	return v
}

// target is the session that parameters name.
type target struct {
	SessionID string `json:"sessionId"`
}

// toAgent notes what the client asks and answers.
func (c *checker) toAgent(m message) {
	switch {
	case m.Method == nil:
		c.clientAnswers(m)
	case m.isCall():
		c.clientAsks(m)
	case m.name() == "session/cancel":
		id := read[target](m.Params).SessionID
		for _, r := range c.fromClient {
			r.cancelled = r.cancelled || r.method == "session/prompt" && r.session == id
		}
		if s := c.sessions[id]; s != nil && s.prompts > 0 {
			s.cancelled = true
		}
	case m.name() == "$/cancel_request":
		id := read[struct {
			RequestID json.RawMessage `json:"requestId"`
		}](m.Params).RequestID
		if r := c.fromClient[string(id)]; r != nil {
			r.cancelled = true
			if s := c.sessions[r.session]; s != nil && s.prompts == 1 && r.method == "session/prompt" {
				s.cancelled = true
			}
		}
	}
}

func (c *checker) clientAsks(m message) {
	r := &request{at: c.at, method: m.name(), params: m.Params, session: read[target](m.Params).SessionID}
	c.fromClient[string(m.ID)] = r
	switch r.method {
	case "initialize":
		c.client = read[struct {
			Capabilities capabilities `json:"clientCapabilities"`
		}](m.Params).Capabilities
	case "session/load":
		c.session(r.session).loading = true
	case "session/prompt":
		c.session(r.session).prompts++
	case "session/close", "session/delete", "session/archive":
		for _, other := range c.fromClient {
			other.ended = other.ended || other.method == "session/prompt" && other.session == r.session
		}
	}
}

func (c *checker) clientAnswers(m message) {
	r := c.fromAgent[string(m.ID)]
	delete(c.fromAgent, string(m.ID))
	if r == nil || r.method != "terminal/create" {
		return
	}
	id := read[struct {
		ID string `json:"terminalId"`
	}](m.Result).ID
	if id != "" {
		c.terminals[id] = &terminal{at: r.at}
	}
}

// toClient judges a message of the agent.
func (c *checker) toClient(m message) {
	if m.Method == nil {
		c.agentAnswers(m)
		return
	}
	if !c.initialized {
		c.report(m.name(), "sent before the answer to initialize")
	}
	p := partNotice
	if m.isCall() {
		p = partRequest
		c.agentAsks(m)
	} else if m.name() == "session/update" {
		c.update(m.Params)
	}
	c.schema(m.name(), p, sideClient, m.name(), m.Params)
}

func (c *checker) schema(label string, p part, side, method string, body json.RawMessage) {
	if c.schemas == nil {
		return
	}
	for _, fault := range c.schemas.check(p, side, method, body) {
		c.report(label, "%s", fault)
	}
}

func (c *checker) agentAnswers(m message) {
	r := c.fromClient[string(m.ID)]
	if r == nil {
		if string(m.ID) != "null" { // null answers what could not be read
			c.report("", "no request waits for the answer to %s", m.ID)
		}
		return
	}
	delete(c.fromClient, string(m.ID))
	defer c.settle(r)
	if m.Error != nil {
		c.errorAnswer(r, m.Error)
		return
	}
	c.schema(r.method, partResponse, sideAgent, r.method, m.Result)
	switch r.method {
	case "initialize":
		c.initializeAnswer(m.Result)
	case "session/new", "session/fork":
		c.opened(r.method, read[target](m.Result).SessionID, m.Result, true)
	case "session/load", "session/resume":
		c.opened(r.method, r.session, m.Result, false)
	case "session/set_config_option":
		c.options(r.method, c.session(r.session), read[optionList](m.Result).Options)
	case "session/prompt":
		c.promptAnswer(r, m.Result)
	case "session/close", "session/delete", "session/archive":
		c.session(r.session).known = false
		for _, other := range c.fromClient {
			if other.method == "session/prompt" && other.session == r.session && other.at < r.at {
				c.report(r.method, "answered before the prompt of line %d", other.at)
			}
		}
	}
}

// settle ends what a request had begun, once its answer has been judged.
func (c *checker) settle(r *request) {
	switch r.method {
	case "session/load":
		c.session(r.session).loading = false
	case "session/prompt":
		s := c.session(r.session)
		if s.prompts--; s.prompts == 0 {
			c.turnEnds(s)
		}
	}
}

func (c *checker) errorAnswer(r *request, raw json.RawMessage) {
	var e struct {
		Code    *int    `json:"code"`
		Message *string `json:"message"`
	}
	if err := json.Unmarshal(raw, &e); err != nil || e.Code == nil || e.Message == nil {
		c.report(r.method, "an error needs an integer code and a message")
	}
	if r.method == "session/prompt" && r.cancelled {
		c.report(r.method, "a cancelled prompt ends with the stop reason cancelled, not with an error")
	}
}

func (c *checker) initializeAnswer(raw json.RawMessage) {
	c.initialized = true
	a := read[struct {
		Version int             `json:"protocolVersion"`
		Info    json.RawMessage `json:"agentInfo"`
		Auth    []struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		} `json:"authMethods"`
	}](raw)
	if a.Version != 1 {
		c.report("initialize", "version %d was agreed on; this check knows version 1", a.Version)
	}
	if !offered(a.Info) {
		c.report("initialize", "agentInfo is missing")
	}
	for _, m := range a.Auth {
		if m.Type == "terminal" && !c.client.Auth.Terminal {
			c.report("initialize", "method %s needs a terminal, which the client has not offered", m.ID)
		}
	}
}

func (c *checker) promptAnswer(r *request, raw json.RawMessage) {
	stop := read[struct {
		Reason string `json:"stopReason"`
	}](raw).Reason
	switch {
	case r.cancelled && stop != "cancelled":
		c.report(r.method, "the prompt was cancelled, but its stop reason is %s", stop)
	case stop == "":
		c.report(r.method, "the answer has no stop reason")
	case !r.cancelled && !r.ended && stop == "cancelled":
		c.report(r.method, "the stop reason is cancelled, but nobody cancelled")
	}
}

// agentAsks judges a request of the agent by the state of the connection.
func (c *checker) agentAsks(m message) {
	method := m.name()
	if c.fromAgent[string(m.ID)] != nil {
		c.report(method, "id %s is in use by a request without an answer", m.ID)
	}
	p := read[struct {
		target
		Path     string  `json:"path"`
		Cwd      *string `json:"cwd"`
		Line     *int    `json:"line"`
		Mode     string  `json:"mode"`
		Terminal string  `json:"terminalId"`
	}](m.Params)
	c.fromAgent[string(m.ID)] = &request{at: c.at, method: method, params: m.Params, session: p.SessionID}
	if s := c.sessions[p.SessionID]; p.SessionID != "" && (s == nil || !s.known && !s.loading) {
		c.report(method, "session %q is not known to the client", p.SessionID)
	}
	c.mayAsk(method, p.Mode)
	switch {
	case strings.HasPrefix(method, "fs/"):
		c.absolute(method, p.Path)
		if p.Line != nil && *p.Line == 0 {
			c.report(method, "lines count from 1")
		}
	case method == "terminal/create":
		if p.Cwd != nil {
			c.absolute(method, *p.Cwd)
		}
	case strings.HasPrefix(method, "terminal/"):
		c.terminalUse(method, p.Terminal)
	case method == "session/request_permission":
		c.permission(m.Params)
	}
}

// mayAsk judges whether the client has offered a method.
func (c *checker) mayAsk(method, mode string) {
	ok := true
	switch {
	case method == "fs/read_text_file":
		ok = c.client.FS.Read
	case method == "fs/write_text_file":
		ok = c.client.FS.Write
	case strings.HasPrefix(method, "terminal/"):
		ok = c.client.Terminal
	case method == "elicitation/create" && mode == "form":
		ok = offered(c.client.Elicitation.Form)
	case method == "elicitation/create" && mode == "url":
		ok = offered(c.client.Elicitation.URL)
	}
	if !ok {
		c.report(method, "the client has not offered it")
	}
}

func (c *checker) terminalUse(method, id string) {
	t := c.terminals[id]
	switch {
	case t == nil:
		c.report(method, "terminal %q was never created", id)
	case t.released:
		c.report(method, "terminal %q has been released", id)
	case method == "terminal/release":
		t.released = true
	}
}

func (c *checker) absolute(method, path string) {
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\')
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, `\\`) && !drive {
		c.report(method, "path %q is not absolute", path)
	}
}
