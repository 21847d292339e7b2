package app

import (
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// A live configuration is read again when one of its files has changed, so that a
// send sees what the user has just saved (R-HARN-04).
type live struct {
	sources config.Sources
	warn    func(config.Warning)

	mu     sync.Mutex // guards the fields below
	now    *config.Config
	files  []string // that now was read from, whether they were there or not
	stamps []stamp  // of the files just before now was read
	told   map[config.Warning]bool
}

// A stamp tells two states of a file apart.
type stamp struct {
	size int64
	time time.Time
	mode fs.FileMode
}

func stampsOf(files []string) []stamp {
	all := make([]stamp, len(files))
	for i, f := range files {
		if info, err := os.Stat(f); err == nil {
			all[i] = stamp{info.Size(), info.ModTime(), info.Mode()}
		}
	}
	return all
}

// read returns the configuration as it is now. While a file is broken it
// returns the error and keeps nothing, so that the next send reads it again.
func (l *live) read() (*config.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stamps := stampsOf(l.files) // the first read does not know the files, and so is not the last
	if l.now != nil && slices.Equal(stamps, l.stamps) {
		return l.now, nil
	}
	c, warnings, err := config.Load(l.sources)
	if err != nil {
		l.now = nil
		return nil, err
	}
	l.now, l.files, l.stamps = c, []string{c.Paths.Config, c.ModelsPath()}, stamps
	for _, w := range warnings {
		if !l.told[w] {
			l.told[w] = true
			l.warn(w)
		}
	}
	return c, nil
}
