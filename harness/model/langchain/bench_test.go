package langchain_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	lcanthropic "github.com/tmc/langchaingo/llms/anthropic"
	lcollama "github.com/tmc/langchaingo/llms/ollama"
	lcopenai "github.com/tmc/langchaingo/llms/openai"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

// maxBytes is the memory that a piece of an answer may take.
const maxBytes = 1500

// pieces is how many an answer has that is measured.
const pieces = 1000

// canned answers every request with one text, without a network.
type canned struct{ kind, text string }

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {c.kind}}, Body: io.NopCloser(strings.NewReader(c.text)),
	}, nil
}

// A reader is a client that is measured.
type reader struct {
	name  string
	kind  string // content type of its answers
	wire  wire
	frame func([]string) string
	ours  bool
	open  func(c *http.Client) (llms.Model, error)
	lacks []content // what it loses or cannot ask for
}

const (
	sse    = "text/event-stream"
	ndjson = "application/x-ndjson"
)

func readers() []reader {
	d := model.Descriptor{Provider: "p", ID: "m1", BaseURL: "http://model.test", Window: 200_000}
	return []reader{
		{name: "openai-chat", kind: sse, wire: chatWire, frame: events, ours: true,
			open: func(c *http.Client) (llms.Model, error) { return openai.New(d, openai.Options{Client: c}), nil }},
		{name: "openai-responses", kind: sse, wire: responsesWire, frame: events, ours: true,
			open: func(c *http.Client) (llms.Model, error) { return responses.New(d, responses.Options{Client: c}), nil }},
		{name: "anthropic", kind: sse, wire: anthropicWire, frame: events, ours: true,
			open: func(c *http.Client) (llms.Model, error) { return anthropic.New(d, anthropic.Options{Client: c}), nil }},
		{name: "gemini", kind: sse, wire: geminiWire, frame: events, ours: true,
			open: func(c *http.Client) (llms.Model, error) { return gemini.New(d, gemini.Options{Client: c}), nil }},
		{name: "ollama", kind: ndjson, wire: ollamaWire, frame: lines, ours: true,
			open: func(c *http.Client) (llms.Model, error) { return ollama.New(d, ollama.Options{Client: c}), nil }},
		{name: "langchaingo/openai", kind: sse, wire: chatWire, frame: events,
			open: func(c *http.Client) (llms.Model, error) {
				return lcopenai.New(lcopenai.WithBaseURL(d.BaseURL), lcopenai.WithToken("k"), lcopenai.WithModel(d.ID), lcopenai.WithHTTPClient(c))
			}},
		{name: "langchaingo/anthropic", kind: sse, wire: anthropicWire, frame: events,
			open: func(c *http.Client) (llms.Model, error) {
				return lcanthropic.New(lcanthropic.WithBaseURL(d.BaseURL), lcanthropic.WithToken("k"), lcanthropic.WithModel(d.ID), lcanthropic.WithHTTPClient(c))
			}},
		{name: "langchaingo/ollama", kind: ndjson, wire: ollamaWire, frame: lines, lacks: []content{thoughts, arguments},
			open: func(c *http.Client) (llms.Model, error) {
				return lcollama.New(lcollama.WithServerURL(d.BaseURL), lcollama.WithModel(d.ID), lcollama.WithHTTPClient(c))
			}},
	}
}

// eachReader runs f for each client and each content of an answer; read asks it once.
func eachReader[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, f func(t T, r reader, read func())) {
	for _, r := range readers() {
		for _, c := range []content{texts, thoughts, arguments} {
			if slices.Contains(r.lacks, c) {
				continue
			}
			t.Run(r.name+"/"+string(c), func(t T) {
				m, err := r.open(&http.Client{Transport: canned{r.kind, r.frame(r.wire(c, pieces))}})
				if err != nil {
					t.Fatal(err)
				}
				f(t, r, func() {
					if err := ask(t.Context(), m, c); err != nil {
						t.Fatal(err)
					}
				})
			})
		}
	}
}

// ask lets m answer and says what is missing of the answer.
func ask(ctx context.Context, m llms.Model, c content) error {
	heard := 0
	res, err := m.GenerateContent(ctx, []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "go")},
		llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "write", Parameters: map[string]any{"type": "object"}}}}),
		llms.WithStreamingFunc(func(context.Context, []byte) error { heard++; return nil }),
		llms.WithStreamingReasoningFunc(func(context.Context, []byte, []byte) error { heard++; return nil }))
	if err != nil {
		return err
	}
	size := 0
	for _, choice := range res.Choices {
		switch c {
		case texts:
			size += len(choice.Content)
		case thoughts:
			think, _ := choice.GenerationInfo["ThinkingContent"].(string)
			size += max(len(choice.ReasoningContent), len(think))
		case arguments:
			heard = pieces // which no callback is for
			for _, call := range choice.ToolCalls {
				size += len(call.FunctionCall.Arguments)
			}
		}
	}
	if size < pieces*len(word) || heard < pieces {
		return fmt.Errorf("%d bytes of %d arrived, in %d pieces", size, pieces*len(word), heard)
	}
	return nil
}

// BenchmarkChunk measures what it costs to read a piece of an answer, in our
// clients and in those of langchaingo, over the same bytes: the time of the fastest
// answer, which other work on the machine disturbs least, and the memory of all.
//
//	go test -run '^$' -bench Chunk -benchmem ./harness/model/langchain/...
func BenchmarkChunk(b *testing.B) {
	eachReader(b, func(b *testing.B, _ reader, read func()) {
		b.ReportAllocs()
		before := allocated()
		best, n := time.Duration(math.MaxInt64), 0
		for b.Loop() {
			began := time.Now()
			read()
			best = min(best, time.Since(began))
			n++
		}
		b.ReportMetric(float64(best.Nanoseconds())/pieces, "ns/chunk")
		b.ReportMetric(float64(allocated()-before)/float64(n*pieces), "B/chunk")
	})
}

// A piece of an answer takes little memory, however long the answer is.
func TestChunkMemory(t *testing.T) {
	eachReader(t, func(t *testing.T, r reader, read func()) {
		read() // what is made once
		before := allocated()
		read()
		if got := (allocated() - before) / pieces; r.ours && got > maxBytes {
			t.Errorf("%d bytes a piece, want at most %d", got, maxBytes)
		}
	})
}

// allocated returns the bytes allocated so far.
func allocated() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}
