package acptest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// The sections of a transcript that are said and heard. All others are files for
// the agent's set-up.
const (
	client = "client"
	agent  = "agent"
)

// What differs between runs that say the same, or with the words of a prompt.
var (
	madeUp = regexp.MustCompile(`\b(notice|u|m)-[A-Za-z2-7]{26}\b`) // ids
	likely = regexp.MustCompile(`"used":\d+(,"size":\d+,"_meta":\{"lorimer\.dev":\{"estimated":true\}\})`)
	chunk  = regexp.MustCompile(`^(.*_chunk","messageId":"[^"]*","content":\{"type":"text","text":")(.+)("\}\}\}\})$`)
)

// settle returns what was heard in the form in which it stands in a transcript:
// how the pieces of a message were joined on their way depends on who was faster,
// so neighbours are one.
func settle(heard []string, dir string) string {
	var b strings.Builder
	var head, text, tail string
	flush := func() {
		if head != "" {
			b.WriteString(head + text + tail + "\n")
		}
		head, text = "", ""
	}
	for _, line := range heard {
		m := chunk.FindStringSubmatch(line)
		if m == nil {
			flush()
			b.WriteString(line + "\n")
			continue
		}
		if m[1] != head {
			flush()
		}
		head, text, tail = m[1], text+m[2], m[3]
	}
	flush()
	said := madeUp.ReplaceAllString(strings.ReplaceAll(b.String(), dir, "$DIR"), "$1-N")
	return likely.ReplaceAllString(said, `"used":"N"$1`)
}

// Transcript plays a file of sections "client" and "agent" and compares what the
// agent says after each client section with the agent section that follows. With
// update set it writes what was said into the file instead.
//
// A client section holds lines that are sent in one write, and directives:
//
//	# sleep 1s     sends what stands before it, then lets time pass
//	# end          ends the agent's input
//	# hang up      closes its output
//	# stop         asks it to leave
//
// Every other section is a file below dir, which is written first. $DIR stands
// for dir in both directions.
func Transcript(t *testing.T, file, dir string, update bool, serve func(*txtar.Archive) Serve) {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files {
		if f.Name == client || f.Name == agent {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	said := play(t, ar, dir, serve(ar))
	for i, got := range said {
		if diff := cmp.Diff(string(ar.Files[i].Data), got); diff != "" && !update {
			t.Errorf("section %d, agent (-want +got):\n%s", i, diff)
		}
		ar.Files[i].Data = []byte(got)
	}
	if !update {
		return
	}
	if err := os.WriteFile(file, txtar.Format(ar), 0o666); err != nil {
		t.Fatal(err)
	}
}

// play speaks the client's part and returns what was heard for each agent
// section, by its place in the archive.
func play(t *testing.T, ar *txtar.Archive, dir string, serve Serve) map[int]string {
	t.Helper()
	said := make(map[int]string)
	synctest.Test(t, func(t *testing.T) {
		e := Open(t, serve)
		for i, f := range ar.Files {
			switch f.Name {
			case client:
				e.speak(strings.ReplaceAll(string(f.Data), "$DIR", dir))
			case agent:
				said[i] = settle(e.Hear(), dir)
			}
		}
		if rest := e.Hear(); len(rest) > 0 {
			t.Errorf("the agent said more than the transcript has:\n%s", strings.Join(rest, "\n"))
		}
	})
	return said
}

// speak sends a client section and obeys its directives.
func (e *Editor) speak(text string) {
	e.tb.Helper()
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		directive, ok := strings.CutPrefix(line, "# ")
		if !ok {
			lines = append(lines, line)
			continue
		}
		e.Say(lines...)
		lines = nil
		e.obey(directive)
	}
	e.Say(lines...)
}

func (e *Editor) obey(directive string) {
	e.tb.Helper()
	switch directive {
	case "end":
		e.End()
		return
	case "hang up":
		e.HangUp()
		return
	case "stop":
		e.Stop()
		return
	}
	pause, ok := strings.CutPrefix(directive, "sleep ")
	d, err := time.ParseDuration(pause)
	if !ok || err != nil {
		e.tb.Fatalf("unknown directive %q", directive)
	}
	time.Sleep(d)
}
