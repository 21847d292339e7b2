//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

// tattler is an address in front of a server that fails calls and quotes what it was sent
// with: in an answer of the protocol, and in one of HTTP.
func tattler(t *testing.T, behind *stub) (address string) {
	t.Helper()
	to, err := url.Parse(behind.url)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = ""
	through := httputil.NewSingleHostReverseProxy(to)
	through.FlushInterval = -1
	through.ErrorLog = quiet()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // it has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		_ = json.Unmarshal(body, &m) // a stream has none
		_, password, _ := r.BasicAuth()
		text := fmt.Sprint("I do not like ", r.Header.Get("X-Pass"), " ", r.Header.Get("Authorization"), " ", password, " ", r.URL.Query()["key"], " in ", r.URL.RawQuery)
		switch {
		case m.Method != "tools/call":
			through.ServeHTTP(w, r)
		case m.Params.Name == "echo":
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": m.ID, "error": object{"code": -32000, "message": text}})
		default:
			http.Error(w, text, http.StatusTeapot)
		}
	}))
	t.Cleanup(s.CloseClientConnections)
	return s.URL + to.Path + "/mcp"
}

// with adds headers to a server that the editor sends.
func with(server object, key string, pairs ...string) object {
	list := []any{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, object{"name": pairs[i], "value": pairs[i+1]})
	}
	server[key] = list
	return server
}

// Row 187 (R-MCP-19, R-MCP-22, R-ACP-51): what is secret in the declaration of a server
// reaches that server and nobody else, wherever it stands: in the environment, in an
// argument, in a header, in the query or before the host of an address, in the
// configuration or sent by the editor. It does so of servers that work, of those that quote
// it when they fail, and of those that never come up. The keys of models reach no server.
func TestRow187SecretsOfServers(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	shop := newEditor(t) // where the servers have their files, which tell all
	secrets := map[string]string{}
	secret := func(what string) string {
		secrets[what] = "marker-" + what + "-8f3a6c"
		return secrets[what]
	}
	const modelKey, stray = "sk-marker-of-a-model-41d7", "marker-of-a-shell-77c1"

	two := shop.having("echo", "env")
	bare, keyed, args := shop.stub("bare"), shop.stub("keyed", two...), shop.stub("args", two...)
	// mcpstub knows no such flag, so a shell takes it.
	argued := args.sent()
	argued["command"], argued["args"] = "/bin/sh", append([]string{"-c", `shift 2; exec "$0" "$@"`, argued["command"].(string), "--api-key", secret("argument")}, args.args...)
	configured, site := shop.stub("configured", two...), shop.webStub("http", "site", two...)
	house := shop.webStub("http", "house", "-mode", "http-401", "-token", "another")
	gossip := shop.webStub("http", "gossip", two...)
	gossip.url = tattler(t, gossip)
	queried, named := shop.webStub("http", "queried", two...), shop.webStub("sse", "named", two...)
	queried.url = tattler(t, queried) + "?key=" + secret("query") + "&v=1"
	named.url = strings.Replace(named.url, "//", "//me:"+secret("userinfo")+"@", 1)
	basic := base64.StdEncoding.EncodeToString([]byte("me:" + secrets["userinfo"]))

	e.env = []string{"OPENAI_API_KEY=" + modelKey, "MY_STRAY_TOKEN=" + stray, "HOUSE_PASS=" + secret("variable")}
	e.file(configFile, configured.table(fmt.Sprintf("env = { TOKEN = %q }", secret("configured")))+
		site.table(`headers = { X-Pass = "${HOUSE_PASS}" }`)+
		house.table(fmt.Sprintf("headers = { Authorization = \"Bearer %s\" }", secret("rejected"))))
	dead := object{"name": "dead", "command": "/bin/sh", "args": []string{"-c", `echo "fatal: the token $TOKEN is bad" >&2; exit 1`}, "env": []any{}}
	flat := object{"type": "http", "name": "flat", "url": indiscreet(t, func(*http.Request) {}) + "/mcp?token=" + secret("flat-query"), "headers": []any{}}
	editors := []any{
		bare.sent(), with(keyed.sent(), "env", "SHOP_TOKEN", secret("environment")), argued,
		with(gossip.sent(), "headers", "Authorization", "Bearer "+secret("bearer"), "X-Pass", secret("header")), queried.sent(), named.sent(),
		with(dead, "env", "TOKEN", secret("dead")), with(flat, "headers", "X-Pass", secret("flat-header")),
	}
	calls := []string{
		step("bare_env", object{}), step("keyed_echo", object{"text": "a"}), step("args_echo", object{"text": "b"}),
		step("gossip_echo", object{"text": "c"}), step("gossip_env", object{}), step("queried_echo", object{"text": "d"}),
		step("queried_env", object{}), step("named_echo", object{"text": "e"}), step("configured_echo", object{"text": "f"}), step("site_echo", object{"text": "g"}),
	}
	e.acp("--mode", "auto", "--log-level", "trace", "--model", "script:"+e.file("script.jsonl", steps(calls...)+"\n"+`{"text": "done", "repeat": true}`))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "mcpServers": editors}, &s)
	e.prompt(s.SessionID, "use all")
	e.prompt(s.SessionID, "/mcp")
	all := map[string]serverStatus{}
	for _, st := range e.statuses(s.SessionID) {
		all[st.Name] = st
	}
	for name, want := range map[string]string{
		"bare": "connected", "keyed": "connected", "args": "connected", "gossip": "connected", "queried": "connected",
		"named": "connected", "configured": "connected", "site": "connected", "house": "failed", "dead": "connecting",
	} {
		if got := all[name]; got.State != want {
			t.Errorf("%s is %+v, want %s", name, got, want)
		}
	}
	holds(t, "the status of house", all["house"].LastError, "credential rejected")
	holds(t, "the status of dead", all["dead"].LastError+all["dead"].Stderr, "fatal: the token [secret] is bad")
	if texts := e.resultTexts(s.SessionID); len(texts) != len(calls) {
		t.Errorf("%d results, want %d: %q", len(texts), len(calls), texts)
	} else {
		for _, i := range []int{3, 4, 5, 6} {
			holds(t, "a result", texts[i], "error: The MCP server ", "I do not like ")
		}
		for _, i := range []int{1, 2, 7, 8, 9} {
			if len(texts[i]) != 1 {
				t.Errorf("result %d is %q", i, texts[i])
			}
		}
		lacks(t, "the environment of a program", texts[0], modelKey, stray, secrets["variable"], secrets["environment"])
		holds(t, "the environment of a program", texts[0], "HOME="+e.home, "PATH=")
	}

	// Each has what is its own.
	for _, program := range []struct {
		of   *stub
		want string
	}{{bare, ""}, {keyed, "SHOP_TOKEN=" + secrets["environment"]}, {args, ""}, {configured, "TOKEN=" + secrets["configured"]}} {
		start := program.of.events("start")[0]
		if program.want != "" && !slices.Contains(start.Env, program.want) {
			t.Errorf("%s has not got %s", program.of.name, program.want)
		}
		for _, kv := range start.Env {
			if kv != program.want && (strings.Contains(kv, "marker") || strings.HasPrefix(kv, "OPENAI")) {
				t.Errorf("%s got %s", program.of.name, kv)
			}
		}
	}
	for _, address := range []struct {
		of   *stub
		want []string
	}{
		{site, []string{secrets["variable"]}}, {house, []string{"Bearer " + secrets["rejected"]}},
		{gossip, []string{"Bearer " + secrets["bearer"], secrets["header"]}}, {named, []string{"Basic " + basic}}, {queried, nil},
	} {
		journal, err := os.ReadFile(address.of.journal)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, "what "+address.of.name+" got", string(journal), address.want...)
		for what, value := range secrets {
			if strings.Contains(string(journal), value) && !slices.ContainsFunc(address.want, func(w string) bool { return strings.HasSuffix(w, value) }) {
				t.Errorf("%s got the secret of %s", address.of.name, what)
			}
		}
		lacks(t, "what "+address.of.name+" got", string(journal), modelKey, stray)
	}

	// And nobody else.
	hidden := []string{modelKey, stray, basic}
	for _, value := range secrets {
		hidden = append(hidden, value)
	}
	e.nowhere(hidden...)
	e.hides(hidden, "config show", "config show --json", "mcp list", "mcp list --json", "mcp probe configured", "mcp probe site --json",
		"mcp probe house --log-level trace", "doctor", "prompt signature", "session list", "session export "+s.SessionID)
	e.nowhere(hidden...)
}
