package workspace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools"
)

// A whole is a whole number in an input, which JSON also writes as 2.0 or 2e3.
type whole int64

// UnmarshalJSON takes a number beyond the range of an int64 for the last in it.
func (w *whole) UnmarshalJSON(p []byte) error {
	var f float64
	if err := json.Unmarshal(p, &f); err != nil {
		return err
	}
	if f != math.Trunc(f) {
		return fmt.Errorf("%s is not a whole number", p)
	}
	*w = whole(max(min(f, 1<<53), -(1 << 53)))
	return nil
}

// showLines shows the lines from offset on, with their numbers.
func (s *source) showLines(ctx context.Context, offset, limit *whole) (tools.Result, error) {
	first, most := int64(1), int64(maxLines)
	if offset != nil {
		first = max(int64(*offset), 1)
		if *offset < 0 {
			return tools.Failf("offset %d is not a line; lines count from 1", *offset), nil
		}
	}
	if limit != nil {
		most = min(int64(*limit), maxLines)
		if *limit <= 0 {
			return tools.Result{Text: fmt.Sprintf("(limit %d asks for no lines; give at least 1)", *limit)}, nil
		}
	}
	w := &window{lines: newLines(s.coding.reader(s)), first: first, most: most}
	if err := w.fill(ctx); err != nil {
		return tools.Result{}, err
	}
	notes := w.notes(s.totalLines())
	if n := bytes.Count(w.text, []byte("�")); w.foreign {
		notes = append(notes, fmt.Sprintf("some bytes are not UTF-8 and shown as �, %d times; the file is in %s; edit keeps them", n, legacy(w.raw)))
	}
	if s.coding.utf16() != nil {
		notes = append(notes, "the file is "+s.coding.String()+", shown as UTF-8; edit and write keep that")
	}
	return withNotes(w.text, notes), nil
}

// totalLines returns how many lines the file has, 0 if that is not known.
func (s *source) totalLines() int64 {
	if s.whole == nil || s.coding.utf16() != nil {
		return 0
	}
	n := int64(bytes.Count(s.whole, []byte("\n")))
	if len(s.whole) > 0 && s.whole[len(s.whole)-1] != '\n' {
		n++
	}
	return n
}

// withNotes ends a text with what is to be said about it.
func withNotes(text []byte, notes []string) tools.Result {
	var b strings.Builder
	b.Write(text)
	for i, note := range notes {
		if i == 0 && len(text) > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "(%s)\n", note)
	}
	return tools.Result{Text: b.String()}
}

// A window is the lines of one call.
type window struct {
	lines *lines
	first int64 // number of the first line wanted
	most  int64 // lines wanted

	text    []byte // for the model
	raw     []byte // the bytes shown that may not be UTF-8
	foreign bool   // some are not
	passed  int64  // lines read
	shown   int64
	more    bool // lines follow
	open    bool // the last line has no line break
}

// fill reads up to the end of the window.
func (w *window) fill(ctx context.Context) error {
	for w.shown < w.most && len(w.text) < maxBytes {
		if err := ctx.Err(); err != nil {
			return err
		}
		keep := maxLine
		if w.passed+1 < w.first {
			keep = 0
		}
		l, err := w.lines.next(ctx, keep)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		w.passed++
		w.open = !l.ended
		if w.passed >= w.first {
			w.add(l)
		}
	}
	more, err := w.lines.more()
	w.more = more
	return err
}

// add shows a line.
func (w *window) add(l line) {
	w.shown++
	w.text = append(strconv.AppendInt(w.text, w.passed, 10), '\t')
	if utf8.Valid(l.text) {
		w.text = append(w.text, l.text...)
	} else {
		w.foreign = true
		w.raw = append(w.raw, l.text...)
		w.text = append(w.text, bytes.ToValidUTF8(l.text, []byte("�"))...)
	}
	if int64(len(l.text)) < l.size {
		w.text = fmt.Appendf(w.text, " (line cut: %d of its %d bytes are shown; go on with byte_offset %d)",
			len(l.text), l.size, l.start+int64(len(l.text)))
	}
	w.text = append(w.text, '\n')
}

// notes says which part of the file was shown. Of total lines 0 is unknown.
func (w *window) notes(total int64) []string {
	switch {
	case w.passed == 0:
		return []string{"the file is empty"}
	case w.shown == 0:
		return []string{fmt.Sprintf("offset %d is past the end; the file has %d lines", w.first, w.passed)}
	case w.more && total > 0:
		return []string{fmt.Sprintf("lines %d-%d of %d; go on with offset %d", w.first, w.passed, total, w.passed+1)}
	case w.more:
		return []string{fmt.Sprintf("lines %d-%d, more follow; go on with offset %d", w.first, w.passed, w.passed+1)}
	case w.open:
		return []string{"the last line does not end with a line break"}
	}
	return nil
}

// lines reads lines of any length in little memory.
type lines struct {
	r   *bufio.Reader
	at  int64  // bytes read
	buf []byte // the text of the last line
}

// A line is the beginning of a line of text.
type line struct {
	text  []byte // up to the length asked for, between characters, without the line ending; until the next line
	start int64  // byte at which it begins
	size  int64  // bytes of the whole line, without the line ending
	ended bool   // it has a line ending
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line, keep bytes of it at most, or io.EOF.
func (ls *lines) next(ctx context.Context, keep int) (line, error) {
	l := line{start: ls.at, text: ls.buf[:0]}
	room := 0
	if keep > 0 {
		room = keep + utf8.UTFMax
	}
	var last byte // before the line ending
	for {
		p, err := ls.r.ReadSlice('\n')
		ls.at += int64(len(p))
		l.size += int64(len(p))
		l.text = append(l.text, p[:min(len(p), room-len(l.text))]...)
		switch {
		case err == nil:
			l.ended = true
			l.size--
			if len(p) > 1 {
				last = p[len(p)-2]
			}
			if last == '\r' {
				l.size--
			}
		case errors.Is(err, bufio.ErrBufferFull):
			last = p[len(p)-1]
			if err := ctx.Err(); err != nil {
				return line{}, err
			}
			continue
		case !errors.Is(err, io.EOF):
			return line{}, err
		case l.size == 0:
			return line{}, io.EOF
		}
		ls.buf = l.text
		l.text = l.text[:min(int64(len(l.text)), l.size)]
		if len(l.text) > keep {
			l.text = cutRunes(l.text, keep)
		}
		return l, nil
	}
}

// more reports whether another line follows.
func (ls *lines) more() (bool, error) {
	_, err := ls.r.Peek(1)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

// showBytes shows the text from the byte at offset on.
func (s *source) showBytes(ctx context.Context, offset whole, limit *whole) (tools.Result, error) {
	most := int64(maxBytes)
	if limit != nil {
		most = min(int64(*limit), maxBytes)
	}
	if offset < 0 || most <= 0 {
		return tools.Failf("byte_offset %d and byte_limit %d show nothing; count from 0 and give at least 1 byte", offset, most), nil
	}
	r, err := s.skip(ctx, int64(offset))
	if err != nil {
		return tools.Result{}, err
	}
	text, err := io.ReadAll(io.LimitReader(r, most+utf8.UTFMax))
	if err != nil {
		return tools.Result{}, err
	}
	if len(text) == 0 {
		return tools.Result{Text: fmt.Sprintf("(byte_offset %d is past the end)", offset)}, nil
	}
	for n := 1; n < utf8.UTFMax && len(text) > 1 && offset > 0 && !utf8.RuneStart(text[0]); n++ {
		text, offset = text[1:], offset+1 // it was in the middle of a character
	}
	var notes []string
	if int64(len(text)) > most {
		_, first := utf8.DecodeRune(text)
		text = cutRunes(text, max(int(most), first))
		notes = append(notes, fmt.Sprintf("bytes %d-%d; go on with byte_offset %d", offset, int64(offset)+int64(len(text))-1, int64(offset)+int64(len(text))))
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("�"))
		notes = append(notes, "some bytes are not UTF-8 and shown as �")
	}
	if len(notes) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	return withNotes(text, notes), nil
}

// skip returns the text from the byte at offset on, counted in what is shown.
func (s *source) skip(ctx context.Context, offset int64) (io.Reader, error) {
	if s.coding.utf16() == nil {
		_, err := s.Seek(offset, io.SeekCurrent)
		return s, err
	}
	r := s.coding.reader(s)
	for left := offset; left > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.CopyN(io.Discard, r, min(left, 1<<20))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		left -= n
	}
	return r, nil
}
