package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// scripted starts lorimer on a script model whose answers have n chunks each.
func scripted(b *built, n int) (*agent, error) {
	model, err := script(b, n)
	if err != nil {
		return nil, err
	}
	return launch(b, b.lorimer, "acp", "--model", model)
}

// script returns the name of a script model whose answers have n chunks each.
func script(b *built, n int) (string, error) {
	text := make([]string, n)
	for i := range text {
		text[i] = fmt.Sprintf("word %d ", i)
	}
	line, err := json.Marshal(map[string]any{"text": text, "repeat": true})
	if err != nil {
		return "", err
	}
	f := filepath.Join(b.dir, fmt.Sprintf("script-%d.jsonl", n))
	return "script:" + f, os.WriteFile(f, append(line, '\n'), 0o600)
}

// cancelRace writes a prompt and its cancel in one write and counts the answers.
func cancelRace(b *built) error {
	const rounds = 300
	a, err := scripted(b, 200)
	if err != nil {
		return err
	}
	session, err := a.open()
	if err != nil {
		return err
	}
	stop, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "session/cancel",
		"params": map[string]any{"sessionId": session}})
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for range rounds {
		p, id, err := a.line("session/prompt", promptParams(session, "hello"))
		if err != nil {
			return err
		}
		if _, err := a.in.Write(append(append(p, stop...), '\n')); err != nil {
			return err
		}
		var r struct{ StopReason string }
		if err := a.answer(id, &r, nil); err != nil {
			return err
		}
		counts[r.StopReason]++
	}
	if _, err := a.close(); err != nil {
		return err
	}
	fmt.Printf("  answers by stop reason: %v (bar: cancelled:%d)\n", counts, rounds)
	return nil
}

// chunks compares whole processes that differ in the chunks of one turn only.
func chunks(b *built) error {
	const many, rounds = 2000, 10
	cpu := map[int]time.Duration{}
	frames := 0
	for range rounds {
		for _, n := range []int{1, many} {
			a, err := scripted(b, n)
			if err != nil {
				return err
			}
			session, err := a.open()
			if err != nil {
				return err
			}
			frames = 0
			err = a.call("session/prompt", promptParams(session, "go"), nil, func(line []byte) {
				if bytes.Contains(line, []byte("agent_message_chunk")) {
					frames++
				}
			})
			if err != nil {
				return err
			}
			used, err := a.close()
			if err != nil {
				return err
			}
			if cpu[n] == 0 || used < cpu[n] {
				cpu[n] = used
			}
		}
	}
	fmt.Printf("  %.1f µs a chunk (best of %d: %.2f ms with 1 chunk, %.2f ms with %d; written as %d frames)\n",
		float64((cpu[many]-cpu[1]).Microseconds())/(many-1), rounds, ms(cpu[1]), ms(cpu[many]), many, frames)
	fmt.Println("  allocations a chunk: go test -bench Chunk -benchmem ./acp/...")
	return nil
}

// memory reads the resident set of a process that has settled.
func memory(b *built) error {
	a, err := scripted(b, 1)
	if err != nil {
		return err
	}
	if err := a.call("initialize", initParams, nil, nil); err != nil {
		return err
	}
	before, err := a.memory("VmRSS")
	if err != nil {
		return err
	}
	var s struct{ SessionID string }
	if err := a.call("session/new", map[string]any{"cwd": a.cmd.Dir, "mcpServers": []any{}}, &s, nil); err != nil {
		return err
	}
	session, err := a.memory("VmRSS")
	if err != nil {
		return err
	}
	if err := a.call("session/prompt", promptParams(s.SessionID, strings.Repeat("x", 100)), nil, nil); err != nil {
		return err
	}
	turn, err := a.memory("VmRSS")
	if err != nil {
		return err
	}
	if _, err := a.close(); err != nil {
		return err
	}
	fmt.Printf("  after initialize %.1f MB, after session/new %.1f MB, after a turn %.1f MB\n",
		float64(before)/1e3, float64(session)/1e3, float64(turn)/1e3)
	return nil
}
