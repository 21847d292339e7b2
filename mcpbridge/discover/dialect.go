package discover

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge"
)

// entry reads the fields of r, under all the names that programs have for them.
func (p *parser) entry(r raw, f *fields) Entry {
	e := Entry{File: p.file, Line: r.line}
	e.Name, e.Source = r.name, p.file
	if r.line > 0 {
		e.Source = fmt.Sprintf("%s:%d", p.file, r.line)
	}
	if r.fields == nil {
		e.Trouble = "must be an object with a command or a url"
		return e
	}
	launch(&e, f)
	p.remote(&e, f)
	reach(&e, f)
	unreplaced(&e, f)
	limits(&e, f)
	ignored(f)
	f.rest("")
	e.Trouble = f.trouble
	return e
}

// launch reads how a program is started.
func launch(e *Entry, f *fields) {
	name, v := f.take("command", "cmd")
	switch v := v.(type) {
	case nil:
	case string:
		e.Command = v
	case []any: // of opencode
		if line := f.strings(name, v); len(line) > 0 {
			e.Command, e.Args = line[0], line[1:]
		}
	case map[string]any: // of older Zed
		in := &fields{values: v}
		e.Command = in.text("path")
		e.Args, _ = in.list("args")
		e.Env = in.table(nil, "env")
		f.join(name, in)
	default:
		f.fail("%s must be a string, or an array of strings", name)
	}
	args, _ := f.list("args")
	e.Args = append(e.Args, args...)
	e.Env = f.table(e.Env, "env", "environment", "envs")
	if names, _ := f.list("env_vars"); names != nil { // of Codex: those of the process
		for _, n := range names {
			e.Env = put(e.Env, n, "${"+n+":-}")
		}
	}
	e.Dir = f.text("cwd", "workingDirectory")
	e.EnvFile = f.text("envFile", "env_file")
	if strings.ContainsAny(e.Command, " \t") && len(e.Args) == 0 {
		f.warn(Wrong, "command has a space in it and is not split; put what follows it into args")
	}
}

// remote reads the address of a server, and what opens it.
func (p *parser) remote(e *Entry, f *fields) {
	url := f.text("url", "serverUrl", "uri")
	e.URL, e.Kind = url, mcpbridge.HTTP
	if h := f.text("httpUrl"); h != "" {
		e.URL = h
	} else if p.gemini {
		e.Kind = mcpbridge.SSE
	}
	e.Headers = f.table(nil, "headers", "http_headers")
	for header, variable := range f.table(nil, "env_http_headers") {
		e.Headers = put(e.Headers, header, "${"+variable+"}")
	}
	if variable := f.text("bearer_token_env_var"); variable != "" {
		e.Headers = put(e.Headers, "Authorization", "Bearer ${"+variable+"}")
	}
	if _, v := f.take("headersHelper"); v != nil {
		f.warn(Wrong, "headersHelper is not run; write ${NAME} in a header and set that variable")
	}
	o := f.sub("oauth")
	if o == nil {
		return
	}
	e.OAuth = mcpbridge.OAuth{
		ClientID: o.text("clientId", "client_id"), ClientSecret: o.text("clientSecret", "client_secret"),
		Metadata: o.text("authServerMetadataUrl", "auth_server_metadata_url", "metadata_url"),
	}
	if on, given := o.flag("enabled"); given && !on {
		e.OAuth = mcpbridge.OAuth{}
	}
	e.OAuth.CallbackPort = o.port("callbackPort", "callback_port")
	if _, v := o.take("scopes", "scope"); v != nil {
		if s, ok := v.(string); ok {
			e.OAuth.Scopes = strings.Fields(s)
		} else {
			e.OAuth.Scopes = o.strings("scopes", v)
		}
	}
	f.join("oauth", o)
}

// reach settles the kind of the server.
func reach(e *Entry, f *fields) {
	if f.text("source") == "extension" && e.Command == "" && e.URL == "" {
		f.fail("it comes with an extension of Zed, which alone can start it; give its command")
	}
	kind := f.text("type", "transport")
	known := true
	switch strings.ToLower(kind) {
	case "":
	case "stdio", "local":
		e.Kind = mcpbridge.Stdio
	case "http", "streamable-http", "streamablehttp", "streamable_http", "remote":
		e.Kind = mcpbridge.HTTP
	case "sse":
		e.Kind = mcpbridge.SSE
	default:
		known = false
	}
	program, address := e.Command != "", e.URL != ""
	if kind == "" && program {
		e.Kind = mcpbridge.Stdio
	}
	switch {
	case !known:
		f.fail("type %.50q is not one of stdio, http, sse", kind)
	case !program && !address:
		f.fail("give either command or url")
	case kind == "" && program && address:
		f.fail("give either command or url, or a type that says which of them counts")
	case e.Kind == mcpbridge.Stdio && !program:
		f.fail("type %s needs a command", kind)
	case e.Kind != mcpbridge.Stdio && !address:
		f.fail("type %s needs a url", kind)
	}
	if e.Kind == mcpbridge.Stdio {
		e.URL, e.Headers, e.OAuth = "", nil, mcpbridge.OAuth{}
	} else {
		e.Command, e.Args, e.Env, e.Dir, e.EnvFile = "", nil, nil, "", ""
	}
	// opencode means by timeout how long it waits for the list of tools.
	if k := strings.ToLower(kind); k == "local" || k == "remote" {
		e.Connect = f.span(time.Millisecond, "timeout")
	}
}

// unreplaced warns of values that are variables for other programs alone: a $ may well
// stand in a password.
func unreplaced(e *Entry, f *fields) {
	look := func(field, value string) {
		if name, ok := strings.CutPrefix(value, "$"); ok && isName(name) {
			f.warn(Wrong, "%s: $%s is not replaced; write ${%s}", field, name, name)
		}
	}
	for _, a := range e.Args {
		if !shell(e.Command) {
			look("args", a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		look("env."+name, e.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		look("headers."+name, strings.TrimPrefix(e.Headers[name], "Bearer "))
	}
}

// limits reads what of a server is used, and for how long.
func limits(e *Entry, f *fields) {
	if on, given := f.flag("enabled"); given && !on {
		e.Off = "switched off in " + e.Source
	}
	if off, _ := f.flag("disabled"); off {
		e.Off = "switched off in " + e.Source
	}
	e.Timeout = f.span(time.Second, "tool_timeout_sec")
	if d := f.span(0, "timeout", "tool_timeout"); d != 0 {
		e.Timeout = d
	}
	if d := f.span(time.Second, "startup_timeout_sec"); d != 0 {
		e.Connect = d
	}
	if d := f.span(time.Millisecond, "startup_timeout_ms"); d != 0 {
		e.Connect = d
	}
	if d := f.span(0, "connect_timeout", "connectTimeout"); d != 0 {
		e.Connect = d
	}
	if _, ok := f.values["tools"].(map[string]any); ok { // of Codex: how each is allowed
		f.take("tools")
		f.warn(Ignored, "tools has no effect; permissions are asked for by the mode of the session")
	}
	only, given := f.list("includeTools", "enabled_tools", "enabledTools", "available_tools", "tools", "include")
	e.Exclude, _ = f.list("excludeTools", "disabled_tools", "disabledTools", "exclude")
	if given && len(only) == 0 {
		e.Exclude = []string{"*"}
	}
	if len(only) > 0 && !(len(only) == 1 && only[0] == "*") {
		e.Include = only
	}
	if on, given := f.flag("instructions"); given {
		e.Silent = !on
	}
}

// ignored takes the fields that other programs know and that settle nothing here. It
// warns of those by which somebody may have meant to allow or to forbid something.
func ignored(f *fields) {
	for _, name := range []string{"autoApprove", "alwaysAllow", "trust"} {
		if _, v := f.take(name); v != nil && v != false {
			f.warn(Ignored, "%s has no effect; permissions are asked for by the mode of the session", name)
		}
	}
	for _, name := range []string{"sandbox", "required"} {
		if _, v := f.take(name); v != nil && v != false {
			f.warn(Ignored, "%s has no effect", name)
		}
	}
	f.take("description")
	f.take("alwaysLoad")
	f.take("lazy")
	f.take("dev")
	f.take("metadata")
	f.take("_meta")
	f.take("settings")
	f.take("gallery")
	f.take("version")
	f.take("$schema")
}
