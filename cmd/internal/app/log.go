package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// A Log is the program's log: standard error, or a file.
type Log struct {
	zerolog.Logger
	file *os.File // nil for standard error
}

// OpenLog opens the log that run asks for. Standard error gets lines for
// people, since editors show them; a file gets JSON.
func OpenLog(run config.Run, stderr io.Writer) (*Log, error) {
	level, err := zerolog.ParseLevel(run.LogLevel)
	if run.LogLevel == "off" {
		level, err = zerolog.Disabled, nil
	}
	if err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	if run.LogFile == "" {
		w := zerolog.ConsoleWriter{Out: stderr, NoColor: true, TimeFormat: time.TimeOnly}
		return &Log{Logger: zerolog.New(w).Level(level).With().Timestamp().Logger()}, nil
	}
	if err := os.MkdirAll(filepath.Dir(run.LogFile), 0o700); err != nil {
		return nil, fmt.Errorf("opening log: %w", err)
	}
	f, err := os.OpenFile(run.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening log: %w", err)
	}
	return &Log{Logger: zerolog.New(f).Level(level).With().Timestamp().Logger(), file: f}, nil
}

// Close closes the file.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
