package skills

import (
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"time"
)

const (
	// settled is the age from which the time of a file's change tells that it has
	// not changed since: file systems count in steps, of up to two seconds.
	settled = 2 * time.Second
	// maxKept is how many bytes of skills are kept that the last Find did not see.
	maxKept = 16 << 20
)

// A place is where a reading was made: the same file reads otherwise in another
// scope.
type place struct {
	path  string
	scope Scope
}

// A stamp tells whether a file is as it was.
type stamp struct {
	size    int64
	changed int64 // unix time in nanoseconds
	mode    fs.FileMode
	inode   [2]uint64
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{info.Size(), info.ModTime().UnixNano(), info.Mode(), inode(info)}
}

// A reading is what a candidate turned out to be.
type reading struct {
	skill   Skill // without Folder and Within
	ok      bool  // it is a skill
	remarks []remark
}

// A kept reading counts while the stamp of the file is the same.
type kept struct {
	reading
	stamp stamp
	round uint64 // the last Find that used it
}

// size is how many bytes k takes, about.
func (k kept) size() int { return len(k.skill.Instruction) + len(k.skill.Description) + 500 }

// A look is one Find's use of the library.
type look struct {
	lib   *Library
	round uint64
	fresh map[place]kept
}

func (l *Library) start() look {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.round++
	return look{l, l.round, map[place]kept{}}
}

// end keeps what was read, and forgets what has not been used of late when there is
// too much of it.
func (k *look) end() {
	k.lib.mu.Lock()
	defer k.lib.mu.Unlock()
	if k.lib.kept == nil {
		k.lib.kept = map[place]kept{}
	}
	maps.Copy(k.lib.kept, k.fresh)
	idle := 0
	for _, r := range k.lib.kept {
		if r.round != k.round {
			idle += r.size()
		}
	}
	if idle > maxKept {
		maps.DeleteFunc(k.lib.kept, func(_ place, r kept) bool { return r.round != k.round })
	}
}

// read returns what a candidate is, from what is kept if the file is the same.
func (k *look) read(c candidate, root Root) reading {
	if c.wrong != "" {
		return reading{remarks: []remark{fatal("%s", c.wrong)}}
	}
	at := place{c.path, root.Scope}
	if r, ok := k.lib.recall(at, stampOf(c.info), k.round); ok {
		return r
	}
	data, info, err := c.read()
	if err != nil {
		return reading{remarks: []remark{fatal("%s", reason(c.file, err))}}
	}
	r := c.reading(parse(c.name, data, info.Size()), root)
	if age := time.Since(info.ModTime()); age > settled || age < -settled {
		k.fresh[at] = kept{r, stampOf(info), k.round}
	}
	return r
}

// recall returns a kept reading that is as good as another one.
func (l *Library) recall(at place, s stamp, round uint64) (reading, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.kept[at]
	if !ok || r.stamp != s {
		return reading{}, false
	}
	r.round = round
	l.kept[at] = r
	return r.reading, true
}

// reading makes a skill of a document.
func (c candidate) reading(d *document, root Root) reading {
	if d.refused() {
		return reading{remarks: d.remarks}
	}
	folder := ""
	if c.dir != "" {
		folder = filepath.Dir(c.path)
		if rel, err := filepath.Rel(root.base, folder); err == nil && root.Scope == Project {
			folder = rel
		}
	}
	s := Skill{Skill: d.skill, Scope: cmp.Or(root.Scope, User), Path: c.path, Enabled: d.enabled}
	s.Where = where(folder)
	if s.Scope == Project {
		s.Instruction, s.Fenced = fence(d.skill), true
	}
	return reading{s, true, d.remarks}
}
