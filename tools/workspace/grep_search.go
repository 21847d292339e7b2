package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/lorimer-dev/lorimer/tools/workspace/ansi"
)

const (
	maxGrepWorkers = 4
	grepAhead      = 64       // files searched or waiting ahead of the one that is reported
	grepBlock      = 64 << 10 // bytes read at once
	maxGrepLine    = 1 << 20  // a longer line is searched in pieces of this length
	shownLine      = 400      // bytes of a line that a result shows
	beforeMatch    = 100      // of them before the match, in a line that is cut
)

// Hits are what was found in one file.
type hits struct {
	path   string // as the model reads it
	lines  []hit
	binary bool
	failed bool // it could not be read to its end
}

type hit struct {
	number int // from 1
	text   string
	match  bool // not context
}

// A search is one file under way.
type search struct {
	file found
	hits hits
	done chan struct{} // closed when hits are complete
}

// searchTree searches the files below a directory, several at once, and reports
// them in order. It stops early when r is full, with errFull.
func searchTree(ctx context.Context, fsys FS, dir string, q query, r *report) error {
	group, ctx := errgroup.WithContext(ctx)
	queue := make(chan *search)            // to the workers
	order := make(chan *search, grepAhead) // to the report
	var missed int
	group.Go(func() (err error) {
		defer close(order)
		defer close(queue)
		missed, err = walk(ctx, fsys, dir, func(f found) error {
			if f.entry.Type() != 0 || q.glob != nil && !q.glob.matches(f.rel) {
				return nil // what a link leads to is searched where it is
			}
			s := &search{file: f, done: make(chan struct{})}
			if err := send(ctx, order, s); err != nil {
				return err
			}
			if Secret(f.path) {
				close(s.done)
				return nil
			}
			return send(ctx, queue, s)
		})
		return err
	})
	for range min(maxGrepWorkers, runtime.GOMAXPROCS(0)) {
		group.Go(func() error {
			buf := bufio.NewReaderSize(nil, grepBlock)
			for s := range queue {
				name := filepath.Join(dir, filepath.FromSlash(s.file.rel))
				h, err := searchFile(ctx, fsys, name, q, buf)
				s.hits = h
				s.hits.path, s.hits.failed = s.file.path, err != nil
				close(s.done)
			}
			return nil
		})
	}
	group.Go(func() error { return collect(ctx, order, r) })
	err := group.Wait()
	r.failed += missed
	return err
}

func send(ctx context.Context, c chan<- *search, s *search) error {
	select {
	case c <- s:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// collect reports searches in their order.
func collect(ctx context.Context, order <-chan *search, r *report) error {
	for s := range order {
		select {
		case <-s.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if Secret(s.file.path) {
			r.skip(s.file.path)
		} else if err := r.add(s.hits); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// searchFile searches one file, reading it through buf.
func searchFile(ctx context.Context, fsys FS, name string, q query, buf *bufio.Reader) (h hits, err error) {
	f, err := fsys.Open(ctx, name)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf.Reset(f)
	head, err := buf.Peek(sniffed)
	if err != nil && err != io.EOF {
		return h, err
	}
	c := codingOf(head)
	if c == binary {
		h.binary = true
		return h, nil
	}
	if _, err := buf.Discard(len(c.mark())); err != nil {
		return h, err
	}
	text := buf
	if c.utf16() != nil {
		text = bufio.NewReaderSize(c.reader(buf), grepBlock)
	}
	s := scan{query: q}
	err = s.read(ctx, text)
	h.lines = s.lines
	return h, err
}

// A scan is the search of one text.
type scan struct {
	query  query
	number int   // of the line under way
	before []hit // the last lines, for context
	after  int   // lines of context still to come
	found  int   // lines that match
	size   int   // bytes of lines
	lines  []hit
}

// read searches r to its end, or until there is more than may be shown.
func (s *scan) read(ctx context.Context, r *bufio.Reader) error {
	const often = 1 << 12 // lines between two looks at ctx
	var long []byte
	for {
		piece, err := r.ReadSlice('\n')
		line := piece
		if len(long) > 0 || err == bufio.ErrBufferFull {
			long = append(long, piece...)
			line = long
		}
		if err == bufio.ErrBufferFull && len(long) < maxGrepLine {
			continue
		}
		if len(line) > 0 {
			if s.number++; s.number%often == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if full := s.line(bytes.TrimRight(line, "\r\n")); full {
				return nil
			}
		}
		long = long[:0]
		switch err {
		case nil:
		case bufio.ErrBufferFull:
			s.number-- // the rest is still the same line
			if ctx.Err() != nil {
				return ctx.Err()
			}
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// line searches one line, and reports whether no more are wanted.
func (s *scan) line(line []byte) (full bool) {
	var at []int
	if bytes.Contains(line, s.query.literal) {
		at = s.query.re.FindIndex(line)
	}
	switch {
	case at != nil:
		for _, h := range s.before {
			s.keep(h)
		}
		s.keep(hit{s.number, show(line, at), true})
		s.before = s.before[:0]
		s.after = s.query.context
		s.found++
		return s.query.files || s.found > s.query.limit || s.size > grepMaxBytes
	case s.after > 0:
		s.after--
		s.keep(hit{s.number, show(line, nil), false})
	case s.query.context > 0:
		if len(s.before) == s.query.context {
			s.before = append(s.before[:0], s.before[1:]...)
		}
		s.before = append(s.before, hit{s.number, show(line, nil), false})
	}
	return false
}

// keep adds a line to those that were found. There are never many more than one
// result may show, although files are searched ahead of it.
func (s *scan) keep(h hit) {
	s.size += len(h.text)
	s.lines = append(s.lines, h)
}

// show returns a line as the result has it: plain text, and of a long line what
// is around the match.
func show(line []byte, at []int) string {
	if len(line) <= shownLine {
		return string(ansi.Clean(line))
	}
	from := 0
	if at != nil && at[1] > shownLine {
		from = max(0, at[0]-beforeMatch)
	}
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	part := cutRunes(line[from:], shownLine)
	out := string(ansi.Clean(part))
	if from > 0 {
		out = "..." + out
	}
	if from+len(part) < len(line) {
		out += "..."
	}
	return out
}
