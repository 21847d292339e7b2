package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// ages is how long what never ends lasts, so that a forgotten process ends some day.
const ages = 10 * time.Minute

// drain is how long calls that run go on when the client has gone.
const drain = 300 * time.Millisecond

// A pipe is the client on standard input and output.
type pipe struct {
	p    *program
	mu   sync.Mutex // guards the fields below
	out  io.Writer
	sent int // number of messages
}

// pipe serves the client on two streams until the first ends.
func (p *program) pipe(in io.Reader, out io.Writer) error {
	w := &pipe{p: p, out: out}
	if err := w.prelude(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := p.server.open(w.write)
	var requests sync.WaitGroup
	err := w.read(in, func(line []byte) {
		var m message
		err := json.Unmarshal(line, &m)
		emit := w.write
		if p.o.modes.has("half-line") && m.Method == "tools/call" {
			emit = w.half
		}
		if err == nil && !m.isRequest() {
			c.handle(ctx, line, emit)
			return
		}
		requests.Go(func() { c.handle(ctx, line, emit) })
	})
	if p.o.modes.has("never-exit") || p.o.modes.has("ignore-term") {
		time.Sleep(ages)
	}
	c.leave()
	late := time.AfterFunc(drain, cancel)
	requests.Wait()
	late.Stop()
	cancel()
	c.close()
	return err
}

// read hands the lines of in over until it ends.
func (w *pipe) read(in io.Reader, line func([]byte)) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := r.ReadBytes('\n')
		if text = bytes.TrimSpace(text); len(text) > 0 {
			line(text)
			if w.p.o.modes.has("stop-reading") && bytes.Contains(text, []byte(`"tools/list"`)) {
				time.Sleep(ages)
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// prelude does what happens before the first message is read.
func (w *pipe) prelude() error {
	p, o := w.p, w.p.o
	if o.modes.has("sleeper") {
		time.Sleep(ages)
	}
	if !o.modes.has("slow") && !o.modes.has("slow-init") {
		time.Sleep(o.delay)
	}
	switch {
	case o.modes.has("stderr-flood-start"):
		floodStderr(20 << 20)
	case o.modes.has("bom"):
		w.raw([]byte("\ufeff"))
	case o.modes.has("junk"):
		w.raw([]byte("Starting server v1.0 ...\n\x1b[32m[dotenv] injecting env (0)\x1b[0m\n\nnull\n123\n[]\n{}\n\"text\"\n{\"jsonrpc\":\"2.0\"\n"))
	case o.modes.has("junk-flood"):
		w.raw(bytes.Repeat([]byte("a line that is no message\n"), 200_000))
	case o.modes.has("infinite-line"):
		time.AfterFunc(p.pause(300*time.Millisecond), func() {
			for range 600 {
				w.raw(bytes.Repeat([]byte("A"), 1<<20))
			}
		})
	case o.modes.has("grandchild"), o.modes.has("grandchild-die"):
		return p.spawn("-mode", "sleeper")
	case o.modes.has("launcher"):
		if err := p.spawn("-name", o.name, "-log", o.log); err != nil {
			return err
		}
		p.exit(0, "the program runs")
	}
	return nil
}

// spawn starts this program once more, with the same streams.
func (p *program) spawn(args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if args[1] == "sleeper" {
		cmd.Stdin = nil
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "grandchild pid=%d\n", cmd.Process.Pid)
	p.journal.write("grandchild", map[string]any{"child": cmd.Process.Pid})
	return nil
}

// closeOutput closes standard output and lives on.
func (p *program) closeOutput() {
	if err := os.Stdout.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "mcpstub: closing the output:", err)
	}
}

// write writes a message, in the way that the modes want.
func (w *pipe) write(message []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent++
	o := w.p.o
	end := "\n"
	switch {
	case o.modes.has("glued") && w.sent%2 == 1:
		message = append([]byte("Listening on port 3000... "), message...)
	case o.modes.has("pretty"):
		var b bytes.Buffer
		if json.Indent(&b, message, "", "  ") == nil {
			message = b.Bytes()
		}
	case o.modes.has("batch"):
		message = fmt.Appendf(nil, `[%s,%s]`, notification("notifications/message", map[string]any{"level": "info", "data": "in a batch"}), message)
	case o.modes.has("crlf"):
		end = "\r\n"
	case o.modes.has("junk"):
		end = "\n[info] one message more\n"
	case o.modes.has("split"):
		w.put(message[:len(message)/2])
		time.Sleep(w.p.pause(20 * time.Millisecond))
		message = message[len(message)/2:]
	}
	w.put(append(message[:len(message):len(message)], end...))
}

// half writes the beginning of a message and ends the process.
func (w *pipe) half(message []byte) {
	w.raw(message[:len(message)/2])
	w.p.die(4, "panic: out of memory")
}

func (w *pipe) raw(data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(data)
}

// put writes while w.mu is held. Who cannot be reached any more is told nothing.
func (w *pipe) put(data []byte) {
	if _, err := w.out.Write(data); err != nil && !strings.Contains(err.Error(), "closed") {
		fmt.Fprintln(os.Stderr, "mcpstub: writing:", err)
	}
}
