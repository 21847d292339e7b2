package edit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/tools/workspace/edit"
)

func TestApply(t *testing.T) {
	one := func(old, text string) []edit.Edit { return []edit.Edit{{Old: old, New: text}} }
	all := func(old, text string) []edit.Edit { return []edit.Edit{{Old: old, New: text, All: true}} }
	tests := []struct {
		name    string
		content string
		edits   []edit.Edit
		want    string
		rule    edit.Rule
	}{
		{"one place", "a b c", one("b", "x"), "a x c", edit.Exact},
		{"whole text", "abc", one("abc", ""), "", edit.Exact},
		{"every place", "a a a", all("a", "bb"), "bb bb bb", edit.Exact},
		{"every place, of a text that overlaps itself", "aaa", all("aa", "b"), "ba", edit.Exact},
		{"several edits see the original", "a b", []edit.Edit{{Old: "a", New: "b"}, {Old: "b", New: "a"}}, "b a", edit.Exact},
		{"edits in any order", "a b", []edit.Edit{{Old: "b", New: "2"}, {Old: "a", New: "1"}}, "1 2", edit.Exact},
		{"neighbours do not overlap", "ab", []edit.Edit{{Old: "a", New: "1"}, {Old: "b", New: "2"}}, "12", edit.Exact},

		{"C057 multi-byte text beside it stays", "é x ü", one("x", "y"), "é y ü", edit.Exact},
		{"C058 bytes that are not UTF-8 stay", "const x = 1\n\xd6\xd0\xce\xc4", one("x = 1", "x = 2"), "const x = 2\n\xd6\xd0\xce\xc4", edit.Exact},
		{"C064 the rest of the line stays", "x = “½ ㎏”  # note  \t\n", one("# note", "# done"), "x = “½ ㎏”  # done  \t\n", edit.Exact},

		{"C060 CRLF text, LF in the edit", "struct {\r\n\tloading bool\r\n}\r\n", one("{\n\tloading bool\n", "{\n\tload_lock bool\n"), "struct {\r\n\tload_lock bool\r\n}\r\n", edit.LineEndings},
		{"LF text, CRLF in the edit", "a\nb\nc", one("a\r\nb", "a\r\nx"), "a\nx\nc", edit.LineEndings},
		{"new lines in CRLF text get CRLF", "a\r\nb\r\n", one("b", "b\nc"), "a\r\nb\r\nc\r\n", edit.Exact},
		{"an edit that begins with a line break", "a\r\nb\r\n", one("\nb", "\nx\ny"), "a\r\nx\r\ny\r\n", edit.LineEndings},
		{"mixed endings, each place has its own", "a\r\nb\na\r\nc\n", one("a\nc", "a\nd"), "a\r\nb\na\r\nd\n", edit.LineEndings},
		{"every place with other endings", "a\r\nb\r\na\r\nb", all("a\nb", "x"), "x\r\nx", edit.LineEndings},

		{"blanks at the end of a line", "if x {  \n\ty()\t\n}\n", one("if x {\n\ty()\n}", "z()"), "z()\n", edit.TrailingBlanks},
		{"blanks at line ends of the edit", "a\nb\n", one("a  \nb", "c\nd"), "c\nd\n", edit.TrailingBlanks},
		{"blanks after the place stay", "a \nb  \nc", one("a\nb", "x\ny"), "x\ny  \nc", edit.TrailingBlanks},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, changes, err := edit.Apply([]byte(tt.content), tt.edits)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("Apply(%q, %+v) (-want +got):\n%s", tt.content, tt.edits, diff)
			}
			for _, c := range changes {
				if c.Rule != tt.rule {
					t.Errorf("rule = %v, want %v", c.Rule, tt.rule)
				}
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	tests := []struct {
		name    string
		content string
		edits   []edit.Edit
		want    string
	}{
		{"C065 empty", "abc", []edit.Edit{{Old: "", New: "x"}}, "the old text is empty"},
		{"C065 only whitespace", "a\n  \nb", []edit.Edit{{Old: "  \n", New: "x"}}, "only whitespace"},
		{"C065 nothing to do", "abc", []edit.Edit{{Old: "b", New: "b"}}, "nothing would change"},
		{"C065 nothing to do but for line endings", "a\r\nb", []edit.Edit{{Old: "a\nb", New: "a\r\nb"}}, "nothing would change"},
		{"C065 overlap", "abcd", []edit.Edit{{Old: "abc", New: "x"}, {Old: "cd", New: "y"}}, "edit 2: it overlaps with edit 1 at line 1"},
		{"C065 the same place twice", "abcd", []edit.Edit{{Old: "b", New: "x"}, {Old: "b", New: "y"}}, "edit 2: it overlaps with edit 1"},
		{"C065 line numbers of read", "foo\nbar\n", []edit.Edit{{Old: "12\tfoo\n13\tbar", New: "x"}}, "leave out each number"},
		{"C065 one message for each edit", "abc", []edit.Edit{{Old: "x", New: "y"}, {Old: "b", New: "2"}, {Old: "", New: ""}}, "edit 1: the old text is not in the file; read the file again and copy the text as it is there\nedit 3: the old text is empty"},
		{"none", "abc", nil, "at least one"},
		{"several places", "a\nb\na\n", []edit.Edit{{Old: "a", New: "x"}}, "occurs 2 times (lines 1, 3)"},
		{"several places of a text that overlaps itself", "aaa", []edit.Edit{{Old: "aa", New: "x"}}, "occurs 2 times"},
		{"very many places", strings.Repeat("a\n", 99), []edit.Edit{{Old: "a", New: "x"}}, "at least 20 times (lines 1, 2, 3, 4, 5, …)"},
		{"several places but for line endings", "a\r\nb\r\na\r\nb\r\n", []edit.Edit{{Old: "a\nb\n", New: "x"}}, "occurs 2 times"},
		{"several places but for blanks", "a \nb\na \nb\n", []edit.Edit{{Old: "a\nb\n", New: "x", All: true}}, "not in the file"},
		{"C060 indentation is not folded", "if x {\n\ty()\n}\n", []edit.Edit{{Old: "if x {\n    y()\n}", New: "z"}}, "it seems to mean line 1, but line 2 is `\ty()`, not `    y()`"},
		{"C064 quotation marks are not folded", "x = “a”  # note", []edit.Edit{{Old: `x = "a"  # note`, New: "y"}}, "not in the file"},
		{"the file ends first", "a\nlast", []edit.Edit{{Old: "last\nmore", New: "y"}}, "begins at line 2, but the file ends"},
		{"what read shows for foreign bytes", "a\xd6\xd0b", []edit.Edit{{Old: "a�b", New: "y"}}, "bytes that are not UTF-8"},
		{"perhaps half of a foreign letter", "\x81A = 1", []edit.Edit{{Old: "A", New: "B"}}, "part of the same letter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := edit.Apply([]byte(tt.content), tt.edits)
			if fail, ok := errors.AsType[*edit.Error](err); !ok || !strings.Contains(fail.Error(), tt.want) {
				t.Errorf("Apply(%q, %+v) = %q, %v; want an error with %q", tt.content, tt.edits, got, err, tt.want)
			}
		})
	}
}

// An edit of one place keeps all bytes before and after it, and makes the text
// longer or shorter by what it replaced.
func FuzzApply(f *testing.F) {
	f.Add([]byte("a\r\nb"), "b", "c", false)
	f.Add([]byte("a \r\nb\nc"), "a\nb", "c\nd", true)
	f.Add([]byte("\xd6\xd0 x"), "x", "y\n", false)
	f.Add([]byte("\n\r\n\n"), "\nz", "\n", true)
	f.Fuzz(func(t *testing.T, content []byte, old, text string, all bool) {
		before := bytes.Clone(content)
		got, changes, err := edit.Apply(content, []edit.Edit{{Old: old, New: text, All: all}})
		if !bytes.Equal(content, before) {
			t.Fatalf("the original changed: %q -> %q", before, content)
		}
		if err != nil {
			if utf8.ValidString(old) && utf8.Valid(content) && !utf8.ValidString(err.Error()) {
				t.Errorf("error is not UTF-8: %q", err)
			}
			return
		}
		if bytes.Equal(got, content) {
			t.Errorf("success without a change: %q, %q -> %q", content, old, text)
		}
		if !all && len(changes) != 1 {
			t.Fatalf("%d changes, want 1", len(changes))
		}
		at, shift := 0, 0
		for _, c := range changes {
			if !bytes.Equal(got[at+shift:c.Start+shift], content[at:c.Start]) {
				t.Errorf("bytes before the change at %d are different: %q -> %q", c.Start, content, got)
			}
			if fold(string(content[c.Start:c.End])) != fold(old) {
				t.Errorf("replaced %q, which is not %q", content[c.Start:c.End], old)
			}
			at, shift = c.End, shift+len(c.New)-(c.End-c.Start)
		}
		if !bytes.Equal(got[at+shift:], content[at:]) {
			t.Errorf("bytes after the last change are different: %q -> %q", content, got)
		}
	})
}

// fold removes what the loosest rule does not look at.
func fold(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Join(lines, "\n")
}

func BenchmarkApply(b *testing.B) {
	content := []byte(strings.Repeat("\tfor i := range lines {\r\n\t\tuse(i)\r\n\t}\r\n", 20_000))
	content = append(content, "the\r\nend\r\n"...)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if _, _, err := edit.Apply(content, []edit.Edit{{Old: "the\nend", New: "an\nend"}}); err != nil {
			b.Fatal(err)
		}
	}
}
