package harness_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/attach"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/doc"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// memos is servers that hold texts by their addresses.
func memos(texts map[string]string) *toolstest.Servers {
	return &toolstest.Servers{
		StatusList: []server.Status{{Name: "Memo", Prefix: "memo", State: server.Connected}},
		OnRead: func(_ context.Context, uri string) ([]server.Part, bool, error) {
			text, ok := texts[uri]
			switch {
			case !ok:
				return nil, false, nil
			case text == "broken":
				return nil, true, tools.Publicf("the MCP server Memo: not now")
			case text == "\x00":
				return []server.Part{{URI: uri, MIME: "image/png", Data: []byte("png")}}, true, nil
			}
			return []server.Part{{URI: uri, MIME: "text/markdown", Text: text}, {URI: uri, Text: "end"}}, true, nil
		},
	}
}

// Small resources are given in full, large ones by their keys, and what no server has is
// a link like any other.
func TestResourcesOfServers(t *testing.T) { // C-27, C-32
	f, _ := newKeeping()
	set := memos(map[string]string{"memo://s": "small", "memo://large": strings.Repeat("x", 20), "memo://b": "broken", "memo://p": "\x00", "memo://t": "token"})
	s := f.open(t, serving(set))
	const text = "see @memo:memo://t. and @memo:memo://s @memo:memo://none @memo:file:///space/a"
	blocks(t, s, &recorder{},
		event.Block{URI: "memo://s", Name: "s"}, event.Block{URI: "memo://large", Name: "l"}, event.Block{URI: "memo://b", Name: "b"},
		event.Block{URI: "memo://p", Name: "p"}, event.Block{URI: "memo://x", Name: "x"}, event.Block{Text: text})
	key := attach.ResourceKey
	want := []attach.Item{
		{Key: key("memo://s"), Type: "text/markdown", Name: "s", URI: "memo://s", Size: 8, Body: "small\nend"},
		{Key: key("memo://large"), Type: "text/markdown", Name: "l", URI: "memo://large", Size: 23, Body: strings.Repeat("x", 20) + "\nend"},
		{Key: key("memo://b"), Name: "b", URI: "memo://b"},
		{Key: key("memo://p"), Type: "image/png", Name: "p", URI: "memo://p", Size: 3},
		{Key: key("memo://x"), Name: "x", URI: "memo://x"},
		{Key: key("memo://t"), Type: "text/markdown", Name: "memo://t", URI: "memo://t", Size: 8, Body: "token\nend"},
	}
	got := lastText(f.script.requests()[0])
	if table := strings.TrimSpace(attach.Table(want, 10, 1<<20)); !strings.Contains(got, "\n\n"+table+"\n\n") || !strings.Contains(got, text) {
		t.Errorf("the model gets:\n%s\nwant the text, and in it:\n%s", got, table)
	}
	if strings.Contains(got, "xxxxxxxxxx") {
		t.Error("a large resource is given in full")
	}
	u := f.entries(t, s)[0].(thread.User)
	var attached []thread.Attached
	for _, i := range want {
		attached = append(attached, thread.Attached{Key: i.Key, Name: i.Name, URI: i.URI, Type: i.Type})
	}
	if diff := cmp.Diff(attached, u.Attached); diff != "" {
		t.Errorf("attached (-want +got):\n%s", diff)
	}
}

func TestNoResourcesWithoutTools(t *testing.T) { // R-HARN-21, R-TOOLS-21
	f, _ := newKeeping()
	set := memos(nil)
	set.OnRead = func(_ context.Context, uri string) ([]server.Part, bool, error) {
		t.Errorf("a server is asked for %s", uri)
		return nil, false, nil
	}
	f.settings.model.NoTools = true
	s := f.open(t, serving(set))
	blocks(t, s, &recorder{}, event.Block{URI: "memo://s", Name: "s"}, event.Block{Text: "and @memo:memo://t"})
	if got := lastText(f.script.requests()[0]); !strings.Contains(got, "and @memo:memo://t") {
		t.Errorf("the model gets %q", got)
	}
}

func TestReadContextReadsFromServers(t *testing.T) {
	f := newFixture()
	f.options.Documents = memory.NewPlaces(nil)
	f.scopes = func(sc harness.Scope) { f.tools = []tools.Tool{doc.NewReadContext(sc.Bodies, prompt.Wrap)} }
	texts := map[string]string{"memo://s": "small", "memo://b": "broken", "memo://p": "\x00"}
	keys := `{"keys":["` + attach.ResourceKey("memo://s") + `","` + attach.ResourceKey("memo://b") + `","` + attach.ResourceKey("memo://p") + `","` + attach.ResourceKey("memo://x") + `"]}`
	f.script.steps = []step{wants(want{"a", "read-context", keys}), says("x")}
	s := f.open(t, serving(memos(texts)))
	var links []event.Block
	for _, uri := range []string{"memo://s", "memo://b", "memo://p", "memo://x"} {
		links = append(links, event.Block{URI: uri, Name: uri[7:]})
	}
	blocks(t, s, &recorder{}, links...)
	got := results(f.entries(t, s))[0]
	for _, want := range []string{"small\nend", "the MCP server Memo: not now", "image/png, 3 bytes", "cannot be read here"} {
		if !strings.Contains(got, want) {
			t.Errorf("the result is without %q:\n%s", want, got)
		}
	}
}

// A server that does not answer keeps a message for a bounded time, and a cancel ends
// the wait at once.
func TestResourcesAreAwaitedForATime(t *testing.T) { // R-ACP-26
	synctest.Test(t, func(t *testing.T) {
		f, _ := newKeeping()
		set := memos(nil)
		set.OnRead = func(ctx context.Context, uri string) ([]server.Part, bool, error) {
			<-ctx.Done()
			return nil, true, ctx.Err()
		}
		s := f.open(t, serving(set))
		start := time.Now()
		ask(t, s, "@memo:memo://1 @memo:memo://2")
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("the message has waited %v, want 5s", got)
		}
		if got := lastText(f.script.requests()[0]); !strings.Contains(got, attach.ResourceKey("memo://2")) {
			t.Errorf("what was not read is no link:\n%s", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start = time.Now()
		out, err := prompted(t, s, ctx, "@memo:memo://1", &recorder{})
		if err != nil || out.Stop != harness.Cancelled || time.Since(start) != time.Second {
			t.Errorf("outcome = %+v, %v after %v", out, err, time.Since(start))
		}
	})
}

// A message without servers has no tokens.
func TestTokensWithoutServers(t *testing.T) {
	f, _ := newKeeping()
	for _, sp := range []func(*harness.Spec){func(*harness.Spec) {}, serving(&toolstest.Servers{})} {
		s := f.open(t, sp)
		ask(t, s, "@memo:memo://1")
		if u := f.entries(t, s)[0].(thread.User); len(u.Attached) > 0 {
			t.Errorf("attached = %+v", u.Attached)
		}
	}
}
