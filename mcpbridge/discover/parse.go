package discover

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of a file, so that one that somebody else has made costs little.
const (
	maxFile    = 32 << 20 // bytes; some programs keep their whole state beside the servers
	maxProject = 1 << 20  // bytes of a file that came with a workspace
	maxServers = 256
)

// ProjectFile is the file in which a workspace declares servers.
const ProjectFile = ".mcp.json"

// Read reads the servers that a file of the user declares, in its order. The error is a
// [*FileError] of one line.
func Read(path string, v Vars) (Source, []Warning, error) {
	data, err := readFile(path, maxFile)
	if err != nil {
		return Source{}, nil, err
	}
	entries, warnings, err := Parse(path, data, v)
	return Source{Entries: entries}, warnings, err
}

// ReadProject is [Read] for the file of the workspace of v; where there is none it has
// no servers. What a file says of permissions is told to have no effect: the workspace
// is not the one to give them.
func ReadProject(v Vars) (Source, []Warning, error) {
	path := filepath.Join(v.Workspace, ProjectFile)
	data, err := readFile(path, maxProject)
	if errors.Is(err, fs.ErrNotExist) {
		return Source{Project: true}, nil, nil
	}
	if err != nil {
		return Source{Project: true}, nil, err
	}
	entries, warnings, err := Parse(path, data, v)
	return Source{Entries: entries, Project: true}, warnings, err
}

// readFile reads a regular file of at most limit bytes: a pipe would be waited for.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > limit) {
		return nil, &FileError{path, 0, fmt.Errorf("is no file of at most %d MiB", limit>>20)}
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // the path is told beside it
	}
	if err != nil {
		return nil, &FileError{path, 0, err}
	}
	return data, nil
}

// Parse reads the content of a file. The end of its name and the keys in it tell whose
// dialect it is: mcpServers as most programs write it, servers of VS Code,
// context_servers of Zed, mcp of opencode and crush, mcp_servers of Codex.
func Parse(file string, data []byte, v Vars) ([]Entry, []Warning, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	p := parser{file: file, seen: make(map[string]int), gemini: gemini(file)}
	var all []raw
	var err error
	switch strings.ToLower(filepath.Ext(file)) {
	case ".toml":
		all, err = parseTOML(file, data)
	case ".yaml", ".yml":
		err = &FileError{file, 0, errors.New("YAML is not read; declare the servers in config.toml, or in a file of JSON")}
	default:
		all, err = parseJSON(file, data, v.Workspace)
	}
	if err != nil {
		return nil, nil, err
	}
	if all == nil && len(bytes.TrimSpace(data)) > 0 {
		p.warnings = append(p.warnings, Warning{File: file, Text: `declares no servers; they stand under "mcpServers"`})
	}
	if len(all) > maxServers {
		p.warnings = append(p.warnings, Warning{File: file, Text: fmt.Sprintf("declares %d servers; the first %d count", len(all), maxServers)})
		all = all[:maxServers]
	}
	for _, r := range all {
		p.add(r)
	}
	return p.entries, p.warnings, nil
}

// gemini reports whether a file is of a program that means with url alone what others
// mean with url and the type sse.
func gemini(file string) bool {
	dir := filepath.Base(filepath.Dir(file))
	return filepath.Base(file) == "settings.json" && (dir == ".gemini" || dir == ".qwen")
}

// A raw server is the declaration of one, as the format of its file has it.
type raw struct {
	name   string
	line   int
	fields map[string]any // nil is no object
}

// A parser makes entries of raw servers.
type parser struct {
	file     string
	gemini   bool
	seen     map[string]int // line of each name
	entries  []Entry
	warnings []Warning
}

// of says of which server a text is.
func of(name, text string) string { return line("server %.100q: %s", name, text) }

// add reads r. The first of two with one name counts, as it does between files.
func (p *parser) add(r raw) {
	if line, ok := p.seen[r.name]; ok {
		text := fmt.Sprintf("is declared in line %d already and has no effect here; give it another name", line)
		p.warnings = append(p.warnings, Warning{File: p.file, Line: r.line, Text: of(r.name, text)})
		return
	}
	p.seen[r.name] = r.line
	f := &fields{values: r.fields}
	e := p.entry(r, f)
	for _, w := range f.warnings {
		w.File, w.Line, w.Text = p.file, r.line, of(r.name, w.Text)
		p.warnings = append(p.warnings, w)
	}
	p.entries = append(p.entries, e)
}
