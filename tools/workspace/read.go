package workspace

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/lorimer-dev/lorimer/tools"
)

//go:embed read.md
var readDescription string

//go:embed read_guide.md
var readGuidance string

//go:embed read.json
var readSchema []byte

const (
	maxLines     = 2000       // lines of one call
	maxBytes     = 64 << 10   // bytes of one call
	maxLine      = 2000       // bytes shown of one line
	maxWhole     = 8 << 20    // bytes of a file that is read whole; a larger one is streamed
	maxImage     = 3750 << 10 // bytes of an image; more is over 5 MB in base64, which providers refuse
	sniffedImage = 12         // bytes that tell an image
)

type readInput struct {
	Path       string `json:"path"`
	Offset     *whole `json:"offset"`
	Limit      *whole `json:"limit"`
	ByteOffset *whole `json:"byte_offset"`
	ByteLimit  *whole `json:"byte_limit"`
}

type reader struct {
	fs   FS
	seen *Seen
}

// NewRead returns the tool that shows a file. A file that it read whole is
// recorded in seen, whichever lines of it were shown.
func NewRead(fsys FS, seen *Seen) tools.Tool {
	r := &reader{fsys, seen}
	return tools.Define(tools.Info{
		Name:        "read",
		Description: readDescription,
		Schema:      readSchema,
		Guidance:    readGuidance,
		Verb:        "reading {path}",
		Kind:        tools.KindRead,
		Effect:      tools.Reads,
	}, r.plan, r.run)
}

func (r *reader) plan(_ context.Context, in readInput) (tools.Plan, error) {
	real, err := r.fs.Resolve(in.Path)
	if err != nil {
		return tools.Plan{}, trouble(in.Path, err)
	}
	at := tools.Location{Path: real}
	if in.Offset != nil && in.ByteOffset == nil {
		at.Line = int(max(*in.Offset, 1))
	}
	return tools.Plan{
		Title:     tools.Line(in.Path, tools.MaxTitle),
		Locations: []tools.Location{at},
		Caution:   caution(in.Path, real),
	}, nil
}

func (r *reader) run(ctx context.Context, in readInput, _ tools.Call) (tools.Result, error) {
	info, err := r.fs.Stat(ctx, in.Path)
	if err != nil {
		return told(trouble(in.Path, err))
	}
	if info.IsDir() {
		return tools.Failf("%s is a directory; list its files with glob, with this path and the pattern *",
			tools.Line(in.Path, maxName)), nil
	}
	if !info.Mode().IsRegular() {
		return told(trouble(in.Path, ErrSpecial))
	}
	src, err := r.open(ctx, in.Path, info)
	if err != nil {
		return told(trouble(in.Path, err))
	}
	res, err := src.show(ctx, in)
	if err = errors.Join(err, src.Close()); err != nil {
		return told(trouble(in.Path, err))
	}
	return res, nil
}

// A source is an open file on its way to the model.
type source struct {
	io.ReadSeeker
	io.Closer
	size   int64 // bytes of the file
	whole  []byte
	coding coding
}

// open returns the file at name: as the user sees it if it is of a size that
// can be read whole, and else from the disk.
func (r *reader) open(ctx context.Context, name string, info fs.FileInfo) (*source, error) {
	if info.Size() <= maxWhole {
		src, err := r.openWhole(ctx, name)
		if !errors.Is(err, ErrTooLarge) { // it may have grown since
			return src, err
		}
	}
	file, err := r.fs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, file.Close())
	}
	return &source{file, file, info.Size(), nil, codingOf(head[:n])}, nil
}

func (r *reader) openWhole(ctx context.Context, name string) (*source, error) {
	real, err := r.fs.Resolve(name)
	if err != nil {
		return nil, err
	}
	data, err := r.fs.ReadFile(ctx, name, maxWhole)
	if err != nil {
		return nil, err
	}
	r.seen.Record(real, data)
	return &source{bytes.NewReader(data), io.NopCloser(nil), int64(len(data)), data, codingOf(data)}, nil
}

func (s *source) show(ctx context.Context, in readInput) (tools.Result, error) {
	if s.coding == binary {
		return s.showBinary(in.Path)
	}
	if _, err := s.Seek(int64(len(s.coding.mark())), io.SeekStart); err != nil {
		return tools.Result{}, err
	}
	if in.ByteOffset != nil {
		return s.showBytes(ctx, *in.ByteOffset, in.ByteLimit)
	}
	return s.showLines(ctx, in.Offset, in.Limit)
}

// showBinary shows an image to the model, and of anything else what it is.
func (s *source) showBinary(name string) (tools.Result, error) {
	shown := tools.Line(name, maxName)
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return tools.Result{}, err
	}
	head := make([]byte, sniffedImage)
	n, err := io.ReadFull(s, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return tools.Result{}, err
	}
	mime := imageType(head[:n])
	if mime == "" {
		return tools.Result{Text: fmt.Sprintf("(%s is a binary file of %d bytes; it is not shown)", shown, s.size)}, nil
	}
	if s.whole == nil || s.size > maxImage {
		return tools.Failf("%s is an image of %d bytes; at most %d can be looked at: make a smaller copy first", shown, s.size, maxImage), nil
	}
	return tools.Result{
		Text:   fmt.Sprintf("(%s, an image, %s, of %d bytes)", shown, mime, s.size),
		Images: []tools.Image{{MIME: mime, Data: s.whole}},
	}, nil
}

// imageType returns the MIME type of an image that models look at, and "" for
// anything else.
func imageType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case bytes.HasPrefix(head, []byte("RIFF")) && bytes.HasSuffix(head, []byte("WEBP")):
		return "image/webp"
	}
	return ""
}
