package workspace

import (
	"path"
	"strings"
	"testing"
)

func TestIgnores(t *testing.T) {
	tests := []struct {
		name  string
		file  string
		yes   string // paths that are ignored; a directory ends with a slash
		not   string
		above string // the file of the directory above, when this one is in a/
	}{
		{name: "a name at any depth", file: "x.log", yes: "x.log a/x.log a/b/x.log/", not: "xx.log x.log.gz"},
		{name: "a star stays in a name", file: "*.log\nfoo*bar", yes: "a/y.log foo-bar", not: "log foo/bar"},
		{name: "a slash at the start is the top", file: "/top", yes: "top top/", not: "a/top"},
		{name: "a slash inside is the top", file: "doc/*.txt", yes: "doc/a.txt", not: "doc/a/b.txt x/doc/a.txt"},
		{name: "a slash at the end is a directory", file: "build/", yes: "build/ a/build/", not: "build a/build"},
		{name: "two stars before", file: "**/foo\n**/a/b", yes: "foo x/foo a/b x/y/a/b", not: "foox"},
		{name: "two stars behind", file: "abc/**", yes: "abc/x abc/x/y", not: "abc/ abc x/abc/y"},
		{name: "two stars between", file: "a/**/b", yes: "a/b a/x/b a/x/y/b", not: "b a/bb"},
		{name: "two stars in a name are one", file: "f**r", yes: "fr foor a/fxr", not: "f/r"},
		{name: "the last rule decides", file: "*.log\n!keep.log\n/keep.log", yes: "a.log keep.log", not: "a/keep.log"},
		{name: "comments and blanks", file: "# x\n\n  \n\\#y\nz  \nw\\ ", yes: "#y z", not: "x w"},
		{name: "a blank that is kept", file: "w\\ ", yes: "w·", not: "w"},
		{name: "a literal exclamation mark", file: "\\!a", yes: "!a", not: "a"},
		{name: "braces are literal", file: "{a,b}.txt", yes: "{a,b}.txt", not: "a.txt b.txt"},
		{name: "sets", file: "[a-c].[!x]", yes: "a.y c.z", not: "d.y a.x"},
		{name: "line ends of Windows and a mark", file: "\ufefffoo\r\n/bar\r\n", yes: "foo bar", not: "foo\r"},
		{name: "a pattern that is broken matches nothing", file: "[a\nb", yes: "b", not: "a [a"},
		{name: "a slash alone", file: "/\n!/\n!", not: "a /"},
		{name: "a file further down goes first", above: "*.log\n*.txt", file: "!x.log", yes: "a/y.log a/x.txt", not: "a/x.log a/b/x.log"},
		{name: "a file further down knows its top", above: "none", file: "/t\nd/e", yes: "a/t a/d/e", not: "t a/b/t d/e"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, list := "", (*ignores)(nil)
			if tt.above != "" {
				base, list = "a", parseIgnores("", []byte(tt.above), nil)
			}
			list = parseIgnores(base, []byte(tt.file), list)
			check := func(paths string, want bool) {
				for _, p := range strings.Split(paths, " ") {
					p = strings.ReplaceAll(p, "·", " ")
					name, dir := strings.CutSuffix(p, "/")
					if p == "" || tt.above != "" && !strings.HasPrefix(p, "a/") {
						continue
					}
					if got := list.match(name, path.Base(name), dir); got != want {
						t.Errorf("%q ignored = %v, want %v", p, got, want)
					}
				}
			}
			check(tt.yes, true)
			check(tt.not, false)
		})
	}
}

func FuzzIgnores(f *testing.F) {
	f.Add([]byte("*.log\n!a\n/b/**\n[x"), "a/b.log", true)
	f.Add([]byte("\\ \n**/\n{a"), "x/y/z", false)
	f.Fuzz(func(t *testing.T, file []byte, name string, dir bool) {
		name = strings.Trim(path.Clean(name), "/")
		if strings.Contains(name, "/") {
			t.Skip()
		}
		if parseIgnores("", append(file[:len(file):len(file)], "\n!*\n"...), nil).match(name, name, dir) {
			t.Errorf("%q is ignored although the last rule after %q takes everything back", name, file)
		}
	})
}
