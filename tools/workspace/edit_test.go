package workspace_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/tools"
)

func TestEdit(t *testing.T) {
	tests := []struct {
		name   string
		before string
		edits  []args
		want   string
		says   string
	}{
		{"one place", "a\nb\n", edits("b", "c"), "a\nc\n", "edit 1: replaced at line 2, matched exactly"},
		{"every place", "a a", []args{{"old": "a", "new": "b", "all": true}}, "b b", "matched exactly"},
		{"two edits", "a\nb\n", edits("b", "2", "a", "1"), "1\n2\n", "edit 2: replaced at line 1"},
		{"C057 mark and accents stay", "\xef\xbb\xbfé x\n", edits("x", "y"), "\xef\xbb\xbfé y\n", "exactly"},
		{"C057 a mark in the old text", "\xef\xbb\xbfx\n", edits("\ufeffx", "y"), "\xef\xbb\xbfy\n", "exactly"},
		{"C058 foreign bytes stay", "const x = 1\n\xd6\xd0\xce\xc4", edits("x = 1", "x = 2"), "const x = 2\n\xd6\xd0\xce\xc4", "exactly"},
		{"C058 an accent beside a broken byte", "né\xff x\n", edits("x", "ö"), "né\xff ö\n", "exactly"},
		{"C059 UTF-16 stays", "\xff\xfea\x00\xe9\x00", edits("é", "b"), "\xff\xfea\x00b\x00", "exactly"},
		{"C060 the rule is named", "{\r\n  loading\r\n}\r\n", edits("{\n  loading\n", "{\n  load_lock\n"), "{\r\n  load_lock\r\n}\r\n", "apart from its line endings"},
		{"C060 blanks at line ends", "a  \nb\n", edits("a\nb", "c"), "c\n", "apart from blanks at line ends"},
		{"C064 the rest of the line stays", "x = “½ ㎏”  # note \t\n", edits("note", "done"), "x = “½ ㎏”  # done \t\n", "exactly"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t)
			k.put(t, "f", tt.before)
			if got := k.ok(t, "edit", args{"path": "f", "edits": tt.edits}); !strings.Contains(got, tt.says) {
				t.Errorf("result = %q, want it to say %q", got, tt.says)
			}
			k.holds(t, "f", tt.want)
		})
	}
}

func TestEditRefuses(t *testing.T) {
	const before = "a\r\nb\nfoo “x”\n"
	tests := []struct {
		name  string
		edits []args
		want  string
	}{
		{"C065 empty", edits("", "x"), "old text is empty"},
		{"C065 whitespace", edits("  \n", "x"), "only whitespace"},
		{"C065 equal", edits("b", "b"), "nothing would change"},
		{"C065 overlap", edits("foo", "x", "oo", "y"), "overlaps"},
		{"C065 line numbers", edits("3\tfoo", "x"), "line numbers that read shows"},
		{"C065 all or nothing", edits("b", "x", "nope", "y"), "edit 2: the old text is not in the file"},
		{"C065 none", []args{}, "edits"},
		{"C064 quotation marks", edits(`foo "x"`, "y"), "not in the file"},
		{"C060 several places", edits("o", "x"), "occurs 2 times"},
		{"no new text", []args{{"old": "b"}}, "missing property 'new'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t)
			k.put(t, "f", before)
			k.fails(t, "edit", args{"path": "f", "edits": tt.edits}, tt.want)
			k.holds(t, "f", before)
		})
	}
	k := newKit(t)
	k.put(t, "binary", "a\x00b")
	k.fails(t, "edit", args{"path": "missing", "edits": edits("a", "b")}, "make it with write")
	k.fails(t, "edit", args{"path": "binary", "edits": edits("a", "c")}, "binary file")
	k.put(t, "gb", "x = 1\n\xd6\xd0\xce\xc4\n")
	k.fails(t, "edit", args{"path": "gb", "edits": edits("x", "中")}, "East Asian encoding") // C059
	k.holds(t, "gb", "x = 1\n\xd6\xd0\xce\xc4\n")
	k.holds(t, "binary", "a\x00b")
}

// C135: what does not fit a file of secrets tells nothing of it, until the model
// may read it.
func TestEditKeepsSecrets(t *testing.T) {
	k := newKit(t)
	k.put(t, ".env", "A=1\nKEY=hidden\n")
	in := args{"path": ".env", "edits": edits("A=1\nKEY=x", "y")}
	if _, res := k.call(t, "edit", in); !res.IsError || strings.Contains(res.Text, "hidden") {
		t.Errorf("result = %+v, want a failure that keeps the secret", res)
	}
	k.ok(t, "read", args{"path": ".env"})
	k.fails(t, "edit", in, "KEY=hidden")
}

// C061: an edit works on what the file holds, and tells of a change.
func TestEditAfterChange(t *testing.T) {
	k := newKit(t)
	k.put(t, "f", "a\nb\n")
	k.ok(t, "read", args{"path": "f"})
	k.ok(t, "edit", args{"path": "f", "edits": edits("a", "1")})
	k.ok(t, "write", args{"path": "f", "content": "a\nb\n"}) // after an edit of its own the session knows the file
	k.put(t, "f", "of the user\na\nb\n")
	if got := k.ok(t, "edit", args{"path": "f", "edits": edits("b", "2")}); !strings.Contains(got, "had changed on disk") {
		t.Errorf("result = %q, want it to tell of the change", got)
	}
	k.holds(t, "f", "of the user\na\n2\n")
	k.fails(t, "write", args{"path": "f", "content": "x"}, "read it again")
}

// R-ACP-44 with the pieces that changed only.
func TestEditDiff(t *testing.T) {
	k := newKit(t)
	lines := strings.Split("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", " ")
	text := strings.Join(lines, "\n")
	k.put(t, "f", text)
	plan, res := k.call(t, "edit", args{"path": "f", "edits": edits("\n20", "\ntwenty", "\n5\n", "\nfive\n", "\n2\n", "\n")})
	real, err := k.fs.Resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	want := []tools.Diff{
		{Path: real, Old: ptr("1\n2\n3\n4\n5\n6\n7\n8\n"), New: "1\n3\n4\nfive\n6\n7\n8\n"},
		{Path: real, Old: ptr("16\n17\n18\n19\n20"), New: "16\n17\n18\n19\ntwenty"},
	}
	if diff := cmp.Diff(want, plan.Diffs); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(plan.Diffs, res.Diffs); diff != "" {
		t.Errorf("result and plan differ:\n%s", diff)
	}
	if len(plan.Locations) != 1 || plan.Locations[0].Line != 1 {
		t.Errorf("Locations = %v, want line 1", plan.Locations)
	}
}
