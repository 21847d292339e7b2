package acptest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// Serve is the agent: it speaks until in ends.
type Serve func(ctx context.Context, in io.Reader, out io.Writer) error

// An Editor is the client at the other end of an agent. It says what it is told
// to and keeps what it hears. It lives in a synctest bubble.
type Editor struct {
	tb   testing.TB
	in   *io.PipeWriter
	out  *io.PipeReader
	stop context.CancelFunc
	done chan struct{} // closed when the agent has returned and all was heard
	err  error         // of the agent; set when done is closed

	mu    sync.Mutex // guards the fields below
	heard []string   // lines of the agent that nobody has taken
}

// Open starts an agent. It is ended with the test.
func Open(tb testing.TB, serve Serve) *Editor {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	agentIn, in := io.Pipe()
	out, agentOut := io.Pipe()
	e := &Editor{tb: tb, in: in, out: out, stop: stop, done: make(chan struct{})}

	var wg sync.WaitGroup
	wg.Go(func() { e.listen(out) })
	wg.Go(func() {
		e.err = serve(ctx, agentIn, agentOut)
		agentIn.Close()
		agentOut.Close()
	})
	go func() {
		wg.Wait()
		close(e.done)
	}()
	tb.Cleanup(func() {
		in.Close()
		stop()
		<-e.done
	})
	return e
}

func (e *Editor) listen(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			e.mu.Lock()
			e.heard = append(e.heard, strings.TrimSuffix(line, "\n"))
			e.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// Say sends lines to the agent, all in one write.
func (e *Editor) Say(lines ...string) {
	e.tb.Helper()
	if len(lines) == 0 {
		return
	}
	if _, err := io.WriteString(e.in, strings.Join(lines, "\n")+"\n"); err != nil {
		e.tb.Fatalf("the agent does not read: %v", err)
	}
}

// Hear waits until the agent has nothing more to say for now, and returns what
// it has said since the last Hear.
func (e *Editor) Hear() []string {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	heard := e.heard
	e.heard = nil
	return heard
}

// Reply answers a request of the agent with result, which is JSON.
func (e *Editor) Reply(m Message, result string) {
	e.tb.Helper()
	e.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

// Refuse answers a request of the agent with an error.
func (e *Editor) Refuse(m Message, code int) {
	e.tb.Helper()
	e.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"refused"}}`, m.ID, code))
}

// End ends the agent's input.
func (e *Editor) End() { e.in.Close() }

// HangUp closes the agent's output, as an editor does that was killed.
func (e *Editor) HangUp() { e.out.Close() }

// Stop asks the agent to leave, as a signal does.
func (e *Editor) Stop() { e.stop() }

// Wait waits for the agent to return, and returns its error.
func (e *Editor) Wait() error {
	<-e.done
	return e.err
}

// A Message is a message of the agent.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// An Error is the error of a response.
type Error struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

// Messages reads lines; each must be a message of JSON-RPC 2.0.
func Messages(tb testing.TB, lines []string) []Message {
	tb.Helper()
	list := make([]Message, len(lines))
	for i, line := range lines {
		var v struct {
			Version string `json:"jsonrpc"`
		}
		err := json.Unmarshal([]byte(line), &list[i])
		if err == nil {
			err = json.Unmarshal([]byte(line), &v)
		}
		if err != nil || v.Version != "2.0" {
			tb.Fatalf("the agent said no JSON-RPC (%v): %.300s", err, line)
		}
	}
	return list
}

// Answer returns the response to the request with an id, such as `1` or `"a"`.
func Answer(tb testing.TB, messages []Message, id string) Message {
	tb.Helper()
	var found *Message
	for i, m := range messages {
		if m.Method == "" && string(m.ID) == id {
			if found != nil {
				tb.Fatalf("request %s was answered twice", id)
			}
			found = &messages[i]
		}
	}
	if found == nil {
		tb.Fatalf("request %s was not answered", id)
	}
	return *found
}

// Request returns the one request of the agent that calls method.
func Request(tb testing.TB, messages []Message, method string) Message {
	tb.Helper()
	var found []Message
	for _, m := range messages {
		if m.Method == method && len(m.ID) > 0 {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		tb.Fatalf("the agent called %s %d times, want once", method, len(found))
	}
	return found[0]
}

// Commands returns the names of the commands of a session, of each time that the
// agent has told them.
func Commands(tb testing.TB, messages []Message, session string) [][]string {
	tb.Helper()
	var told [][]string
	for _, m := range messages {
		var p struct {
			SessionID string
			Update    struct {
				SessionUpdate     string
				AvailableCommands []struct{ Name string }
			}
		}
		// The content of a tool call is nothing to look at here, and decodes into nothing.
		if json.Unmarshal(m.Params, &p) != nil || p.SessionID != session || p.Update.SessionUpdate != "available_commands_update" {
			continue
		}
		names := []string{}
		for _, c := range p.Update.AvailableCommands {
			names = append(names, c.Name)
		}
		told = append(told, names)
	}
	return told
}
