package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// What a result costs on its way from the loopback: a small one, and one of 20 MB as a
// body and as an event.
func BenchmarkCall(b *testing.B) {
	big := `"` + strings.Repeat("x", 20<<20) + `"`
	for _, bench := range []struct {
		name, value string
		stream      bool
	}{{"small", `{}`, false}, {"20 MB", big, false}, {"20 MB in an event", big, true}} {
		b.Run(bench.name, func(b *testing.B) {
			f := &fake{answer: func(w http.ResponseWriter, _ *http.Request, m message) {
				if bench.stream {
					begin(w)
					event(w, result(m, bench.value))
					return
				}
				reply(w, result(m, bench.value))
			}}
			s := httptest.NewServer(f)
			defer s.Close()
			tr := web.New(web.Options{URL: s.URL})
			if err := tr.Start(b.Context(), &host{}); err != nil {
				b.Fatal(err)
			}
			defer tr.Close(b.Context())
			b.ReportAllocs()
			b.SetBytes(int64(len(bench.value)))
			for b.Loop() {
				if _, err := tr.Call(b.Context(), transport.Request{Method: "tools/call"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
