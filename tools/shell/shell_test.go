package shell_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/tools/shell"
)

var place = shell.Place{Dir: "/home/me/ws", Home: "/home/me"}

func TestNormalise(t *testing.T) {
	same := [][]string{
		{"git status", "  git   status\t", "git status\n"},
		{"a && b | c", "a&&b|c", "a  &&  b |  c"},
		{"echo 'a  b'", "echo   'a  b'"},
		{"(cd x; ls)", "( cd x; ls )"},
		{"a; b", "a\nb", "a ;b"},
	}
	for _, lines := range same {
		for _, l := range lines[1:] {
			if got, want := shell.Normalise(l), shell.Normalise(lines[0]); got != want {
				t.Errorf("Normalise(%q) = %q, want %q", l, got, want)
			}
		}
	}
	different := []string{
		"git status", "git statusfoo", "/usr/bin/git status", "git status; touch p", "git status && touch p", "git status | sh",
		"git status $(touch p)", "git status & touch p", "git status > p", "git 'status ' x", "git 'status  ' x",
		`git "status $(echo "a  b")"`, `git "status $(echo "a b")"`, "cat <<E\na b\nE", "cat <<E\na  b\nE", "echo a\\ b", "echo a b", "echo a\\  b",
		"git status # x", "git status # x; ls", "git status # x\nls", "GIT status", "git status <(touch p)", "git status ; : )",
	}
	seen := map[string]string{}
	for _, l := range different {
		n := shell.Normalise(l)
		if other, ok := seen[n]; ok {
			t.Errorf("%q and %q are both %q", l, other, n)
		}
		seen[n] = l
	}
}

func FuzzNormalise(f *testing.F) {
	f.Add("git  status; echo 'a  b' | x > y")
	f.Add("cat <<-E\n\ta\nE\n")
	f.Add("rm -rf $HOME/* {a,/}; sudo git reset --hard > .git/config")
	f.Add("for i in a b; do find $i -exec sh -c 'rm -r .' \\;; done")
	f.Fuzz(func(t *testing.T, line string) {
		normal := shell.Normalise(line)
		if d := cmp.Diff(shell.Read(line, place), shell.Read(normal, place)); d != "" {
			t.Errorf("%q does something else as %q (-want +got):\n%s", line, normal, d)
		}
	})
}

func TestDeletes(t *testing.T) {
	const ws = "/home/me/ws"
	tests := []struct {
		line string
		want string // paths, cleaned; "?" after one that is unsure
	}{
		{"rm -rf /", "/"},
		{"rm -fr /", "/"},
		{"rm / -r -f", "/"},
		{"rm -f -- / -r", ""},
		{"rm -r -- /", "/"},
		{"rm --recursive --force /", "/"},
		{"rm --rec /", "/"},
		{"rm -R ~", "/home/me"},
		{"rm -rf ~/", "/home/me"},
		{"rm -rf $HOME", "/home/me"},
		{`rm -rf "$HOME"/*`, "/home/me"},
		{`rm -rf "${HOME}/"`, "/home/me"},
		{"rm -rf '$HOME'", ws + "/$HOME"},
		{"rm -rf .", ws},
		{"rm -rf ./", ws},
		{"rm -rf *", ws},
		{"rm -rf ./* .*", ws + " " + ws},
		{"rm -rf '*'", ws + "/*"},
		{"rm -rf ..", "/home/me"},
		{"rm -rf ../..", "/home"},
		{"rm -rf $PWD", ws},
		{`rm -rf "$(pwd)"`, ws},
		{"rm -rf build/*", ws + "/build"},
		{"rm -rf build/*.o", ws + "/build/*.o"},
		{"rm -rf {src,/}", ws + "/src /"},
		{"rm -rf \\/", "/"},
		{"rm -rf /\"\"", "/"},
		{"\\rm -rf /", "/"},
		{"r''m -rf /", "/"},
		{"/bin/rm -rf /", "/"},
		{"rm -f /x", ""},
		{"echo rm -rf /", ""},
		{"echo 'rm -rf /'", ""},
		{"ls; rm -rf /", "/"},
		{"true && rm -rf / || echo", "/"},
		{"ls | rm -rf /", "/"},
		{"ls &\nrm -rf /", "/"},
		{"(rm -rf /)", "/"},
		{"{ rm -rf /; }", "/"},
		{"echo $(rm -rf /)", "/"},
		{"echo \"`rm -rf /`\"", "/"},
		{"cat <(rm -rf /)", "/"},
		{"x=$(rm -rf /)", "/"},
		{"if rm -rf /; then :; fi", "/"},
		{"while true; do rm -rf /; done", "/"},
		{"for d in a / b; do rm -rf $d; done", ws + "/a / " + ws + "/b"},
		{"case x in *) rm -rf /;; esac", "/"},
		{"f() { rm -rf /; }; f", "/"},
		{"[[ -n $(rm -rf /) ]]", "/"},
		{"time rm -rf /", "/"},
		{"! rm -rf /", "/"},
		{"sudo rm -rf /", "/"},
		{"sudo -u root -n rm -rf /", "/"},
		{"env A=b nohup nice -n 5 timeout 10 rm -rf /", "/"},
		{"command rm -rf /", "/"},
		{"exec rm -rf /", "/"},
		{"ls x | xargs rm -rf /", "/"},
		{"ls -A | xargs rm -rf", ws},
		{"echo a . | xargs -n 1 rm -rf", ws + "/a " + ws},
		{"find . -print0 | xargs -0 rm -rf", ws},
		{"find . -name '*.o' | xargs rm -rf", ""},
		{"busybox rm -rf /", "/"},
		{"sh -c 'rm -rf /'", "/"},
		{"bash -lc \"rm -rf ~\"", "/home/me"},
		{"sudo sh -c 'cd /; bash -c \"rm -rf *\"'", "/"},
		{"su -c 'rm -rf /'", "/"},
		{"bash -c -e -- 'rm -rf /'", "/"},
		{"bash -c 'rm -rf \"$1\"' x /", "/"},
		{"bash -c 'rm -rf \"$@\"' x /", "/"},
		{"bash -c 'rm -rf \"$1\"' x", ""},
		{"trap 'rm -rf /' EXIT", "/"},
		{"env -S 'rm -rf /'", "/"},
		{"eval rm -rf /", "/"},
		{"eval 'rm -rf /'", "/"},
		{"echo 'rm -rf /' | sh", "/"},
		{"echo -e 'x\\nrm -rf /' | sudo sh", "/"},
		{"printf '%s\\n' 'rm -rf /' | bash -s", "/"},
		{"cat <<'E' | bash\nrm -rf /\nE", "/"},
		{"cat <<E\n$(rm -rf /)\nE", "/"},
		{"cat <<'E'\n$(rm -rf /)\nE", ""},
		{"sh <<E\nrm -rf /\nE", "/"},
		{"bash <<< 'rm -rf /'", "/"},
		{"cd / && rm -rf *", "/"},
		{"cd; rm -rf .", "/home/me"},
		{"cd .. && rm -rf ws", ws},
		{"(cd /); rm -rf x", ws + "/x"},
		{"cd / && cd x && cd - && rm -rf *", "/"},
		{"cd \"$D\" && rm -rf *", ""},
		{"D=/; rm -rf $D", "/"},
		{"export D=/; rm -rf \"$D\"", "/"},
		{"rm -rf $D", ""},
		{"D=..; rm -rf $D/*", "/home/me"},
		{"D='*'; rm -rf $D", ws},
		{"D='*'; rm -rf \"$D\"", ws + "/*"},
		{"rm -rf ${HOME:?}/*", "/home/me"},
		{"rm -rf \"${HOME%/}\"", "/home/me"},
		{"rm -rf ${D:-.}", ws},
		{"rm -rf \"${D:?}\"/*", ""},
		{"rm -rf ~+", ws},
		{"rm -rf ?* .??*", ws + " " + ws},
		{"rm -rf **/*", ws},
		{"rm -rf ?", ws + "/?"},
		{"rm -rf $D/", "/?"},
		{"rm -rf \"$D\"/*", "/?"},
		{"rm -rf $D/build", ""},
		{"find / -delete", "/"},
		{"find . -type f -delete", ws},
		{"find -delete", ws},
		{"find . -name '*.o' -delete", ""},
		{"find . -exec rm -rf {} +", ws + " " + ws},
		{"find ~ -name '*' -exec rm -r {} \\;", "/home/me /home/me"},
		{"find -L . -iname '*' -delete", ws},
		{"find . -path './*' -delete", ws},
		{"find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +", ws},
		{"find . -maxdepth 1 -type f -exec rm -f {} +", ""},
		{"find . -maxdepth 1 -type f -delete", ""},
		{"find . -maxdepth 1 -empty -delete", ""},
		{"find . -name '*.o' -exec rm -rf {} +", ws + "/{}"},
		{"find . -exec sh -c 'rm -rf \"$1\"' _ {} \\;", ws},
		{"find . -exec sh -c 'rm -rf /' \\;", "/"},
		{"find . -print", ""},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			var got []string
			r := shell.Read(tt.line, place)
			for _, d := range r.Deletes {
				p := filepath.Clean(d.Path)
				if d.Unsure {
					p += "?"
				}
				got = append(got, p)
			}
			if s := strings.Join(got, " "); s != tt.want || r.Unread {
				t.Errorf("deletes %q (unread %v), want %q", s, r.Unread, tt.want)
			}
		})
	}
}

func TestUnread(t *testing.T) {
	for _, line := range []string{"rm -rf / )(", "echo 'x", "sh -c 'if'"} {
		if !shell.Read(line, place).Unread {
			t.Errorf("%q was read", line)
		}
	}
	deep := "rm -rf /"
	for range 4 {
		deep = "sh -c '" + strings.ReplaceAll(deep, "'", `'\''`) + "'"
	}
	if r := shell.Read(deep, place); len(r.Deletes) != 1 {
		t.Errorf("%s: deletes %v", deep, r.Deletes)
	}
}

func TestReadIsBounded(t *testing.T) {
	loop := "rm -rf /"
	for i := range 10 {
		loop = fmt.Sprintf("for i%d in a b c d e f g h; do %s; done", i, loop)
	}
	var bomb strings.Builder
	bomb.WriteString("a=xxxxxxxxxx; ")
	for c := 'b'; c <= 'z'; c++ {
		fmt.Fprintf(&bomb, "%c=%s; ", c, strings.Repeat("$"+string(c-1), 10))
	}
	bomb.WriteString("rm -rf $z /")
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "a%d=1;", i)
	}
	if r := shell.Read(bomb.String(), place); len(r.Deletes) != 1 {
		t.Errorf("after long values: deletes %v, want the one of /", r.Deletes)
	}
	for _, line := range []string{
		"echo " + strings.Repeat("{a,b}", 100),
		"echo {a,{1..1000000000}}",
		"echo {1..1000000000}",
		loop,
		bomb.String(),
		"for i in " + strings.Repeat("a ", 200) + "; do x " + strings.Repeat("w ", 5000) + "; done",
		"a=" + strings.Repeat("x", 10_000) + "; x " + strings.Repeat("$a ", 20_000),
		"a=" + strings.Repeat("x", 10_000) + "; x " + strings.Repeat("$a", 40_000),
		"a=" + strings.Repeat("x", 10_000) + "; x \"" + strings.Repeat("$a", 40_000) + "\"",
		strings.Repeat("sudo ", 20_000) + "x",
		"find " + strings.Repeat("x", 30_000) + " -exec x " + strings.Repeat("{}", 30_000) + " \\;",
		strings.Repeat("find a b -exec ", 3000) + "x {} \\;",
		"ls | " + strings.Repeat("xargs ", 20_000),
		many.String() + strings.Repeat("(:);", 5000),
		strings.Repeat("$(", 5000) + strings.Repeat(")", 5000),
		strings.Repeat("(", 5000) + ":" + strings.Repeat(")", 5000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		r := shell.Read(shell.Normalise(line), place)
		d := time.Since(start)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; d > time.Minute || used > 256<<20 || len(r.Writes) > 60_000 {
			t.Errorf("%.40s took %v and %d bytes, and gave %d writes", line, d, used, len(r.Writes))
		}
	}
	if r := shell.Read(loop, place); !r.Unread || len(r.Deletes) == 0 {
		t.Errorf("the loop: unread %v, %d deletions", r.Unread, len(r.Deletes))
	}
}

func TestWrites(t *testing.T) {
	tests := []struct{ line, want string }{
		{"echo x > f", "f"},
		{"echo x >> f 2> g", "f g"},
		{"cat < f", ""},
		{"echo x &> f", "f"},
		{"cat f | tee g", "g"},
		{"cp a b", "a b"},
		{"cat f; grep x f; ls f", ""},
		{"sed -n p f", ""},
		{"sed -i s/a/b/ f", "s/a/b f"},
		{"sed -Ei.bak s/a/b/ f", "s/a/b f"},
		{"sed -e s/i/b/ f", ""},
		{"dd if=a of=b", "a if=a b of=b"},
		{"sort --output=f g", "f g"},
		{"(cd d; touch f)", "d/f"},
		{"git config core.hooksPath x", ".git/config"},
		{"git -C sub config core.fsmonitor x", "sub/.git/config"},
		{"git config --get core.hooksPath", ""},
		{"git config user.name", ""},
		{"git config --global alias.x '!sh'", "/home/me/.gitconfig"},
		{"touch $X", ""},
		{"sudo tee .git/hooks/pre-commit < f", "tee .git/hooks/pre-commit"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			got := []string{}
			for _, w := range shell.Read(tt.line, place).Writes {
				if rel, err := filepath.Rel(place.Dir, w); err == nil && filepath.IsLocal(rel) {
					w = rel
				}
				got = append(got, w)
			}
			if d := cmp.Diff(strings.Fields(tt.want), got); d != "" {
				t.Errorf("writes (-want +got):\n%s", d)
			}
		})
	}
}

func TestGit(t *testing.T) {
	tests := []struct {
		line string
		want []shell.Git
	}{
		{"git reset --hard HEAD~1", []shell.Git{{What: "git reset --hard", Dir: place.Dir, Tree: true}}},
		{"git reset HEAD f", nil},
		{"git clean -fd", []shell.Git{{What: "git clean -f", Dir: place.Dir, Tree: true}}},
		{"git clean -fdx", []shell.Git{{What: "git clean -f", Dir: place.Dir}}},
		{"git clean -Xdf", []shell.Git{{What: "git clean -f", Dir: place.Dir}}},
		{"git clean -dfe x -enode", []shell.Git{{What: "git clean -f", Dir: place.Dir, Tree: true}}},
		{"git clean -n -fd", nil},
		{"git checkout -- .", []shell.Git{{What: "git checkout of files", Dir: place.Dir, Tree: true}}},
		{"git checkout .", []shell.Git{{What: "git checkout of files", Dir: place.Dir, Tree: true}}},
		{"git checkout main.go", []shell.Git{{What: "git checkout of files", Dir: place.Dir, Tree: true}}},
		{"git checkout HEAD~1 src", []shell.Git{{What: "git checkout of files", Dir: place.Dir, Tree: true}}},
		{"git checkout v1.2", nil},
		{"git checkout -b new origin/main", nil},
		{"git reset --har", []shell.Git{{What: "git reset --hard", Dir: place.Dir, Tree: true}}},
		{"git checkout main", nil},
		{"git checkout -b new", nil},
		{"git restore f", []shell.Git{{What: "git restore", Dir: place.Dir, Tree: true}}},
		{"git restore --staged f", nil},
		{"git switch main", nil},
		{"git switch -f main", []shell.Git{{What: "git switch --discard-changes", Dir: place.Dir, Tree: true}}},
		{"git stash", nil},
		{"git stash drop", []shell.Git{{What: "git stash drop", Dir: place.Dir}}},
		{"git push", nil},
		{"git push -f origin main", []shell.Git{{What: "git push --force", Dir: place.Dir}}},
		{"git push --force-with-lease=x", []shell.Git{{What: "git push --force", Dir: place.Dir}}},
		{"git push origin +main", []shell.Git{{What: "git push --force", Dir: place.Dir}}},
		{"git branch -D x", []shell.Git{{What: "git branch -D", Dir: place.Dir}}},
		{"git branch -d x", nil},
		{"git -C /other -c a=b reset --hard", []shell.Git{{What: "git reset --hard", Dir: "/other", Tree: true}}},
		{"cd $X && git reset --hard", []shell.Git{{What: "git reset --hard", Tree: true}}},
		{"env A=1 git reset --hard", []shell.Git{{What: "git reset --hard", Dir: place.Dir, Tree: true}}},
		{"sh -c 'git stash clear'", []shell.Git{{What: "git stash clear", Dir: place.Dir}}},
		{"echo git reset --hard", nil},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			if got := shell.Read(tt.line, place).Git; !slices.Equal(got, tt.want) {
				t.Errorf("git = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		shell.Read("cd src && go build ./... && (go test ./... 2>&1 | tail -50) > ../log", place)
	}
}
