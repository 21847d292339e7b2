package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// An agent is a running program under measurement.
type agent struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
}

// launch starts program in an empty home.
func launch(b *built, program string, args ...string) (*agent, error) {
	home, err := os.MkdirTemp(b.dir, "home-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + b.dir}
	cmd.Dir = home
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(home, "stderr"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &agent{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}, nil
}

// line returns a request as one line, and its id.
func (a *agent) line(method string, params any) ([]byte, int, error) {
	a.next++
	p, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.next, "method": method, "params": params})
	return append(p, '\n'), a.next, err
}

// call sends a request and waits for its answer. It passes the updates that
// come before it to each, which may be nil.
func (a *agent) call(method string, params, result any, each func([]byte)) error {
	p, id, err := a.line(method, params)
	if err != nil {
		return err
	}
	if _, err := a.in.Write(p); err != nil {
		return err
	}
	return a.answer(id, result, each)
}

// answer reads up to the answer with this id.
func (a *agent) answer(id int, result any, each func([]byte)) error {
	want := fmt.Appendf(nil, `"id":%d,`, id)
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("reading the answer to request %d: %w", id, err)
		}
		if bytes.Contains(line, []byte(`"method":`)) || !bytes.Contains(line, want) {
			if each != nil {
				each(line)
			}
			continue
		}
		var r struct {
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.Error != nil {
			return fmt.Errorf("request %d: %s", id, r.Error)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(r.Result, result)
	}
}

// open initializes the agent and makes a session in its home.
func (a *agent) open() (session string, err error) {
	if err := a.call("initialize", initParams, nil, nil); err != nil {
		return "", err
	}
	var s struct{ SessionID string }
	err = a.call("session/new", map[string]any{"cwd": a.cmd.Dir, "mcpServers": []any{}}, &s, nil)
	return s.SessionID, err
}

var initParams = map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}}

func promptParams(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
}

// close ends the input and returns the processor time that the agent used.
func (a *agent) close() (cpu time.Duration, err error) {
	a.in.Close()
	if _, err := io.Copy(io.Discard, a.out); err != nil {
		return 0, err
	}
	if err := a.cmd.Wait(); err != nil {
		return 0, err
	}
	return a.cmd.ProcessState.UserTime() + a.cmd.ProcessState.SystemTime(), nil
}

// memory returns a figure of /proc about the memory of the agent, in kilobytes:
// VmRSS is what is resident, VmHWM the most that was.
func (a *agent) memory(name string) (int, error) {
	p, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	var kb int
	_, rest, _ := bytes.Cut(p, []byte(name+":"))
	_, err = fmt.Sscan(string(rest), &kb)
	return kb, err
}

// busy returns the processor time that the agent has used so far, which the
// system counts in hundredths of a second.
func (a *agent) busy() (time.Duration, error) {
	p, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(p[bytes.LastIndexByte(p, ')')+1:])) // from the third on
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, err
	}
	return time.Duration(user+system) * (time.Second / 100), nil
}
