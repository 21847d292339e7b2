package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// reuse has turns with tools against a server of each protocol and prints how much
// of each request the next one repeats as its prefix, in raw bytes: what a provider
// can take from its cache. The cached share is what the program says of it.
func reuse(b *built) error {
	const turns = 20
	for _, p := range modeltest.Protocols() {
		s, err := modeltest.Open(talk(turns)...)
		if err != nil {
			return err
		}
		said, err := converse(b, p, s, turns)
		if err = errors.Join(err, s.Close()); err != nil {
			return fmt.Errorf("%s: %w; the server refused %q", p.Name, err, s.Rejected())
		}
		reqs := s.Requests()
		first, last := len(reqs[0].Body), len(reqs[len(reqs)-1].Body)
		fmt.Printf("  %-16s prefix reuse %.3f (bar: 1.000) in %d requests of %d turns, from %.1f to %.1f KB, %d refused; %s\n",
			p.Name, math.Floor(s.Ratio()*1000)/1000, len(reqs), turns, float64(first)/1e3, float64(last)/1e3, len(s.Rejected()), said)
	}
	return nil
}

// talk returns the answers of n turns: each looks at a file, at two at once in
// every third, and then says what it saw.
func talk(n int) []modeltest.Reply {
	var replies []modeltest.Reply
	for i := range n {
		read := modeltest.Tool{Name: "read", Args: modeltest.JSON(map[string]any{"path": "notes.txt", "offset": i + 1, "limit": 3})}
		look := modeltest.Reply{Text: []string{fmt.Sprintf("Step %d: ", i), "I look."}, Tools: []modeltest.Tool{read}}
		if i%3 == 2 {
			look.Tools = append(look.Tools, modeltest.Tool{Name: "grep", Args: modeltest.JSON(map[string]any{"pattern": "line"})})
		}
		replies = append(replies, look, modeltest.Reply{Text: []string{"It says ", fmt.Sprintf("<line %d> & more.", i)}})
	}
	return replies
}

// converse has the turns in one session and returns what the program says of the
// tokens.
func converse(b *built, p modeltest.Protocol, s *modeltest.Server, turns int) (string, error) {
	dir, err := os.MkdirTemp(b.dir, "reuse-")
	if err != nil {
		return "", err
	}
	config := filepath.Join(dir, "config.toml")
	text := fmt.Sprintf("model = %q\n[providers.house]\nkind = %q\nbase_url = %q\napi_key_command = \"echo bench\"\n", "house/"+p.ID, p.Name, p.URL(s))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", err
	}
	a, err := launch(b, b.lorimer, "acp", "--config", config, "--state", dir, "--mode", "auto")
	if err != nil {
		return "", err
	}
	var notes strings.Builder
	for i := range 100 {
		fmt.Fprintf(&notes, "line %d of the notes\n", i)
	}
	if err := os.WriteFile(filepath.Join(a.cmd.Dir, "notes.txt"), []byte(notes.String()), 0o600); err != nil {
		return "", err
	}
	session, err := a.open()
	if err != nil {
		return "", err
	}
	for i := range turns {
		if err := a.call("session/prompt", promptParams(session, fmt.Sprintf("What is at %d?", i)), nil, nil); err != nil {
			return "", err
		}
	}
	said, err := cached(a, session)
	if err != nil {
		return "", err
	}
	_, err = a.close()
	return said, err
}

// cached asks the program what its session has used.
func cached(a *agent, session string) (string, error) {
	var answer strings.Builder
	if err := a.call("session/prompt", promptParams(session, "/usage"), nil, func(line []byte) { answer.Write(line) }); err != nil {
		return "", err
	}
	found := regexp.MustCompile(`Tokens in: ([\d,]+), of which ([\d,]+) came from a cache`).FindStringSubmatch(answer.String())
	if found == nil {
		return "", fmt.Errorf("/usage says nothing of tokens: %s", answer.String())
	}
	in, hit := number(found[1]), number(found[2])
	return fmt.Sprintf("%.1f %% of %.0f tokens cached", 100*hit/max(in, 1), in), nil
}

func number(s string) float64 {
	n, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil {
		return 0
	}
	return n
}
