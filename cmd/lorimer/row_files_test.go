//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// step is a line of a script: an answer that makes one call.
func step(tool string, args object) string {
	p, err := json.Marshal(object{"tools": []any{object{"name": tool, "args": args}}})
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(p)
}

// steps is a script that makes the calls one after the other, then says "done".
func steps(calls ...string) string {
	return strings.Join(append(calls, `{"text": "done"}`), "\n")
}

// A toolResult is what the model was given for a call.
type toolResult struct {
	Type, Name, Text string
	IsError          bool `json:"is_error"`
}

// results returns what the newest request of a session says of its calls, in
// their order.
func (e *editor) results(session string) []toolResult {
	e.t.Helper()
	type request struct {
		Session  string
		Messages []struct{ Parts []toolResult }
	}
	all := decoded(e, "model", func(r request) bool { return r.Session == session })
	if len(all) == 0 {
		e.t.Fatalf("no request of session %q was traced", session)
	}
	var results []toolResult
	for _, m := range all[len(all)-1].Messages {
		for _, p := range m.Parts {
			if p.Type == "tool_result" {
				results = append(results, p)
			}
		}
	}
	return results
}

// seed writes a file into the workspace and returns its path.
func (e *editor) seed(name, content string) string {
	e.t.Helper()
	path := filepath.Join(e.cwd, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		e.t.Fatal(err)
	}
	return path
}

// disk returns what a file of the workspace holds, or "-" if there is none.
func (e *editor) disk(name string) string {
	e.t.Helper()
	p, err := os.ReadFile(filepath.Join(e.cwd, name))
	if os.IsNotExist(err) {
		return "-"
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return string(p)
}

// outside makes a directory with the file f beside the workspace, and the links
// "out" to it, "file" to its file and "later" to a file that it does not have.
func (e *editor) outside() (dir string) {
	e.t.Helper()
	dir = filepath.Dir(e.file("outside/f", "secret of another\n"))
	for name, target := range map[string]string{"out": dir, "file": filepath.Join(dir, "f"), "later": filepath.Join(dir, "new")} {
		if err := os.Symlink(target, filepath.Join(e.cwd, name)); err != nil {
			e.t.Fatal(err)
		}
	}
	return dir
}

// Row 38 (R-HARN-09): a script writes, edits, reads and runs in its directory,
// with tools that are there on every send.
func TestRow038Workspace(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(
		step("write", object{"path": "notes/a.txt", "content": "one\ntwo\nthree\n"}),
		step("edit", object{"path": "notes/a.txt", "edits": []any{object{"old": "two", "new": "2"}, object{"old": "three\n", "new": ""}}}),
		step("read", object{"path": "notes/a.txt"}),
	)+"\n"+steps(step("bash", object{"command": "pwd; cat notes/a.txt"})), "--mode", "auto")
	s := e.open(nil)
	for range 2 {
		if stop := e.prompt(s, "go"); stop != "end_turn" {
			t.Fatalf("stop reason = %s, want end_turn", stop)
		}
	}
	if got := e.disk("notes/a.txt"); got != "one\n2\n" {
		t.Errorf("the file holds %q, want its two lines", got)
	}
	got := e.results(s)
	if len(got) != 4 {
		t.Fatalf("%d results, want 4: %v", len(got), got)
	}
	real, err := filepath.EvalSymlinks(e.cwd)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"notes/a.txt", "notes/a.txt", "1\tone\n2\t2\n", real + "\none\n2\n"} {
		if got[i].IsError || !strings.Contains(got[i].Text, want) {
			t.Errorf("result %d = %+v, want %q in it", i, got[i], want)
		}
	}
	for i, r := range e.requests(s) {
		if diff := cmp.Diff(allTools(), slices.Sorted(slices.Values(r.Tools))); diff != "" {
			t.Errorf("tools of request %d (-want +got):\n%s", i, diff)
		}
	}
}

// Row 38 (R-HARN-12) and C071 to C073: nothing outside the workspace is reached,
// by dots, by an absolute path or by a link, also in the mode that asks nothing.
func TestRow038Jail(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	dir := e.outside()
	e.seed("sub/in.txt", "inside\n")
	if err := os.Symlink("sub", filepath.Join(e.cwd, "alias")); err != nil {
		t.Fatal(err)
	}
	content := object{"content": "mine\n"}
	change := object{"edits": []any{object{"old": "secret", "new": "mine"}}}
	at := func(path string, more object) object {
		args := object{"path": path}
		for k, v := range more {
			args[k] = v
		}
		return args
	}
	inside := []string{step("read", at("alias/in.txt", nil)), step("write", at("alias/new.txt", content)), step("read", at(filepath.Join(e.cwd, "sub/../sub/in.txt"), nil))}
	var leaving []string
	for _, path := range []string{"../x", "sub/../../x", filepath.Join(dir, "f"), "out/f", "file", "out/../x", "later", "sub/../out/new/deep", "/etc/hostname"} {
		leaving = append(leaving, step("read", at(path, nil)), step("write", at(path, content)), step("edit", at(path, change)))
	}
	leaving = append(leaving, step("grep", object{"pattern": "secret", "path": "out"}), step("glob", object{"pattern": "*", "path": "out"}),
		step("glob", object{"pattern": "../*"}))
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(append(inside, leaving...)...)))
	s := e.open(nil)
	if stop := e.prompt(s, "go"); stop != "end_turn" {
		t.Fatalf("stop reason = %s, want end_turn", stop)
	}
	got := e.results(s)
	if len(got) != len(inside)+len(leaving) {
		t.Fatalf("%d results, want %d", len(got), len(inside)+len(leaving))
	}
	for i, r := range got {
		if wantError := i >= len(inside); r.IsError != wantError {
			t.Errorf("call %s gave %+v, want an error: %v", append(inside, leaving...)[i], r, wantError)
		}
		if strings.Contains(r.Text, "secret of another") {
			t.Errorf("%s shows a file outside: %q", r.Name, r.Text)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "f")); len(files) != 1 || string(got) != "secret of another\n" {
		t.Errorf("outside there are %v and f holds %q, want f as it was", files, got)
	}
	if got := e.disk("sub/new.txt"); got != "mine\n" {
		t.Errorf("a file written through a link inside holds %q", got)
	}
}

// wants returns the methods, below one of the prefixes, that the agent has
// called of the editor, each with the path it named.
func (e *editor) wants(prefixes ...string) []string {
	var all []string
	for _, f := range e.heard() {
		var p struct{ Path string }
		if f.ID == nil || !slices.ContainsFunc(prefixes, func(pre string) bool { return strings.HasPrefix(f.Method, pre) }) {
			continue
		}
		if err := json.Unmarshal(f.Params, &p); err != nil {
			e.t.Fatal(err)
		}
		rel, err := filepath.Rel(e.cwd, p.Path)
		if err != nil {
			rel = p.Path
		}
		all = append(all, f.Method+" "+rel)
	}
	return all
}

// buffers lets the editor serve its own files: what is unsaved, and writes that
// end on the disk.
func (e *editor) buffers(unsaved map[string]string) {
	e.on("fs/read_text_file", func(params json.RawMessage) (any, *rpcError) {
		var p struct{ Path string }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, &rpcError{Code: -32602, Message: err.Error()}
		}
		if text, ok := unsaved[filepath.Base(p.Path)]; ok {
			return object{"content": text}, nil
		}
		text, err := os.ReadFile(p.Path)
		if err != nil {
			return nil, &rpcError{Code: -32002, Message: err.Error()}
		}
		return object{"content": string(text)}, nil
	})
	e.on("fs/write_text_file", func(params json.RawMessage) (any, *rpcError) {
		var p struct{ Path, Content string }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, &rpcError{Code: -32602, Message: err.Error()}
		}
		if err := os.WriteFile(p.Path, []byte(p.Content), 0o600); err != nil {
			return nil, &rpcError{Code: -32603, Message: err.Error()}
		}
		return object{}, nil
	})
}

func fsCapabilities(read, write bool) object {
	return object{"fs": object{"readTextFile": read, "writeTextFile": write}, "terminal": true}
}

// Row 185 (R-ACP-43): unsaved text is read and edited, written text goes through
// the editor, and what it would damage does not.
func TestRow185EditorsFiles(t *testing.T) {
	t.Parallel()
	const foreign = "\xef\xbb\xbfhéllo\n"
	e := newEditor(t)
	e.outside()
	e.seed("open.txt", "saved\n")
	e.seed("closed.txt", "closed\n")
	e.seed("bom.txt", foreign)
	e.buffers(map[string]string{"open.txt": "unsaved\n"})
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(
		step("read", object{"path": "open.txt"}),
		step("edit", object{"path": "open.txt", "edits": []any{object{"old": "unsaved", "new": "edited"}}}),
		step("write", object{"path": "fresh.txt", "content": "fresh\n"}),
		step("edit", object{"path": "bom.txt", "edits": []any{object{"old": "llo", "new": "y"}}}),
		step("read", object{"path": "../open.txt"}),
		step("write", object{"path": "out/new.txt", "content": "x"}),
		step("bash", object{"command": "cat closed.txt"}),
	)))
	s := e.open(fsCapabilities(true, true))
	if stop := e.prompt(s, "go"); stop != "end_turn" {
		t.Fatalf("stop reason = %s, want end_turn", stop)
	}
	got := e.results(s)
	if len(got) != 7 {
		t.Fatalf("%d results, want 7: %v", len(got), got)
	}
	for i, want := range []struct {
		text  string
		fails bool
	}{{"unsaved", false}, {"open.txt", false}, {"fresh.txt", false}, {"bom.txt", false}, {"outside", true}, {"outside", true}, {"closed", false}} {
		if got[i].IsError != want.fails || !strings.Contains(got[i].Text, want.text) {
			t.Errorf("result %d = %+v, want %+v", i, got[i], want)
		}
	}
	want := map[string]string{"open.txt": "edited\n", "fresh.txt": "fresh\n", "bom.txt": "\xef\xbb\xbfhéy\n", "closed.txt": "closed\n"}
	for name, text := range want {
		if got := e.disk(name); got != text {
			t.Errorf("%s holds %q, want %q", name, got, text)
		}
	}
	asked := e.wants("fs/", "terminal/")
	for _, w := range []string{"fs/read_text_file open.txt", "fs/write_text_file open.txt", "fs/write_text_file fresh.txt"} {
		if !slices.Contains(asked, w) {
			t.Errorf("the editor was asked for %q, want %s too", asked, w)
		}
	}
	for _, a := range asked {
		if a == "fs/write_text_file bom.txt" || strings.HasPrefix(a, "terminal/") || strings.Contains(a, "..") || strings.Contains(a, "out/") {
			t.Errorf("the editor was asked for %s", a)
		}
	}
}

// Row 185: an editor that fails, or that writes something else, changes nothing
// about what ends on the disk.
func TestRow185EditorThatFails(t *testing.T) {
	t.Parallel()
	tests := map[string]func(json.RawMessage) (any, *rpcError){
		"an error": func(json.RawMessage) (any, *rpcError) { return nil, &rpcError{Code: -32603, Message: "disk full"} },
		"other bytes": func(params json.RawMessage) (any, *rpcError) {
			var p struct{ Path, Content string }
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, &rpcError{Code: -32602, Message: err.Error()}
			}
			if err := os.WriteFile(p.Path, []byte(strings.ReplaceAll(p.Content, "\n", "\r\n")), 0o600); err != nil {
				return nil, &rpcError{Code: -32603, Message: err.Error()}
			}
			return object{}, nil
		},
		"nothing": func(json.RawMessage) (any, *rpcError) { return object{}, nil },
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.seed("a.txt", "one\ntwo\n")
			e.on("fs/read_text_file", func(json.RawMessage) (any, *rpcError) { return nil, &rpcError{Code: -32603, Message: "no buffer"} })
			e.on("fs/write_text_file", write)
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(
				step("read", object{"path": "a.txt"}),
				step("edit", object{"path": "a.txt", "edits": []any{object{"old": "two", "new": "2"}}}),
			)))
			s := e.open(fsCapabilities(true, true))
			e.prompt(s, "go")
			got := e.results(s)
			if len(got) != 2 || got[0].IsError || got[1].IsError || !strings.Contains(got[0].Text, "two") {
				t.Errorf("results = %+v, want what is on the disk, and an edit", got)
			}
			if text := e.disk("a.txt"); text != "one\n2\n" {
				t.Errorf("the file holds %q, want the edit as it was asked for", text)
			}
		})
	}
}

// Row 185 and C020: what an editor did not offer is not called.
func TestRow185NotOffered(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		capabilities object
		want         []string // beginnings of what is called
	}{
		{"nothing", object{}, nil},
		{"null", nil, nil},
		{"a terminal", object{"terminal": true}, nil},
		{"reading", fsCapabilities(true, false), []string{"fs/read_text_file"}},
		{"writing", fsCapabilities(false, true), []string{"fs/write_text_file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.seed("a.txt", "saved\n")
			e.buffers(map[string]string{"a.txt": "unsaved\n"})
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(
				step("read", object{"path": "a.txt"}),
				step("write", object{"path": "b.txt", "content": "b\n"}),
				step("bash", object{"command": "cat b.txt"}),
			)))
			s := e.open(tt.capabilities)
			e.prompt(s, "go")
			var called []string
			for _, w := range e.wants("fs/", "terminal/") {
				method, _, _ := strings.Cut(w, " ")
				if !slices.Contains(called, method) {
					called = append(called, method)
				}
			}
			if diff := cmp.Diff(tt.want, called); diff != "" {
				t.Errorf("called (-want +got):\n%s", diff)
			}
			text := "saved"
			if slices.Contains(tt.want, "fs/read_text_file") {
				text = "unsaved"
			}
			got := e.results(s)
			if len(got) != 3 || got[0].Text != "1\t"+text+"\n" || !strings.HasPrefix(got[2].Text, "b\n") || e.disk("b.txt") != "b\n" {
				t.Errorf("results = %+v, want %s and a file written", got, text)
			}
		})
	}
}
