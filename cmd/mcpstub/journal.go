package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A journal is a file that a test reads to learn what happened. Processes may share
// it: a line is one write. It is safe for concurrent use; nil writes nothing.
type journal struct{ file *os.File }

func openJournal(name string) (*journal, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{f}, nil
}

// write appends a line with the fields, the event, the time and the process.
func (j *journal) write(event string, fields map[string]any) {
	if j == nil {
		return
	}
	fields["event"], fields["pid"], fields["time"] = event, os.Getpid(), time.Now().Format(time.RFC3339Nano)
	line, err := json.Marshal(fields)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpstub: writing the log:", err)
	}
}

// message notes a message that came in.
func (j *journal) message(data []byte) {
	if json.Valid(data) {
		j.write("message", map[string]any{"message": json.RawMessage(data)})
	} else {
		j.write("message", map[string]any{"text": string(data)})
	}
}

// countStart adds a start to the file, one byte for each, and returns how many there
// are with it. Without a file it is the first.
func countStart(name string) (int, error) {
	if name == "" {
		return 1, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.WriteString("."); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}
