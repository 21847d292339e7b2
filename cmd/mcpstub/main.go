package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "mcpstub:", err)
		os.Exit(2)
	}
	p, err := start(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpstub:", err)
		os.Exit(1)
	}
	if err := p.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "mcpstub:", err)
		p.exit(1, err.Error())
	}
	p.exit(0, "end of input")
}

// Options are the flags. See the comment of the package.
type options struct {
	modes        modes
	badStarts    int
	failStarts   int
	log          string
	state        string
	scenario     string
	tools        int
	named        []string
	name         string
	instructions string
	delay        time.Duration
	revision     string
	web          webOptions
}

// parse reads the command line. Its error names what is wrong with it.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("mcpstub", flag.ContinueOnError)
	fs.SetOutput(usage)
	fs.Func("mode", "misbehaviours, separated by commas; may be given again", func(text string) error {
		return o.modes.add(text)
	})
	fs.IntVar(&o.badStarts, "bad-starts", 0, "with -state: only so many starts have the modes")
	fs.IntVar(&o.failStarts, "fail-starts", 0, "with -state: so many starts fail")
	fs.StringVar(&o.log, "log", "", "file that what happens is appended to, as lines of JSON")
	fs.StringVar(&o.state, "state", "", "file that counts the starts")
	fs.StringVar(&o.scenario, "scenario", "", "file of JSON with tools and results")
	fs.IntVar(&o.tools, "tools", 0, "so many more tools: tool_1, tool_2, …")
	fs.Func("tool", "one more tool of this name; may be given again", func(name string) error {
		o.named = append(o.named, name)
		return nil
	})
	fs.StringVar(&o.name, "name", "mcpstub", "name that the server tells")
	fs.StringVar(&o.instructions, "instructions", "", "instructions that the server gives")
	fs.DurationVar(&o.delay, "delay", 0, "time before the first message is read, or of the slow modes")
	fs.StringVar(&o.revision, "revision", lastHandshake, "newest revision of the protocol")
	o.web.flags(fs)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q; try -help", fs.Arg(0))
	case !slices.Contains(revisions(), o.revision):
		return o, fmt.Errorf("-revision is one of %s", strings.Join(revisions(), ", "))
	case o.state == "" && (o.badStarts > 0 || o.failStarts > 0):
		return o, errors.New("-bad-starts and -fail-starts need -state FILE")
	}
	return o, o.web.check(o.modes)
}

// A program is the process: what it writes down, and how it ends.
type program struct {
	o       options
	journal *journal
	server  *server
}

// start counts and notes the start, and does what goes wrong before the first message.
func start(o options) (*program, error) {
	j, err := openJournal(o.log)
	if err != nil {
		return nil, err
	}
	count, err := countStart(o.state)
	if err != nil {
		return nil, err
	}
	if count > o.badStarts && o.badStarts > 0 {
		o.modes = modes{}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	j.write("start", map[string]any{"args": os.Args[1:], "env": os.Environ(), "dir": dir, "start": count})
	p := &program{o: o, journal: j}
	if count <= o.failStarts {
		p.die(1, fmt.Sprintf("error: start %d of %d that fail", count, o.failStarts))
	}
	if o.modes.has("die-at-start") {
		p.die(1, "fatal: missing API_KEY")
	}
	var s scenario
	if o.scenario != "" {
		if s, err = readScenario(o.scenario); err != nil {
			return nil, err
		}
	}
	p.server, err = newServer(p, s)
	return p, err
}

// serve serves clients until they are gone.
func (p *program) serve() error {
	p.heed()
	if p.o.web.http != "" || p.o.web.sse != "" {
		return p.listen(os.Stdout)
	}
	return p.pipe(os.Stdin, os.Stdout)
}

// heed sees to it that the end by a signal is noted, or that there is none.
func (p *program) heed() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range signals {
			p.journal.write("signal", map[string]any{"signal": s.String()})
			if !p.o.modes.has("ignore-term") {
				p.exit(143, s.String())
			}
		}
	}()
}

// exit ends the process, at once.
func (p *program) exit(code int, why string) {
	p.journal.write("end", map[string]any{"code": code, "why": why})
	os.Exit(code)
}

// die ends the process with a reason on standard error.
func (p *program) die(code int, reason string) {
	fmt.Fprintln(os.Stderr, reason)
	p.exit(code, reason)
}

// pause returns how long a slow mode takes.
func (p *program) pause(usual time.Duration) time.Duration { return cmp.Or(p.o.delay, usual) }

// A scenario replaces what the server has.
type scenario struct {
	Tools   []json.RawMessage          `json:"tools"`   // nil leaves the usual ones
	Results map[string]json.RawMessage `json:"results"` // of tools/call, by the name of the tool
}

func readScenario(file string) (s scenario, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}
