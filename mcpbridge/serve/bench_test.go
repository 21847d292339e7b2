package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
)

// BenchmarkCall is a call from its line to the line of its answer.
func BenchmarkCall(b *testing.B) {
	d := &desk{}
	d.add("big", func(context.Context, serve.Call) (serve.Result, error) { return text(strings.Repeat("x", 20<<20)), nil })
	for _, bb := range []struct {
		name, line string
	}{
		{"small", call("1", "echo", `{"text":"a"}`)},
		{"20 MB result", call("1", "big", "{}")},
		{"20 MB echoed", call("1", "echo", `{"text":"`+strings.Repeat("x", 20<<20)+`"}`)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			inR, inW := io.Pipe()
			answered := &counter{lines: make(chan int, 1)}
			ended := make(chan error, 1)
			go func() { ended <- serve.New(d, serve.Options{}).Serve(b.Context(), inR, answered) }()
			fmt.Fprintln(inW, request("0", "initialize", "{}"))
			<-answered.lines
			line := []byte(bb.line + "\n")
			b.ReportAllocs()
			for b.Loop() {
				inW.Write(line)
				<-answered.lines
			}
			inW.Close()
			if err := <-ended; err != nil {
				b.Error(err)
			}
		})
	}
}

// A counter tells of each line that is written to it.
type counter struct{ lines chan int }

func (c *counter) Write(p []byte) (int, error) {
	if n := bytes.Count(p, []byte("\n")); n > 0 {
		c.lines <- n
	}
	return len(p), nil
}

// FuzzServe: whatever comes in, each line that goes out is a message, and each request
// with a fresh id has one answer.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		request("1", "ping", "{}"), modern("1", "tools/list", ""), call("1", "echo", `{"a":1}`), "[" + call("1", "echo", "{}") + ",7]",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "\ufeff\n\n{", `{"id":{}}`, modern(`"x"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		hello := request(`"hello"`, "initialize", `{"protocolVersion":"2025-03-26"}`) + "\n"
		after := "\n" + request(`"after"`, "ping", "{}")
		in := io.MultiReader(strings.NewReader(hello), bytes.NewReader(data), strings.NewReader(after))
		c := newChanging()
		if err := serve.New(c, serve.Options{Prompts: books{}, Resources: books{}, MaxLine: 1 << 16, Watch: c.watch}).Serve(t.Context(), in, &out); err != nil {
			t.Fatal(err)
		}
		answers := 0
		for line := range bytes.Lines(out.Bytes()) {
			var m struct {
				Version string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Method  string          `json:"method"`
			}
			if line[0] != '[' && (json.Unmarshal(line, &m) != nil || m.Version != "2.0" || (m.ID == nil) == (m.Method == "")) {
				t.Errorf("line %q", line)
			}
			if string(m.ID) == `"after"` {
				answers++
			}
		}
		if answers == 0 {
			t.Errorf("no answer to what came after %q: %s", data, out.Bytes())
		}
	})
}
