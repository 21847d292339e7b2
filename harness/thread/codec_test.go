package thread_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

var update = flag.Bool("update", false, "write testdata anew")

// full returns a body of each kind with something in every field.
func full() []thread.Body {
	var out []thread.Body
	for _, b := range written() {
		same := func(o thread.Body) bool { return reflect.TypeOf(o) == reflect.TypeOf(b) }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i] = b
			continue
		}
		out = append(out, b)
	}
	return out
}

// fullOf returns the body of full() of a kind.
func fullOf[B thread.Body]() B {
	bodies := full()
	i := slices.IndexFunc(bodies, func(b thread.Body) bool { _, ok := b.(B); return ok })
	return bodies[i].(B)
}

// written returns the bodies whose stored forms testdata holds: of each kind
// those that earlier programs knew, and the last with something in every field.
func written() []thread.Body {
	return slices.Concat(earlier(), later(), latest(), newest(), served())
}

// served are the forms that have come to those of newest, with MCP servers.
func served() []thread.Body {
	user, result, retried := newest()[0].(thread.User), later()[2].(thread.Result), later()[3].(thread.Retried)
	user.Told, retried.Told = []string{"advice:s:0123", "advice:\xff"}, []string{"advice:s:4567"}
	result.Usage = model.Usage{Input: 5, Output: 4, CacheRead: 3, CacheWrite: 2, Reasoning: 1, Known: true}
	return []thread.Body{user, result, retried}
}

// newest are the forms that have come to those of latest.
func newest() []thread.Body {
	user, answer := latest()[0].(thread.User), earlier()[3].(thread.Assistant)
	user.Sent = slices.Clone(user.Sent)
	user.Sent[1].Name = "a <b> \xff.png"
	answer.Parts = append(answer.Parts,
		thread.Part{ID: "m4", Text: "sealed", Signed: &thread.Signed{Provider: "p/m", Content: json.RawMessage(`{ "phase": "<x>" }`)}},
		thread.Part{Signed: &thread.Signed{Provider: "p/m", Content: json.RawMessage(`"s"`)}})
	return []thread.Body{user, answer}
}

// latest are the forms that have come to those of later.
func latest() []thread.Body {
	user := later()[1].(thread.User)
	user.Blocks = append(user.Blocks, event.Block{URI: "file:///empty", MIME: "text/plain", Embedded: true})
	return []thread.Body{user}
}

// later are the forms that have come to those of earlier.
func later() []thread.Body {
	attached := []thread.Attached{
		{Key: "document:0123456789abcdef", Name: "a | b.go", URI: "file:///a.go", Type: "text/x-go"},
		{Key: "resource:0123456789ab", Name: "c\xff", URI: "https://example.com/"},
	}
	user, result := earlier()[2].(thread.User), earlier()[4].(thread.Result)
	user.Attached = attached
	result.Answers = []tools.Answer{{Question: "Which?", Chosen: []string{"this", "that"}}, {Question: "And \xff?"}}
	result.Told = []string{"/w/a/AGENTS.md", "/w/\xff/AGENTS.md"}
	return []thread.Body{
		thread.Bound{Project: "p", Workspace: "w"},
		user, result,
		thread.Retried{
			User:     5,
			Sent:     []thread.Part{{Text: "look"}, {Image: &tools.Image{MIME: "image/png"}}, {Image: &tools.Image{MIME: "image/gif", Data: []byte("gif")}}},
			Attached: attached,
		},
	}
}

// earlier are the forms of the first programs.
func earlier() []thread.Body {
	old, empty := "before", ""
	picture := []byte{0x89, 'P', 'N', 'G', 0, 255}
	return []thread.Body{
		thread.Created{Cwd: "/w", Roots: []string{"/x", "/bytes\xff"}, Parent: "p"},
		thread.Moved{Cwd: "/v", Roots: []string{"/y"}},
		thread.User{
			MessageID: "m1",
			Blocks: []event.Block{
				{Text: "look <at> \u2028 this\x00"},
				{MIME: "image/png", Data: picture},
				{Text: "package a", MIME: "text/x-go", Name: "a.go", URI: "file:///a.go"},
			},
			Sent: []thread.Part{
				{Text: "look"}, {Image: &tools.Image{MIME: "image/png", Data: picture}},
				{Image: &tools.Image{MIME: "image/gif", Data: picture}}, {Text: "broken \xe4\xf6"},
			},
		},
		thread.Assistant{
			MessageID: "m2",
			Parts: []thread.Part{
				{ID: "m2", Reasoning: &thread.Reasoning{Text: "hm", Provider: "p/m", Signature: "s=", Redacted: "r", Field: "f"}},
				{ID: "m3", Text: "yes & no"},
				{Call: &thread.Call{
					ID: "c1", WireID: "w1", Name: "read", Args: `{"n": 12345678901234567890, "half`,
					Provider: "p/m", Extra: json.RawMessage(`{ "sig": "<x>" }`),
				}},
			},
			Usage: model.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Known: true},
			Stop:  model.StopTools, Model: "p/m", Partial: true, Void: true, Meta: json.RawMessage(`{"sources":[{"n":1}]}`),
		},
		thread.Result{
			CallID: "c1", Text: "two lines\nof text", IsError: true, Images: []tools.Image{{MIME: "image/gif", Data: []byte("gif")}},
			Shown: event.ToolCall{
				ID: "c1", New: true, Name: "read", Title: "Read a.go", Kind: tools.KindRead, Status: event.Failed,
				Input:     json.RawMessage(`{"n": 12345678901234567890}`),
				Locations: []tools.Location{{Path: "/a.go", Line: 3}, {Path: "/b\xff"}},
				Diffs: []tools.Diff{
					{Path: "/a.go", Old: &old, New: "after"}, {Path: "/b.go", New: "new"}, {Path: "/c.go", Old: &empty},
				},
				Text:   "two lines",
				Output: json.RawMessage(`{"big": 9007199254740993.10}`), Meta: json.RawMessage(`{"mcpTool":"x"}`),
			},
		},
		thread.Note{Text: "answer now"},
		thread.Withdrawn{},
		thread.Retried{User: 1<<53 + 1},
		thread.Archived{On: true},
		thread.Options{Values: map[string]string{"mode": "auto", "model": "p/m"}},
		thread.Title{Text: "A title", User: true},
	}
}

func TestCodecKeepsBodies(t *testing.T) {
	bodies := full()
	for _, b := range full() {
		bodies = append(bodies, reflect.Zero(reflect.TypeOf(b)).Interface().(thread.Body))
	}
	same := fullOf[thread.Result]()
	same.Shown.Text = same.Text
	bodies = append(bodies, same)
	for _, b := range bodies {
		t.Run(fmt.Sprintf("%T", b), func(t *testing.T) {
			kind, data, err := thread.Encode(b)
			if err != nil {
				t.Fatal(err)
			}
			got, err := thread.Decode(kind, data)
			if err != nil {
				t.Fatalf("Decode(%q, %s): %v", kind, data, err)
			}
			if diff := cmp.Diff(b, got); diff != "" {
				t.Errorf("stored as %s\n(-want +got):\n%s", data, diff)
			}
		})
	}
}

// A body that has no case in the codec would be lost with its first thread.
func TestCodecKnowsEveryBody(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "isBody" {
				want = append(want, "thread."+f.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	var got []string
	for _, b := range full() {
		got = append(got, fmt.Sprintf("%T", b))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the bodies of full() are %q, those of the package %q", got, want)
	}
}

// Every field of every body is set in full(), so that none is left out unseen.
func TestCodecTestsEveryField(t *testing.T) {
	for _, b := range full() {
		v := reflect.ValueOf(b)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%T: field %s is zero", b, v.Type().Field(i).Name)
			}
		}
	}
	parts := slices.Concat(fullOf[thread.User]().Sent, fullOf[thread.Assistant]().Parts)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[thread.Part]()) {
		set := func(p thread.Part) bool { return !reflect.ValueOf(p).FieldByIndex(f.Index).IsZero() }
		if !slices.ContainsFunc(parts, set) {
			t.Errorf("no part has a %s", f.Name)
		}
	}
	shown := reflect.ValueOf(fullOf[thread.Result]().Shown)
	for i := range shown.NumField() {
		name := shown.Type().Field(i).Name
		if shown.Field(i).IsZero() && name != "Images" { // which are those of the result
			t.Errorf("ToolCall: field %s is zero", name)
		}
	}
}

// Databases hold what earlier programs wrote: a line of this file is never
// changed, and a new form is a new line.
func TestCodecReadsWhatWasWritten(t *testing.T) {
	const name = "testdata/bodies.txt"
	if *update {
		var b bytes.Buffer
		for _, body := range written() {
			kind, data, err := thread.Encode(body)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s %s\n", kind, data)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines, want := strings.Split(strings.TrimSpace(string(data)), "\n"), written()
	if len(lines) != len(want) {
		t.Fatalf("%d lines in %s, want %d", len(lines), name, len(want))
	}
	for i, line := range lines {
		kind, body, _ := strings.Cut(line, " ")
		got, err := thread.Decode(kind, []byte(body))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", line, diff)
		}
		if k, again, err := thread.Encode(got); err != nil || k != kind || string(again) != body {
			t.Errorf("written today as %s %s (%v)\nwant %s", k, again, err, line)
		}
	}
}

func TestCodecKeepsAPictureOnce(t *testing.T) {
	picture := bytes.Repeat([]byte("picture "), 1000)
	u := thread.User{
		Blocks: []event.Block{{Text: "a"}, {MIME: "image/png", Data: picture}},
		Sent:   []thread.Part{{Image: &tools.Image{MIME: "image/png", Data: picture}}},
	}
	_, data, err := thread.Encode(u)
	if err != nil {
		t.Fatal(err)
	}
	if most := len(picture)*4/3 + 200; len(data) > most {
		t.Errorf("%d bytes, want at most %d", len(data), most)
	}
}

func TestCodecTurnsOutputIntoJSON(t *testing.T) {
	tests := []struct {
		output any
		want   any
	}{
		{nil, nil},
		{map[string]any{"n": json.Number("12345678901234567890")}, json.RawMessage(`{"n":12345678901234567890}`)},
		{"<text>", json.RawMessage(`"<text>"`)},
		{json.RawMessage(`[ 1 ]`), json.RawMessage(`[ 1 ]`)},
	}
	for _, tt := range tests {
		kind, data, err := thread.Encode(thread.Result{Shown: event.ToolCall{Output: tt.output}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := thread.Decode(kind, data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.(thread.Result).Shown.Output); diff != "" {
			t.Errorf("Output %v (-want +got):\n%s", tt.output, diff)
		}
	}
	if _, _, err := thread.Encode(thread.Result{Shown: event.ToolCall{Output: func() {}}}); err == nil {
		t.Error("a function was stored")
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ kind, data, want string }{
		{"note", `{"text":`, "unexpected end"},
		{"note", `null`, "no object"},
		{"note", `{"text":5}`, "cannot unmarshal number"},
		{"note", `{"text":{"base64":"?"}}`, "illegal base64"},
		{"user", `{"blocks":[{"text":"a"}],"sent":[{"image":{"block":1}}]}`, "picture of block 1 of 1"},
		{"user", `{"sent":[{"image":{"block":-1}}]}`, "picture of block -1 of 0"},
	}
	for _, tt := range tests {
		b, err := thread.Decode(tt.kind, []byte(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Decode(%s, %s) = %v, %v; want an error with %q", tt.kind, tt.data, b, err, tt.want)
		}
	}
	_, err := thread.Decode("poem", []byte(`{}`))
	if k, ok := errors.AsType[*thread.KindError](err); !ok || k.Kind != "poem" {
		t.Errorf("error = %v, want a KindError of poem", err)
	}
}

func TestInfoIsKept(t *testing.T) {
	want := thread.Info{
		ID: "a", Mark: "m", Cwd: "/w\xff", Roots: []string{"/x"}, Project: "p", Bound: "b\xff", Title: "t\x00", Named: true, Options: map[string]string{"mode": "ask"},
		Created: time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC), Updated: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC),
		Archived: true, Parent: "p", Last: 9, User: 7, Messages: 3, Revision: 2, Retried: 8, Replaced: []thread.Span{{From: 2, To: 4}},
	}
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("field %s is not tested", v.Type().Field(i).Name)
		}
	}
	data, err := thread.EncodeInfo(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := thread.DecodeInfo(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored as %s\n(-want +got):\n%s", data, diff)
	}
	if _, err := thread.DecodeInfo([]byte("{")); err == nil {
		t.Error("half an object was read")
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range written() {
		kind, data, err := thread.Encode(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind, data)
	}
	f.Add("user", []byte(`{"blocks":[{"data":"AA=="}],"sent":[{"image":{"block":0}},{"image":{"block":7}}]}`))
	f.Add("note", []byte(`{"text":{"base64":"/w=="}}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		b, err := thread.Decode(kind, data)
		if err != nil {
			return
		}
		again, stored, err := thread.Encode(b)
		if err != nil {
			t.Fatalf("%#v was read and cannot be stored: %v", b, err)
		}
		got, err := thread.Decode(again, stored)
		if err != nil {
			t.Fatalf("stored as %s, which cannot be read: %v", stored, err)
		}
		_, twice, err := thread.Encode(got)
		if err != nil || !bytes.Equal(stored, twice) || again != kind {
			t.Errorf("%s %s became %s, then %s (%v)", kind, data, stored, twice, err)
		}
	})
}
