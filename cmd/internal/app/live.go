package app

import (
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// A live configuration is read again when its file has changed, so that a send
// sees what the user has just saved (R-HARN-04).
type live struct {
	sources config.Sources
	warn    func(config.Warning)

	mu    sync.Mutex // guards the fields below
	path  string     // of the file, once known
	now   *config.Config
	stamp stamp // of the file just before now was read
	told  map[config.Warning]bool
}

// A stamp tells two states of a file apart.
type stamp struct {
	size int64
	time time.Time
	mode fs.FileMode
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime(), info.Mode()}
}

// read returns the configuration as it is now. While the file is broken it
// returns the error and keeps nothing, so that the next send reads it again.
func (l *live) read() (*config.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stamp := stampOf(l.path) // the first read does not know the path, and so is not the last
	if l.now != nil && stamp == l.stamp {
		return l.now, nil
	}
	c, warnings, err := config.Load(l.sources)
	if err != nil {
		l.now = nil
		return nil, err
	}
	l.now, l.path, l.stamp = c, c.Paths.Config, stamp
	for _, w := range warnings {
		if !l.told[w] {
			l.told[w] = true
			l.warn(w)
		}
	}
	return c, nil
}
