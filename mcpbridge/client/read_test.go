package client_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/tools/server"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestPrompts(t *testing.T) {
	f := handshake(map[string]reply{
		"prompts/list": says(`{"prompts":[null,{"name":7},{"name":"greet","title":"T","description":"Says\n hello",
			"arguments":[{"name":"who","description":"a name","required":true},7,{"name":"tone","required":"yes"},{}]},{"name":"plain","arguments":{}}]}`),
		"prompts/get": says(`{"description":"d","messages":[
			{"role":"user","content":{"type":"text","text":"Greet"}},
			{"role":"assistant","content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a://b","mimeType":"text/x","text":"t"}}]},
			7,{"role":"system","content":"be kind"},
			{"role":"user","content":{"type":"resource_link","uri":"a://c","name":"c","mimeType":"text/x","description":"a c"}},
			{"role":"user","content":{"type":"hologram"}}]}`),
	})
	bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
		list, err := p.Prompts(t.Context())
		want := []client.Prompt{
			{Name: "greet", Title: "T", Description: "Says hello", Arguments: []server.Argument{
				{Name: "who", Description: "a name", Required: true}, {Name: "tone"},
			}},
			{Name: "plain"},
		}
		if diff := cmp.Diff(want, list); diff != "" || err != nil {
			t.Errorf("Prompts() = %v (-want +got):\n%s", err, diff)
		}
		parts, err := p.Prompt(t.Context(), "greet", map[string]string{"who": "Ann"})
		wantParts := []server.Part{
			{Role: "user", Text: "Greet"},
			{Role: "assistant", MIME: "image/png", Data: []byte("hi")},
			{Role: "assistant", URI: "a://b", MIME: "text/x", Text: "t"},
			{Role: "user", Text: "be kind"},
			{Role: "user", URI: "a://c", Text: "c (text/x) a://c: a c"},
			{Role: "user", Text: `{"type":"hologram"}`},
		}
		if diff := cmp.Diff(wantParts, parts); diff != "" || err != nil {
			t.Errorf("Prompt() = %v (-want +got):\n%s", err, diff)
		}
		if got := string(f.last(t, "prompts/get").Params); !contains(got, `"arguments":{"who":"Ann"}`) {
			t.Errorf("asked with %s", got)
		}
	})
}

func TestResources(t *testing.T) {
	f := handshake(map[string]reply{
		"resources/list":           says(`{"resources":[{"uri":"memo://1","name":"one","title":"One","description":"the\nfirst","mimeType":"text/x"},{"name":"nowhere"},null]}`),
		"resources/templates/list": says(`{"resourceTemplates":[{"uriTemplate":"memo://{n}","name":"memo"},{"uri":"memo://2"}]}`),
		"resources/read": inTurn(says(`{"contents":[{"uri":"memo://1","text":"t"},{"uri":"memo://1/b","mimeType":"image/png","blob":"aGk="},"words",{"uri":"memo://e"}]}`),
			says(`{"contents":{"uri":"memo://1","text":"t"}}`), says(`{}`), says(`[]`)),
	})
	bubble(t, f, client.Options{Label: "notes"}, func(t *testing.T, p client.Peer) {
		list, err := p.Resources(t.Context())
		want := []server.Resource{
			{Server: "notes", URI: "memo://1", Name: "One", Description: "the first", MIME: "text/x"},
			{Server: "notes", URI: "memo://{n}", Name: "memo", Template: true},
		}
		if diff := cmp.Diff(want, list); diff != "" || err != nil {
			t.Errorf("Resources() = %v (-want +got):\n%s", err, diff)
		}
		reads := []struct {
			want []server.Part
			err  string
		}{
			{[]server.Part{{URI: "memo://1", Text: "t"}, {URI: "memo://1/b", MIME: "image/png", Data: []byte("hi")}, {Text: "words"},
				{URI: "memo://e", Text: `{"uri":"memo://e"}`}}, ""},
			{[]server.Part{{URI: "memo://1", Text: "t"}}, ""},
			{nil, ""},
			{nil, "resources/read: the server's answer is no JSON object"},
		}
		for _, r := range reads {
			parts, err := p.Read(t.Context(), "memo://1")
			if diff := cmp.Diff(r.want, parts); diff != "" || (err == nil) != (r.err == "") || err != nil && err.Error() != r.err {
				t.Errorf("Read() = %v (-want +got):\n%s", err, diff)
			}
		}
	})
}

// A server that has resources, and refuses to list templates, has no templates.
func TestNoTemplates(t *testing.T) {
	f := handshake(map[string]reply{
		"resources/list":           says(`{"resources":[{"uri":"memo://1"}]}`),
		"resources/templates/list": refuses(-32603, "not implemented"),
	})
	bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
		if list, err := p.Resources(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("Resources() = %v, %v", list, err)
		}
	})
}
