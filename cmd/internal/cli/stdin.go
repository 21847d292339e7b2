package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	maxInput  = 16 << 20               // bytes of piped text
	maxThread = 1 << 30                // bytes of an exported thread
	firstByte = 500 * time.Millisecond // patience with a pipe beside a prompt
)

// question joins the words of the command line and what is piped in. The rules,
// as `lorimer help run` has them: without words the text is read from standard
// input, which must not be a terminal; with words piped text follows them if it
// begins to arrive within half a second; the word - waits for it. An open pipe
// that says nothing never holds a prompt up.
func question(ctx context.Context, p Process, args []string) (string, error) {
	var words []string
	wait := false
	for _, a := range args {
		if a == "-" {
			wait = true
			continue
		}
		words = append(words, a)
	}
	text := strings.Join(words, " ")
	piped, err := pipedText(ctx, p, wait || strings.TrimSpace(text) == "", text != "")
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(piped) != "" {
		text = strings.TrimSpace(text + "\n\n" + strings.TrimRight(piped, "\n"))
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("run needs a prompt, as words or on standard input; try \"lorimer run --help\"")
	}
	return text, nil
}

func pipedText(ctx context.Context, p Process, wait, beside bool) (string, error) {
	if p.Stdin == nil || isTerminal(p.Stdin) {
		return "", nil
	}
	fi, err := p.Stdin.Stat()
	if err != nil {
		return "", nil // a closed standard input is an empty one
	}
	if !wait && !fi.Mode().IsRegular() {
		if !ready(p.Stdin, firstByte) {
			if fi.Mode()&os.ModeCharDevice == 0 {
				fmt.Fprintln(p.Stderr, "lorimer: standard input says nothing, going on without it; add - to wait for it")
			}
			return "", nil
		}
	}
	return readText(ctx, p.Stdin)
}

// readText reads the text of standard input.
func readText(ctx context.Context, f *os.File) (string, error) {
	data, err := readInput(ctx, f, maxInput)
	return string(data), err
}

// readInput reads standard input as input returns it.
func readInput(ctx context.Context, f *os.File, limit int64) ([]byte, error) {
	data, err := io.ReadAll(input(ctx, f, limit))
	if _, ok := errors.AsType[*exitError](err); err != nil && !ok {
		err = fmt.Errorf("reading standard input: %w", err)
	}
	return data, err
}

// input returns standard input up to its end or ctx's, which is an interruption; more
// than limit bytes are too many.
func input(ctx context.Context, f *os.File, limit int64) io.Reader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(&exitError{code: exitInterrupted}) })
	// The goroutine ends with the input or with the process: a read of standard
	// input cannot be taken back.
	go func() {
		n, err := io.Copy(w, io.LimitReader(f, limit+1))
		switch {
		case errors.Is(err, os.ErrClosed):
			err = nil // it is as good as empty
		case err == nil && n > limit:
			err = usagef("standard input has more than %s; choose a part of it", size(limit))
		}
		w.CloseWithError(err)
	}()
	return r
}
