package serve_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/tools"
)

// Every revision with a handshake is spoken as asked; others get the newest of them.
func TestHandshake(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "2030-01-01": "2025-11-25", "": "2025-11-25",
	} {
		p := start(t, &desk{}, serve.Options{Name: "test", Title: "Test", Version: "1", Instructions: "Be kind.", Prompts: books{}, Resources: books{}})
		got := p.ask(request("1", "initialize", fmt.Sprintf(`{"protocolVersion":%q}`, asked)))
		all := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"` + want + `","capabilities":{"tools":{},"prompts":{},"resources":{},"logging":{},"completions":{}},` +
			`"serverInfo":{"name":"test","title":"Test","version":"1"},"instructions":"Be kind."}}`
		if got != all {
			t.Errorf("initialize of %q answers\n%s, want\n%s", asked, got, all)
		}
		if rest, err := p.finish(); len(rest) > 0 || err != nil {
			t.Errorf("at the end: %q, %v", rest, err)
		}
	}
}

// Each request of the newest revision stands for itself.
func TestStateless(t *testing.T) {
	const about = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}}`
	tests := []struct{ name, ask, want string }{
		{"discover", modern("1", "server/discover", ""), `{"resultType":"complete",` + about + `,"ttlMs":3600000,"cacheScope":"private",` +
			`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{},"prompts":{},"resources":{},"logging":{},"completions":{}}}`},
		{"call", modern("1", "tools/call", `"name":"echo","arguments":{"text":"a"}`), `{"resultType":"complete",` + about + `,"content":[{"type":"text","text":"{\"text\":\"a\"}"}]}`},
		{"prompts", modern("1", "prompts/list", ""), `{"resultType":"complete",` + about + `,"ttlMs":10000,"cacheScope":"private",` +
			`"prompts":[{"name":"greet","title":"Greet","description":"Greets","arguments":[{"name":"name","required":true}]}]}`},
		{"completion", modern("1", "completion/complete", `"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"a"}`),
			`{"resultType":"complete",` + about + `,"completion":{"values":[],"total":0,"hasMore":false}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, &desk{}, serve.Options{Prompts: books{}, Resources: books{}})
			if got, want := p.ask(tt.ask), `{"jsonrpc":"2.0","id":1,"result":`+tt.want+`}`; got != want {
				t.Errorf("answer\n%s, want\n%s", got, want)
			}
			p.finish()
		})
	}
}

// What cannot be served is told by the code that the protocol has for it.
func TestFaults(t *testing.T) {
	const (
		noCapabilities = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
		future         = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}`
	)
	tests := []struct {
		name, ask string
		hello     bool
		want      []string // in the answer
	}{
		{"tools before the handshake", request("1", "tools/list", "{}"), false, []string{`"id":1`, "-32602", "send initialize first"}},
		{"discover that does not say who asks", request("1", "server/discover", "{}"), false, []string{"-32602", "protocolVersion"}},
		{"ping before the handshake", request("1", "ping", "{}"), false, []string{`"result":{}`}},
		{"unknown method", request("1", "tools/fetch", "{}"), true, []string{"-32601", "tools/fetch"}},
		{"a method of the new revision", request("1", "subscriptions/listen", "{}"), true, []string{"-32601"}},
		{"initialize of the new revision", modern("1", "initialize", ""), false, []string{"-32601"}},
		{"ping of the new revision", modern("1", "ping", ""), false, []string{"-32601"}},
		{"level of the new revision", modern("1", "logging/setLevel", `"level":"info"`), false, []string{"-32601"}},
		{"no capabilities", request("1", "tools/list", "{"+noCapabilities+"}"), false, []string{"-32602", "clientCapabilities"}},
		{"a later revision", request("1", "tools/list", "{"+future+"}"), false, []string{"-32022", `"supported":["2026-07-28","2025-11-25"`, `"requested":"2027-01-01"`}},
		{"revision that is a number", request("1", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}`), false, []string{"-32602", "must be a string"}},
		{"unknown tool", call("1", "nothing", "{}"), true, []string{"-32602", `there is no tool \"nothing\"`}},
		{"no name", request("1", "tools/call", "{}"), true, []string{"-32602", "needs a name"}},
		{"arguments in an array", call("1", "echo", "[1]"), true, []string{"-32602", "must be an object"}},
		{"name that is a number", request("1", "tools/call", `{"name":7}`), true, []string{"-32602", `\"name\" must not be of type number`}},
		{"unknown prompt", request("1", "prompts/get", `{"name":"x"}`), true, []string{"-32602", `no prompt \"x\"`}},
		{"prompt without its argument", request("1", "prompts/get", `{"name":"greet"}`), true, []string{"-32602", "greet needs a name"}},
		{"unknown resource", request("1", "resources/read", `{"uri":"memo://9"}`), true, []string{"-32002", `"uri":"memo://9"`}},
		{"unknown resource of the new revision", modern("1", "resources/read", `"uri":"memo://9"`), false, []string{"-32602"}},
		{"unknown page", request("1", "tools/list", `{"cursor":"x"}`), true, []string{"-32602", "cursor"}},
		{"unknown level", request("1", "logging/setLevel", `{"level":"loud"}`), true, []string{"-32602", "emergency"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, &desk{}, serve.Options{Prompts: books{}, Resources: books{}})
			if tt.hello {
				p.hello("2025-11-25")
			}
			got := p.ask(tt.ask)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("answer %s, want %s in it", got, want)
				}
			}
			if rest, err := p.finish(); len(rest) > 0 || err != nil {
				t.Errorf("at the end: %q, %v", rest, err)
			}
		})
	}
}

// No line, however broken, ends the server or keeps the next one from being answered.
func TestBrokenLines(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"no JSON", "hello", `"id":null,"error":{"code":-32700`},
		{"half a message", `{"jsonrpc":"2.0","id":1,"method":"ping"`, `"id":null,"error":{"code":-32700`},
		{"two in a line", request("1", "ping", "{}") + request("2", "ping", "{}"), `"id":null,"error":{"code":-32700`},
		{"no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", `"id":null,"error":{"code":-32700`},
		{"deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), `"id":null,"error":{"code":-32700`},
		{"a number", "1", `"id":null,"error":{"code":-32600`},
		{"null", "null", `"id":null,"error":{"code":-32600`},
		{"empty object", "{}", `"id":null,"error":{"code":-32600`},
		{"no version", `{"id":1,"method":"ping"}`, `"id":1,"error":{"code":-32600`},
		{"version of before", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `"id":1,"error":{"code":-32600`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, `"id":1,"error":{"code":-32600`},
		{"method that is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, `"error":{"code":-32600`},
		{"null as id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{"object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{"truth as id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{"params in an array", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `"id":1,"error":{"code":-32602`},
		{"params that are a text", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, `"id":1,"error":{"code":-32602`},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, `"id":1,"result":{}`},
		{"empty batch", "[]", `"id":null,"error":{"code":-32600`},
		{"batch of nothing", "[1]", `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600`},
		{"meta that is a text", request("1", "ping", `{"_meta":"x"}`), `"id":1,"result":{}`},
		{"a long id", request(`"`+strings.Repeat("x", 1<<16)+`"`, "ping", "{}"), `"result":{}`},
		{"too long", request(`"a"`, "ping", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`), `"id":"a","error":{"code":-32600`},
		{"too long without an id", strings.Repeat("x", 1<<20), `"id":null,"error":{"code":-32600`},
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		{"an error as answer", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, ""},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/x","params":{}}`, ""},
		{"request as notification", `{"jsonrpc":"2.0","method":"tools/list"}`, ""},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`, ""},
		{"cancel without id", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, ""},
		{"blank", " \t\r", ""},
	}
	p := start(t, &desk{}, serve.Options{MaxLine: 1 << 19})
	p.send("\ufeff" + request("0", "ping", "{}"))
	if got := p.next(); got != `{"jsonrpc":"2.0","id":0,"result":{}}` {
		t.Errorf("ping behind a byte order mark answers %s", got)
	}
	for _, tt := range tests {
		p.send(tt.line)
		if tt.want != "" {
			if got := p.next(); !strings.Contains(got, tt.want) {
				t.Errorf("%s: answer %.300s, want %s in it", tt.name, got, tt.want)
			}
		}
		if got := p.ask(request(`"after"`, "ping", "{}")); got != `{"jsonrpc":"2.0","id":"after","result":{}}` {
			t.Errorf("ping after %s answers %s", tt.name, got)
		}
	}
	if rest, err := p.finish(); len(rest) > 0 || err != nil {
		t.Errorf("at the end: %q, %v", rest, err)
	}
}

// Ids come back as they are, whatever their size.
func TestIDs(t *testing.T) {
	p := start(t, &desk{}, serve.Options{})
	p.hello("2025-11-25")
	for _, id := range []string{
		"0", "-7", "9007199254740993", "123456789012345678901234567890", "1.5", "1e3", `""`, `"a b"`, `"\u00e9\n"`, `"é"`,
	} {
		if got, want := p.ask(call(id, "echo", "{}")), `{"jsonrpc":"2.0","id":`+id+`,"result":`; !strings.HasPrefix(got, want) {
			t.Errorf("answer %s, want %s", got, want)
		}
	}
	p.finish()
}

// Messages of a batch are answered in one, those without an answer left out.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, &desk{}, serve.Options{})
		p.hello("2025-03-26")
		p.send("[" + strings.Join([]string{
			call("1", "sleep", `{"ms":50}`), request("2", "ping", "{}"), `{"jsonrpc":"2.0","method":"notifications/x"}`,
			call("3", "sleep", `{"ms":1000}`), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, "7",
		}, ",") + "]")
		want := `[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be an object with \"jsonrpc\": \"2.0\" and a text as \"method\""}},` +
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"slept"}]}}]`
		if diff := cmp.Diff(want, p.next()); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		p.send(`[{"jsonrpc":"2.0","method":"notifications/x"}]`)
		if rest, err := p.finish(); len(rest) > 0 || err != nil {
			t.Errorf("at the end: %q, %v", rest, err)
		}
	})
}

// Tools are listed as clients can read them, in the order of the desk.
func TestToolsList(t *testing.T) {
	d := &desk{}
	for name, schema := range map[string]string{
		"a": `{"type":"object","$schema":"x","oneOf":[{"required":["a"]}],"properties":{"n":{"maximum":9223372036854775807}}}`,
		"b": `true`, "c": `{"properties":[],"required":true}`, "d": `{"type":["object","null"],"required":["x"]}`, "e": `no`,
	} {
		d.more = append(d.more, serve.Tool{Name: name, Input: []byte(schema), Effect: tools.Edits})
	}
	slices.SortFunc(d.more, func(a, b serve.Tool) int { return strings.Compare(a.Name, b.Name) })
	p := start(t, d, serve.Options{})
	p.hello("2025-06-18")
	edits := `,"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":false}}`
	want := `{"jsonrpc":"2.0","id":1,"result":{"tools":[` +
		`{"name":"echo","description":"Says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"annotations":{"readOnlyHint":true,"openWorldHint":false}},` +
		`{"name":"sleep","title":"Sleep","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}},` +
		`{"name":"a","inputSchema":{"type":"object","$schema":"x","oneOf":[{"required":["a"]}],"properties":{"n":{"maximum":9223372036854775807}}}` + edits + `,` +
		`{"name":"b","inputSchema":{"type":"object"}` + edits + `,` +
		`{"name":"c","inputSchema":{"type":"object"}` + edits + `,` +
		`{"name":"d","inputSchema":{"required":["x"],"type":"object"}` + edits + `,` +
		`{"name":"e","inputSchema":{"type":"object"}` + edits + `]}}`
	if diff := cmp.Diff(want, p.ask(request("1", "tools/list", "{}"))); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	p.finish()
}

// Whatever goes wrong in a tool is a result that the model reads.
func TestFailedCalls(t *testing.T) {
	d := &desk{}
	d.add("secret", func(context.Context, serve.Call) (serve.Result, error) {
		return serve.Result{}, errors.New("token abc in /home/me")
	})
	d.add("public", func(context.Context, serve.Call) (serve.Result, error) {
		return serve.Result{}, tools.Publicf("no file %q; list the folder", "x")
	})
	d.add("panics", func(context.Context, serve.Call) (serve.Result, error) { panic("token abc") })
	d.add("fails", func(context.Context, serve.Call) (serve.Result, error) {
		return serve.Result{Blocks: []serve.Block{{Type: serve.Text, Text: "no"}}, IsError: true}, nil
	})
	p := start(t, d, serve.Options{})
	p.hello("2025-11-25")
	const fault = "The tool met an internal error; the log has the details. Try another way."
	for tool, want := range map[string]string{
		"secret": fault, "panics": fault, "public": `no file \"x\"; list the folder`, "fails": "no",
	} {
		all := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + want + `"}],"isError":true}}`
		if got := p.ask(call("1", tool, "{}")); got != all {
			t.Errorf("%s answers %s, want %s", tool, got, all)
		}
	}
	if got := p.ask(call("1", "sleep", `{"ms":"x"}`)); !strings.Contains(got, `ms must be a number"}],"isError":true`) {
		t.Errorf("a wrong argument answers %s", got)
	}
	p.finish()
}

// Each kind of content comes as the revision of the client has it.
func TestContent(t *testing.T) {
	d := &desk{}
	d.add("kinds", func(context.Context, serve.Call) (serve.Result, error) {
		return serve.Result{Blocks: []serve.Block{
			{Type: serve.Text, Text: "<a> \u2028"},
			{Type: serve.Image, Data: []byte("png"), MIME: "image/png"},
			{Type: serve.Audio, Data: []byte("wav"), MIME: "audio/wav"},
			{Type: serve.Link, URI: "file:///a", Name: "a", MIME: "text/plain"},
			{Type: serve.Resource, URI: "file:///a", MIME: "text/plain", Text: "in a"},
			{Type: serve.Resource, URI: "file:///b", Data: []byte{}},
		}, Structured: []byte("{\"n\": 9007199254740993}")}, nil
	})
	const (
		begin   = `[{"type":"text","text":"<a> \u2028"},{"type":"image","data":"cG5n","mimeType":"image/png"},`
		audio   = `{"type":"audio","data":"d2F2","mimeType":"audio/wav"},`
		noAudio = `{"type":"text","text":"(a sound of 3 bytes, audio/wav)"},`
		link    = `{"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain"},`
		noLink  = `{"type":"text","text":"a (text/plain): file:///a"},`
		end     = `{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"in a"}},{"type":"resource","resource":{"uri":"file:///b","blob":""}}]`
		data    = `,"structuredContent":{"n":9007199254740993}`
	)
	for revision, want := range map[string]string{
		"2024-11-05": begin + noAudio + noLink + end,
		"2025-03-26": begin + audio + noLink + end,
		"2025-06-18": begin + audio + link + end + data,
		"2025-11-25": begin + audio + link + end + data,
	} {
		p := start(t, d, serve.Options{})
		p.hello(revision)
		if diff := cmp.Diff(`{"jsonrpc":"2.0","id":1,"result":{"content":`+want+`}}`, p.ask(call("1", "kinds", "{}"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", revision, diff)
		}
		p.finish()
	}
}

// Prompts are filled in, and resources read.
func TestPromptsAndResources(t *testing.T) {
	p := start(t, &desk{}, serve.Options{Prompts: books{}, Resources: books{}})
	p.hello("2025-11-25")
	for _, tt := range []struct{ ask, want string }{
		{request("1", "prompts/get", `{"name":"greet","arguments":{"name":"Ada"}}`), `{"messages":[{"role":"user","content":{"type":"text","text":"Greet Ada"}},` +
			`{"role":"assistant","content":{"type":"image","data":"cG5n","mimeType":"image/png"}},` +
			`{"role":"user","content":{"type":"resource","resource":{"uri":"memo://1","mimeType":"text/plain","text":"memo"}}}]}`},
		{request("1", "resources/list", `{}`), `{"resources":[{"uri":"memo://1","name":"one","mimeType":"text/plain"}]}`},
		{request("1", "resources/templates/list", `{}`), `{"resourceTemplates":[{"uriTemplate":"memo://{n}","name":"any"}]}`},
		{request("1", "resources/read", `{"uri":"memo://1"}`), `{"contents":[{"uri":"memo://1","mimeType":"text/plain","text":"memo"},{"uri":"memo://1#b","blob":"AAE="}]}`},
	} {
		if diff := cmp.Diff(`{"jsonrpc":"2.0","id":1,"result":`+tt.want+`}`, p.ask(tt.ask)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.ask, diff)
		}
	}
	p.finish()
}
