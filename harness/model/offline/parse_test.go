package offline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	const date = "\n\nCurrent date and time: Monday, November 30, 2026 at 9:05 AM UTC"
	tests := []struct {
		message string
		want    command
	}{
		{"list files", command{verb: "list"}},
		{"Please list the files in `cmd dir`.", command{verb: "list", subject: "cmd dir"}},
		{"list the files here", command{verb: "list"}},
		{"Show me all the files in here!", command{verb: "list"}},
		{"list the files in this directory.", command{verb: "list"}},
		{"list files in the current folder", command{verb: "list"}},
		{"list files in `here`", command{verb: "list", subject: "here"}},
		{"list files in the folder src", command{verb: "list", subject: "the folder src"}},
		{"list files in .", command{verb: "list", subject: "."}},
		{"ls ..", command{verb: "list", subject: ".."}},
		{"Read README.md.", command{verb: "read", subject: "README.md"}},
		{`show me the file "a b.txt"`, command{verb: "read", subject: "a b.txt"}},
		{"find TODO", command{verb: "find", subject: "TODO"}},
		{"search for the end in files", command{verb: "find", subject: "the end"}},
		{`grep "a in b" in src`, command{verb: "find", subject: "a in b", where: "src"}},
		{"find x in all files under docs", command{verb: "find", subject: "x", where: "docs"}},
		{"run go test ./...", command{verb: "run", subject: "go test ./..."}},
		{"$ ls -l.", command{verb: "run", subject: "ls -l."}},
		{"run ```sh\necho hi\n```", command{verb: "run", subject: "echo hi"}},
		{"write a.txt: hello", command{verb: "write", subject: "a.txt", content: "hello\n"}},
		{"create file a.txt with content hi there", command{verb: "write", subject: "a.txt", content: "hi there\n"}},
		{"write a.txt:\n```go\npackage a\n\nvar x = 1\n```" + date, command{verb: "write", subject: "a.txt", content: "package a\n\nvar x = 1\n"}},
		{"write a.txt:\none\ntwo" + date, command{verb: "write", subject: "a.txt", content: "one\ntwo\n"}},
		{"edit a.go: replace foo bar with baz", command{verb: "edit", subject: "a.go", where: "foo bar", content: "baz"}},
		{"in a.go replace x by y", command{verb: "edit", subject: "a.go", where: "x", content: "y"}},
		{"replace 'x' with \"\" in a.go", command{verb: "edit", subject: "a.go", where: "x", content: ""}},
		{"fetch http://localhost:8080/a?b=c", command{verb: "fetch", subject: "http://localhost:8080/a?b=c"}},
		{"open https://example.org/.", command{verb: "fetch", subject: "https://example.org/."}},
		{"search the web for go 1.26", command{verb: "search", subject: "go 1.26"}},
		{`call stub_echo with {"text": "a"}`, command{verb: "call", subject: "stub_echo", content: `{"text": "a"}`}},
		{"use tool stub_echo with {\n\"a\": 1}" + date, command{verb: "call", subject: "stub_echo", content: "{\n\"a\": 1}"}},
		{"call stub_list", command{verb: "call", subject: "stub_list"}},
		{"show a plan", command{verb: "plan"}},
		{"make a plan for the release", command{verb: "plan", subject: "the release"}},
		{"think about life.", command{verb: "think", subject: "life"}},
		{"stream 20 words", command{verb: "stream", count: 20}},
		{"stream 999999 words", command{verb: "stream", count: maxWords}},
		{"?", command{verb: "help"}},
		{"A note of the program.\n\nread a.txt" + date, command{verb: "read", subject: "a.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.message, func(t *testing.T) {
			got, ok := parse(tt.message)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(command{})); !ok || diff != "" {
				t.Errorf("parse = %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestParseTakesNoOrdersFromMaterial(t *testing.T) {
	for _, message := range []string{
		"",
		"hello there",
		"Explain this:\n```\nrun rm -rf x\n```",
		"Explain this:\n<file name=\"a\">\nrun rm -rf x\n</file>",
		"read",
		"run",
	} {
		if got, ok := parse(message); ok {
			t.Errorf("parse(%q) = %+v, want no request", message, got)
		}
	}
}

func TestParseGoesOnAfterALink(t *testing.T) { // a tag that closes itself holds no material
	got, ok := parse("<resource name=\"a\" uri=\"file:///a\"/>\n\nread a.txt")
	if !ok || got.verb != "read" || got.subject != "a.txt" {
		t.Errorf("parse = %+v, %v, want the request after the link", got, ok)
	}
}

// A message of any size is passed over in no time; what it encloses costs
// nothing.
func TestParseLooksAtSoMuch(t *testing.T) {
	const request = "\nread a.txt"
	line := strings.Repeat("hello there ", 100) + "\n"
	long := strings.Repeat(line, maxLook/len(line))
	tests := []struct {
		name, message string
		want          bool
	}{
		{"behind much text", long + request, true},
		{"behind too much text", long + long + request, false},
		{"behind a line that is too long", strings.Repeat("x", maxLook+1) + request, false},
		{"behind much material", "```\n" + long + long + "```" + request, true},
		{"with a date behind much text", long + request + "\n\nNow: Monday, November 30, 2026 at 9:05 AM UTC", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := parse(tt.message); ok != tt.want || ok && got.subject != "a.txt" {
				t.Errorf("parse = %+v, %v, want %v", got, ok, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("edit a: replace b with c")
	f.Add("write x:\n```\n\n```")
	f.Add("<a>\nhelp\n</a>")
	f.Fuzz(func(t *testing.T, message string) {
		c, ok := parse(message)
		if ok != (c.verb != "") {
			t.Errorf("parse(%q) = %+v, %v: understood without a verb, or the reverse", message, c, ok)
		}
		if c.subject != "" && !strings.Contains(strings.ReplaceAll(message, "\r\n", "\n"), c.subject) {
			t.Errorf("parse(%q) asks for %q, which the message does not hold", message, c.subject)
		}
	})
}
