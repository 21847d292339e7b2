package skills_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt/skills"
)

func TestStrict(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "good", "SKILL.md"), skillText("good", "me"))
	write(t, filepath.Join(dir, "other", "SKILL.md"), "---\nname: another\ndescription: For a: b\u200b\nmodel: opus\n---\nDo it.\n")
	write(t, filepath.Join(dir, "twin", "SKILL.md"), skillText("good", "me"))
	write(t, filepath.Join(dir, "Bad Name.md"), "---\ndescription: For b.\n---\nDo it.\n")
	write(t, filepath.Join(dir, "notes.txt"), "nothing")
	write(t, filepath.Join(dir, "empty", "SKILL.md"), "")
	const (
		lenient = "its front matter is no YAML (line 3: mapping value is not allowed in this context) and is read line by line; put values that hold a colon or begin with a mark in quotes"
		key     = `the key "model" has no effect; remove it or put it below metadata`
		unlike  = `is called "another" but stands in "other"; make them equal`
		hidden  = "has hidden characters, which the model is shown as code points: U+200B; remove them"
		nothing = "is empty; write front matter with a name and a description, and an instruction below it"
	)
	tests := []struct {
		name     string
		path     string
		want     []string
		problems []string
	}{
		{"a folder of skills", ".", []string{"another user", "good user"}, []string{
			`Bad Name.md: has no name in its front matter and is called "Bad Name"; write it there`,
			`! Bad Name.md: the name "Bad Name" does not work; use 1 to 64 of a–z, 0–9 and single hyphens between them, such as "bad-name"`,
			"! empty/SKILL.md: " + nothing,
			"other/SKILL.md: " + lenient, "other/SKILL.md: " + key, "other/SKILL.md: " + unlike, "other/SKILL.md: " + hidden,
			`twin/SKILL.md: is called "good" but stands in "twin"; make them equal`,
			`! twin/SKILL.md: has the name "good" of good/SKILL.md, which counts; rename one of them`,
		}},
		{"the folder of one", "good", []string{"good user"}, nil},
		{"its file", "other/SKILL.md", []string{"another user"}, []string{"other/SKILL.md: " + lenient, "other/SKILL.md: " + key, "other/SKILL.md: " + unlike, "other/SKILL.md: " + hidden}},
		{"an empty one", "empty", nil, []string{"! empty/SKILL.md: " + nothing}},
		{"another file", "notes.txt", nil, []string{"! notes.txt: is no skill; the file of one is called SKILL.md or NAME.md"}},
		{"nothing", "none", nil, []string{"! none: is not there; name a folder of skills, the folder of one, or its file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, problems := skills.Strict(filepath.Join(dir, tt.path), "")
			if got := from(found); !slices.Equal(got, tt.want) {
				t.Errorf("Strict(%q) finds %q, want %q", tt.path, got, tt.want)
			}
			if diff := cmp.Diff(tt.problems, below(dir, problems)); diff != "" {
				t.Errorf("Strict(%q): -want +got\n%s", tt.path, diff)
			}
		})
	}
	t.Run("from within", func(t *testing.T) {
		t.Chdir(filepath.Join(dir, "other"))
		if found, problems := skills.Strict(".", ""); len(found) != 1 || len(problems) != 4 || problems[0].Path != "SKILL.md" {
			t.Errorf("Strict(.) = %q, %q, want one skill with the four problems of SKILL.md", from(found), problems)
		}
	})
}

// A link out of the workspace is told where a session would refuse it, and only there.
func TestStrictLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "away", "SKILL.md"), skillText("away", "them"))
	for _, link := range []struct{ name, to string }{
		{".agents/skills/away", filepath.Join(outside, "away")},
		{".agents/skills/file/SKILL.md", filepath.Join(outside, "away/SKILL.md")},
		{".agents/skills/flat.md", filepath.Join(outside, "away/SKILL.md")},
		{".agents/skills/near", filepath.Join(dir, "lib")},
		{".claude/skills", outside},
		{"plain/away", filepath.Join(outside, "away")},
	} {
		path := filepath.Join(dir, link.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link.to, path); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "lib", "SKILL.md"), skillText("near", "me"))
	for _, tt := range []struct {
		path, home string
		want       []string // that are told to lead away
	}{
		{".agents/skills", "", []string{".agents/skills/away", ".agents/skills/file/SKILL.md", ".agents/skills/flat.md"}},
		{".agents/skills", outside, []string{".agents/skills/away", ".agents/skills/file/SKILL.md", ".agents/skills/flat.md"}},
		{".agents/skills", dir, nil},
		{".agents/skills/away", "", []string{".agents/skills/away"}},
		{".agents/skills/away/SKILL.md", "", []string{".agents/skills/away"}},
		{".agents/skills/file", "", []string{".agents/skills/file/SKILL.md"}},
		{".agents/skills/flat.md", "", []string{".agents/skills/flat.md"}},
		{".agents/skills/near", "", nil},
		{".claude/skills", "", []string{".claude/skills"}},
		{".claude/skills/away", "", []string{".claude/skills/away"}},
		{"plain", "", nil},
	} {
		found, problems := skills.Strict(filepath.Join(dir, tt.path), tt.home)
		t.Chdir(dir)
		if there, same := skills.Strict(tt.path, tt.home); len(there) != len(found) || len(same) != len(problems) {
			t.Errorf("Strict(%q) by a relative path: %d skills, %q; want %d, %q", tt.path, len(there), same, len(found), problems)
		}
		var got []string
		for _, p := range problems {
			if strings.HasPrefix(p.Text, "leads out of the workspace; ") {
				rel, err := filepath.Rel(dir, p.Path)
				if err != nil || p.Fatal {
					t.Errorf("Strict(%q): %v, fatal %v", tt.path, err, p.Fatal)
				}
				got = append(got, rel)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || len(found) == 0 {
			t.Errorf("Strict(%q) with the home %q finds %d skills and tells (-want +got):\n%s", tt.path, tt.home, len(found), diff)
		}
	}
}
