package skills

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt"
)

// texts of the remarks of d, those of the linter with a mark before them.
func (d *document) told() []string {
	var out []string
	for _, r := range d.remarks {
		text := r.text
		if r.petty {
			text = "lint: " + text
		}
		out = append(out, text)
	}
	return out
}

func TestParse(t *testing.T) {
	tests := []struct {
		name string
		text string
		want prompt.Skill
	}{
		{"plain", "---\nname: a\ndescription: For a.\n---\nDo a.\n", prompt.Skill{Description: "For a.", Instruction: "Do a."}},
		{"without a name", "---\ndescription: For a.\n---\nDo a.\n", prompt.Skill{Description: "For a.", Instruction: "Do a."}},
		{"byte order mark and CRLF", "\ufeff---\r\nname: a\r\ndescription: For a.\r\n---\r\n\r\nDo a.\r\nThen b.\r\n",
			prompt.Skill{Description: "For a.", Instruction: "Do a.\nThen b."}},
		{"blank lines before, blanks behind the marks", "\n\n---  \nname: a\ndescription: For a.\n---\t\nDo a.", prompt.Skill{Description: "For a.", Instruction: "Do a."}},
		{"folded block", "---\nname: a\ndescription: >-\n  For a,\n  and b.\n---\nDo a.", prompt.Skill{Description: "For a, and b.", Instruction: "Do a."}},
		{"literal block is one line", "---\nname: a\ndescription: |\n  For a,\n\n  and b.\n---\nDo a.", prompt.Skill{Description: "For a, and b.", Instruction: "Do a."}},
		{"quotes", "---\n\"name\": 'a'\ndescription: \"For \\\"a\\\": always\"\n---\nDo a.", prompt.Skill{Description: `For "a": always`, Instruction: "Do a."}},
		{"a description that looks like a number", "---\nname: a\ndescription: 1.10\n---\nDo a.", prompt.Skill{Description: "1.10", Instruction: "Do a."}},
		{"output contract", "---\nname: a\ndescription: For a.\noutput-contract: true\n---\nDo a.", prompt.Skill{Description: "For a.", Instruction: "Do a.", Contract: true}},
		{"output contract below metadata", "---\nname: a\ndescription: For a.\nmetadata:\n  author: x\n  output-contract: yes\n---\nDo a.",
			prompt.Skill{Description: "For a.", Instruction: "Do a.", Contract: true}},
		{"dots end it too", "---\nname: a\ndescription: For a.\n...\nDo a.", prompt.Skill{Description: "For a.", Instruction: "Do a."}},
		{"a rule in the instruction stays", "---\nname: a\ndescription: For a.\n---\nDo a.\n\n---\n\nDo b.", prompt.Skill{Description: "For a.", Instruction: "Do a.\n\n---\n\nDo b."}},
		{"braces are text", "---\nname: a\ndescription: \"For {{date}} and {{\"\n---\nSay {{x}} and }}.", prompt.Skill{Description: "For {{date}} and {{", Instruction: "Say {{x}} and }}."}},
		{"keys of others", "---\nname: a\ndescription: For a.\nlicense: MIT\nallowed-tools: [Read, Bash]\ncompatibility: any\nmetadata: {version: \"1\"}\n---\nDo a.",
			prompt.Skill{Description: "For a.", Instruction: "Do a."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Name = "a"
			d := parse("a", []byte(tt.text), int64(len(tt.text)))
			if diff := cmp.Diff(tt.want, d.skill); diff != "" {
				t.Errorf("parse(%q): -want +got\n%s", tt.text, diff)
			}
			for _, r := range d.remarks {
				if !r.petty {
					t.Errorf("parse(%q) remarks %q, want only what the linter tells", tt.text, r.text)
				}
			}
			if !d.enabled {
				t.Errorf("parse(%q) is disabled", tt.text)
			}
		})
	}
}

// What is nearly YAML is read as its writer meant it (C150).
func TestParseLenient(t *testing.T) {
	tests := []struct {
		name   string
		matter string
		want   string // description
		remark string
	}{
		{"unquoted colon", "description: Use when: a thing breaks", "Use when: a thing breaks",
			"its front matter is no YAML (line 3: mapping value is not allowed in this context) and is read line by line; put values that hold a colon or begin with a mark in quotes"},
		{"continued", "description: Use when: a\n  thing: breaks\n  badly", "Use when: a thing: breaks badly", "line 3"},
		{"block with another mistake", "description: >-\n  For a: b.\n  And c.\nversion: 1: 2", "For a: b. And c.", "line 6"},
		{"begins with a mark", "description: @all things", "@all things", "'@' is a reserved character"},
		{"back quote", "description: `a` files", "`a` files", "reserved character"},
		{"list and text", "description: [a] files", "[a] files", "line 3"},
		{"tab", "description: For a.\n\tx: y", "For a. x: y", "cannot start any token"},
		{"twice", "description: For a.\ndescription: For b.\n  and c.", "For a.", `mapping key "description" already defined`},
		{"quoted with a colon elsewhere", "description: 'It''s for a'\nversion: 1: 2", "It's for a", "line 4"},
		{"double quotes", `description: "For \"a\""` + "\nversion: 1: 2", `For "a"`, "line 4"},
		{"comment", "# note\ndescription: For a: b", "For a: b", "line 4"},
		{"too much to parse", "description: For a.\nx: " + strings.Repeat("[", 1200), "For a.", "characters with a meaning"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "---\nname: a\n" + tt.matter + "\n---\nDo a.\n"
			d := parse("a", []byte(text), int64(len(text)))
			if d.refused() || d.skill.Description != tt.want {
				t.Errorf("description of %q = %q (%q), want %q", tt.matter, d.skill.Description, d.told(), tt.want)
			}
			if told := d.told(); len(told) == 0 || !strings.Contains(told[0], tt.remark) {
				t.Errorf("remarks on %q = %q, want one with %q", tt.matter, told, tt.remark)
			}
		})
	}
	text := "---\ndescription: a: b\nenabled: false\nmetadata:\n  output-contract: true\n  name: other\nname: a\n---\nDo a.\n"
	d := parse("a", []byte(text), int64(len(text)))
	if want := (prompt.Skill{Name: "a", Description: "a: b", Instruction: "Do a.", Contract: true}); d.skill != want || d.enabled {
		t.Errorf("parse(%q) = %+v, enabled %t, want %+v, disabled", text, d.skill, d.enabled, want)
	}
}

// What the parser quotes of a file can be shown in one line.
func TestBrief(t *testing.T) {
	if got, want := brief("key 'a\u202e\xff'\n  >  2 | a"), "key 'a<U+202E>?' > 2 | a"; got != want {
		t.Errorf("brief = %q, want %q", got, want)
	}
	if got := brief(strings.Repeat("é", 500)); len(got) > maxWords || !utf8.ValidString(got) {
		t.Errorf("brief of a long text has %d bytes, want whole characters of at most %d", len(got), maxWords)
	}
}

// A key that is nearly one of those that mean something is told with that one.
func TestParseNearKeys(t *testing.T) {
	const ( // what follows the key
		below = " has no effect; remove it or put it below metadata"
		near  = " has no effect; %s was probably meant"
	)
	tests := []struct{ line, want string }{
		{"descripton: For a.", `the key "descripton"` + strings.Replace(near, "%s", "description", 1)},
		{"Description: For a.", `the key "Description"` + strings.Replace(near, "%s", "description", 1)},
		{"outputContract: true", `the key "outputContract"` + strings.Replace(near, "%s", "output-contract", 1)},
		{"output_contract: true", `the key "output_contract"` + strings.Replace(near, "%s", "output-contract", 1)},
		{"metadata: {outputContract: true}", `the key "metadata.outputContract"` + strings.Replace(near, "%s", "output-contract", 1)},
		{"enable: false", `the key "enable"` + strings.Replace(near, "%s", "enabled", 1)},
		{"names: x", `the key "names"` + strings.Replace(near, "%s", "name", 1)},
		{"model: opus", `lint: the key "model"` + below},
		{"version: 1", `lint: the key "version"` + below},
		{"disabled: true", `lint: the key "disabled"` + below},
		{"metadata: {descripton: x, enable: y, contract: z}", ""},
		{"enabled: &e maybe\nmetadata: {output-contract: *e}", `enabled is "maybe", which counts as true; write true or false; metadata.output-contract is "*e", which counts as false; write true or false`},
	}
	for _, tt := range tests {
		text := "---\nname: a\ndescription: For b.\n" + tt.line + "\n---\nDo a.\n"
		d := parse("a", []byte(text), int64(len(text)))
		if got := strings.Join(d.told(), "; "); got != tt.want || d.skill.Contract || !d.enabled {
			t.Errorf("remarks on %q = %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"empty", "", "is empty; write front matter with a name and a description, and an instruction below it"},
		{"blank", " \r\n\t\n", "is empty; "},
		{"no front matter", "# Title\n\nDo a.\n", "has no front matter; begin it with the lines ---, name: NAME, description: WHEN TO USE IT, ---"},
		{"open front matter", "---\nname: a\ndescription: b\n\nDo a.\n", "its front matter has no end within 16384 bytes; close it with a line ---"},
		{"no description", "---\nname: a\n---\nDo a.\n", "has no description; say when to use it"},
		{"blank description", "---\nname: a\ndescription: \" \"\n---\nDo a.\n", "has no description; "},
		{"a list as description", "---\nname: a\ndescription: [x, y]\n---\nDo a.\n", "its description is a list or a mapping; write it as text"},
		{"an alias as description", "---\nname: &n a\ndescription: *n\n---\nDo a.\n", `its description is the alias "*n", which is not followed; write the text in its place`},
		{"no instruction", "---\nname: a\ndescription: b\n---\n\n", "has no instruction; write what to do"},
		{"upper case", "---\nname: My Skill\ndescription: b\n---\nDo a.\n",
			`the name "My Skill" does not work; use 1 to 64 of a–z, 0–9 and single hyphens between them, such as "my-skill"`},
		{"doubled hyphen", "---\nname: a--b\ndescription: b\n---\nDo a.\n", `such as "a-b"`},
		{"braces in the name", "---\nname: '{{date}}'\ndescription: b\n---\nDo a.\n", `the name "{{date}}" does not work; `},
		{"hidden characters in the name", "---\nname: \"a\\u200bb\"\ndescription: b\n---\nDo a.\n", `the name "a\u200bb" does not work; `},
		{"long name", "---\nname: " + strings.Repeat("a", 65) + "\ndescription: b\n---\nDo a.\n", "does not work; "},
		{"name of a command", "---\nname: retry\ndescription: b\n---\nDo a.\n", `the name "retry" is that of a command, and the command counts; choose another`},
		{"latin 1", "---\nname: a\ndescription: caf\xe9\n---\nDo a.\n", "is no text in UTF-8; save it as UTF-8"},
		{"zero byte", "---\nname: a\ndescription: b\n---\nDo\x00 a.\n", "is no text in UTF-8; "},
		{"UTF-16", "\xff\xfe-\x00-\x00-\x00", "is UTF-16; save it as UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := parse("a", []byte(tt.text), int64(len(tt.text)))
			var got []string
			for _, r := range d.remarks {
				if r.fatal {
					got = append(got, r.text)
				}
			}
			if len(got) != 1 || !strings.Contains(got[0], tt.want) {
				t.Errorf("parse(%q) refuses with %q, want one with %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestParseLimits(t *testing.T) {
	long := strings.Repeat("é", 1100)
	text := "---\nname: a\ndescription: " + long + "\n---\nDo a.\n"
	d := parse("a", []byte(text), int64(len(text)))
	if got := d.skill.Description; utf8.RuneCountInString(got) != 1024 || !strings.HasSuffix(got, "é…") {
		t.Errorf("a description of 1100 characters has %d, ending in %q, want 1024 with an ellipsis", utf8.RuneCountInString(got), got[len(got)-8:])
	}
	if want := []string{"its description has 1100 characters and is cut at 1024; shorten it"}; !cmp.Equal(d.told(), want) {
		t.Errorf("remarks = %q, want %q", d.told(), want)
	}

	body := strings.Repeat("Übung macht den Meister.\n", 90_000) // above 2 MB
	text = "---\nname: a\ndescription: For a.\n---\n" + body
	d = parse("a", []byte(text[:maxRead]), int64(len(text)))
	got, marked := strings.CutSuffix(d.skill.Instruction, "\n\n"+sentence("cut"))
	if !marked || len(got) > maxInstruction || len(got) < maxInstruction-100 || !strings.HasPrefix(body, got+"\n") {
		t.Errorf("a long instruction has %d bytes (marked: %t) and ends in %q, want whole lines of up to %d", len(got), marked, got[len(got)-30:], maxInstruction)
	}
	if told := d.told(); len(told) != 1 || !strings.Contains(told[0], "has 2340036 bytes, and its instruction is cut at 65536; ") {
		t.Errorf("remarks = %q, want one on the size", told)
	}
}

func TestParseReveals(t *testing.T) {
	text := "---\nname: a\ndescription: For\u200b a.\n---\nDo \U000e0041a \u202enow.\n"
	d := parse("a", []byte(text), int64(len(text)))
	want := prompt.Skill{Name: "a", Description: "For<U+200B> a.", Instruction: "Do <U+E0041>a <U+202E>now."}
	if diff := cmp.Diff(want, d.skill); diff != "" {
		t.Errorf("hidden characters: -want +got\n%s", diff)
	}
	if told := d.told(); len(told) != 1 || !strings.Contains(told[0], "U+200B, U+E0041, U+202E; remove them") {
		t.Errorf("remarks = %q, want one that names the characters", told)
	}
}

func TestParseForTheLinter(t *testing.T) {
	text := "---\nname: b\ndescription: For a.\nmodel: opus\nenabled: perhaps\nmetadata:\n  anything: goes\n---\nDo a.\n"
	d := parse("a", []byte(text), int64(len(text)))
	want := []string{
		`lint: the key "model" has no effect; remove it or put it below metadata`,
		`enabled is "perhaps", which counts as true; write true or false`,
		`lint: is called "b" but stands in "a"; make them equal`,
	}
	if diff := cmp.Diff(want, d.told()); diff != "" {
		t.Errorf("remarks: -want +got\n%s", diff)
	}
	text = "---\ndescription: For a.\n---\nDo a.\n"
	want = []string{`lint: has no name in its front matter and is called "a"; write it there`}
	if diff := cmp.Diff(want, parse("a", []byte(text), int64(len(text))).told()); diff != "" {
		t.Errorf("remarks: -want +got\n%s", diff)
	}
}

// A hostile file costs no more than a few milliseconds of parsing each.
func TestParseIsBounded(t *testing.T) {
	for _, mark := range []string{"[", "{a: ", "- ", "? ", "&a ", "!a ", "x: ", "*a ", "a:\n", "\"", "'", "|\n"} {
		text := "---\nname: a\nx: " + strings.Repeat(mark, maxMatter/len(mark)-20) + "\n---\nDo a.\n"
		if d := parse("a", []byte(text), int64(len(text))); !d.refused() {
			t.Errorf("front matter of %q and no description is taken for a skill: %q", mark, d.told())
		}
	}
}

// What parse takes for a skill is one, is text, and keeps its limits, and a file
// with CRLF reads like the same one with LF.
func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: Use when: foo\n---\nDo a.\n")
	f.Add("---\nname: a\ndescription: >-\n  a\n  b\nmetadata:\n  output-contract: true\n---\nDo a.\n")
	f.Add("\ufeff---\r\nname: &x a\r\ndescription: *x\r\n---\r\nDo\u200b a.\r\n")
	f.Add("---\n{name: a, description: !!str [b]}\n...\nDo a.\n")
	f.Add("---\n? x\n: y\n---\n---\n")
	f.Add("---\n- a\n- \"b\n---\nx")
	f.Fuzz(func(t *testing.T, text string) {
		d := parse("file", []byte(text), int64(len(text)))
		if d.refused() {
			return
		}
		if err := Check(d.skill); err != nil {
			t.Errorf("parse(%q) is no skill: %v", text, err)
		}
		for _, s := range []string{d.skill.Description, d.skill.Instruction} {
			if !utf8.ValidString(s) || prompt.Hidden(s) != "" {
				t.Errorf("parse(%q) has %q, which is not all visible text", text, s)
			}
		}
		if n := utf8.RuneCountInString(d.skill.Description); n > maxDescription || strings.ContainsAny(d.skill.Description, "\r\n") {
			t.Errorf("parse(%q) has a description of %d characters, %q", text, n, d.skill.Description)
		}
		if n := len(d.skill.Instruction); n > maxInstruction+200 {
			t.Errorf("parse(%q) has an instruction of %d bytes", text, n)
		}
		if strings.Contains(text, "\r") {
			return
		}
		crlf := strings.ReplaceAll(text, "\n", "\r\n")
		if got := parse("file", []byte(crlf), int64(len(crlf))); len(crlf) < maxMatter && got.skill != d.skill {
			t.Errorf("with CRLF %q reads as %+v, want %+v", text, got.skill, d.skill)
		}
	})
}
