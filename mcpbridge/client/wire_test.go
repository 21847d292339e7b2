package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// A frame is a message on the wire.
type frame struct {
	Version string           `json:"jsonrpc"`
	ID      json.RawMessage  `json:"id,omitempty"`
	Method  string           `json:"method,omitempty"`
	Params  json.RawMessage  `json:"params,omitempty"`
	Result  json.RawMessage  `json:"result,omitempty"`
	Error   *transport.Error `json:"error,omitempty"`
}

// A wire is a transport over lines in memory, which trusts the other end.
type wire struct {
	serve func(in io.Reader, out io.Writer) // the server; ends with its input

	handler transport.Handler
	in      *io.PipeReader
	out     *io.PipeWriter
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	done    chan struct{}

	mu    sync.Mutex // guards the fields below, and writing
	id    int
	calls map[string]chan frame
	asked []string // methods
}

func (w *wire) Start(ctx context.Context, h transport.Handler) error {
	theirs, out := io.Pipe()
	in, back := io.Pipe()
	w.handler, w.in, w.out, w.done = h, in, out, make(chan struct{})
	w.calls = map[string]chan frame{}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.wg.Go(func() { w.serve(theirs, back); back.Close() })
	w.wg.Go(w.read)
	return nil
}

func (w *wire) read() {
	defer close(w.done)
	notes := make(chan frame, 1000)
	w.wg.Go(func() {
		for f := range notes {
			w.handler.Notify(f.Method, f.Params)
		}
	})
	defer close(notes)
	lines := bufio.NewReader(w.in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var f frame
		if json.Unmarshal(line, &f) != nil {
			continue
		}
		switch {
		case f.Method == "":
			w.mu.Lock()
			c := w.calls[string(f.ID)]
			w.mu.Unlock()
			if c != nil {
				c <- f
			}
		case f.ID == nil:
			notes <- f
		default:
			w.wg.Go(func() { w.answer(f) })
		}
	}
}

func (w *wire) answer(f frame) {
	result, err := w.handler.Request(w.ctx, f.Method, f.Params)
	reply := frame{ID: f.ID, Result: result}
	if err != nil {
		reply.Error = &transport.Error{Code: transport.CodeInternal, Message: err.Error()}
		errors.As(err, &reply.Error)
	}
	w.write(reply)
}

func (w *wire) write(f frame) error {
	f.Version = "2.0"
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.out.Write(append(line, '\n'))
	return err
}

func (w *wire) Call(ctx context.Context, r transport.Request) (json.RawMessage, error) {
	w.mu.Lock()
	w.id++
	id := strconv.Itoa(w.id)
	c := make(chan frame, 1)
	w.calls[id] = c
	w.asked = append(w.asked, r.Method)
	w.mu.Unlock()
	if err := w.write(frame{ID: json.RawMessage(id), Method: r.Method, Params: r.Params}); err != nil {
		return nil, transport.ErrGone
	}
	select {
	case f := <-c:
		if f.Error != nil {
			return nil, f.Error
		}
		return f.Result, nil
	case <-w.done:
		return nil, transport.ErrGone
	case <-ctx.Done():
		w.write(frame{Method: "notifications/cancelled", Params: json.RawMessage(`{"requestId":` + id + `}`)})
		return nil, ctx.Err()
	}
}

func (w *wire) Notify(ctx context.Context, method string, params json.RawMessage) error {
	return w.write(frame{Method: method, Params: params})
}

func (w *wire) Negotiated(string)     {}
func (w *wire) Done() <-chan struct{} { return w.done }

func (w *wire) Err() error {
	select {
	case <-w.done:
		return transport.ErrGone
	default:
		return nil
	}
}

func (w *wire) Close(context.Context) error {
	w.out.Close()
	w.cancel()
	w.wg.Wait()
	return nil
}

// over connects to a server that speaks lines, until the test ends.
func over(t *testing.T, serve func(io.Reader, io.Writer), o client.Options) (client.Peer, *wire) {
	t.Helper()
	w := &wire{serve: serve}
	p, err := client.Connect(t.Context(), func() transport.Transport { return w }, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return p, w
}

// goServer is the server of mcp-go on lines.
func goServer(s *mcpserver.MCPServer) func(io.Reader, io.Writer) {
	return func(in io.Reader, out io.Writer) {
		// It ends with its input, with an error that says so.
		_ = mcpserver.NewStdioServer(s).Listen(context.Background(), in, out)
	}
}

// lines is a server that has one answer to each of some methods.
func lines(results map[string]string) func(io.Reader, io.Writer) {
	return func(in io.Reader, out io.Writer) {
		for r := bufio.NewReader(in); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var f frame
			if json.Unmarshal(line, &f) != nil || f.ID == nil {
				continue
			}
			result, ok := results[f.Method]
			if !ok {
				result = `{"code":-32601,"message":"Method not found"}`
				io.WriteString(out, `{"jsonrpc":"2.0","id":`+string(f.ID)+`,"error":`+result+"}\n")
				continue
			}
			io.WriteString(out, `{"jsonrpc":"2.0","id":`+string(f.ID)+`,"result":`+result+"}\n")
		}
	}
}

// goClient is the client of mcp-go, connected to a server that speaks lines until the
// test ends.
func goClient(t *testing.T, serve func(io.Reader, io.Writer)) *mcpclient.Client {
	t.Helper()
	theirs, out := io.Pipe()
	in, back := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { serve(theirs, back); back.Close() })
	c := mcpclient.NewClient(mcptransport.NewIO(in, out, io.NopCloser(emptyReader{})))
	t.Cleanup(func() {
		out.Close()
		wg.Wait()
		if err := c.Close(); err != nil {
			t.Logf("closing the client of mcp-go: %v", err)
		}
	})
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }
