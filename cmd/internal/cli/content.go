package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// readContent reads a file, or standard input for "-", of at most limit bytes.
func readContent(ctx context.Context, p Process, name string, limit int64) ([]byte, error) {
	if name == "-" {
		return readInput(ctx, p.Stdin, limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; name the files in it", name)
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("%s has more than %s; choose a part of it", name, size(limit))
	}
	return content, nil
}

// size tells a number of bytes in a round unit.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// mediaType returns the media type of a content by its name, and where that says
// nothing by the content itself. A name that says text is not believed of a content
// that is none.
func mediaType(name string, content []byte) string {
	text := utf8.Valid(content) && !bytes.ContainsRune(content, 0)
	named := typeOf(strings.ToLower(filepath.Ext(name)))
	switch {
	case named == "" && text:
		sniffed, _, _ := strings.Cut(http.DetectContentType(content), ";")
		return sniffed
	case named == "":
		if sniffed, _, _ := strings.Cut(http.DetectContentType(content), ";"); sniffed != "text/plain" {
			return sniffed
		}
		return "application/octet-stream"
	case strings.HasPrefix(named, "text/") && !text:
		return "application/octet-stream"
	}
	return named
}

// typeOf returns what an extension stands for on every machine, "" for others. The
// tables of a system differ from one to the next.
func typeOf(ext string) string {
	switch ext {
	case ".md", ".markdown":
		return "text/markdown"
	case ".txt", ".text", ".log", ".rst", ".adoc", ".org":
		return "text/plain"
	case ".csv":
		return "text/csv"
	case ".tsv":
		return "text/tab-separated-values"
	case ".html", ".htm":
		return "text/html"
	case ".css":
		return "text/css"
	case ".js", ".mjs":
		return "text/javascript"
	case ".json":
		return "application/json"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".toml":
		return "application/toml"
	case ".xml":
		return "application/xml"
	case ".pdf":
		return "application/pdf"
	case ".svg":
		return "image/svg+xml"
	case ".docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case ".xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case ".pptx":
		return "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	case ".odt":
		return "application/vnd.oasis.opendocument.text"
	}
	return ""
}
