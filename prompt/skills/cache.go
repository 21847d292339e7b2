package skills

import (
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/lorimer-dev/lorimer/prompt"
)

const (
	// settled is the age from which the time of a file's change tells that it has
	// not changed since: file systems count in steps, of up to two seconds.
	settled = 2 * time.Second
	// maxKept is how many bytes of skills are kept that the last Find did not see.
	maxKept = 16 << 20
	// maxSent is maxKept for skills of clients, which their sessions hold anyway.
	maxSent = 32 << 20
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
	fresh map[place]*kept
	sent  map[prompt.Skill]*kept // by what the client sent
}

func (l *Library) start() look {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.round++
	return look{l, l.round, map[place]*kept{}, map[prompt.Skill]*kept{}}
}

// end keeps what was read, and forgets what has not been used of late when there is
// too much of it.
func (k *look) end() {
	k.lib.mu.Lock()
	defer k.lib.mu.Unlock()
	if k.lib.kept == nil {
		k.lib.kept = map[place]*kept{}
	}
	maps.Copy(k.lib.kept, k.fresh)
	prune(k.lib.kept, k.round, maxKept, func(_ place, r *kept) int { return r.size() })
	if k.lib.sent == nil {
		k.lib.sent = map[prompt.Skill]*kept{}
	}
	maps.Copy(k.lib.sent, k.sent)
	prune(k.lib.sent, k.round, maxSent, func(s prompt.Skill, r *kept) int {
		return len(s.Instruction) + len(s.Description) + r.size()
	})
}

// prune removes what the round has not used if that is more than limit bytes.
func prune[K comparable](all map[K]*kept, round uint64, limit int, size func(K, *kept) int) {
	idle := 0
	for key, r := range all {
		if r.round != round {
			idle += size(key, r)
		}
	}
	if idle > limit {
		maps.DeleteFunc(all, func(_ K, r *kept) bool { return r.round != round })
	}
}

// read returns what a candidate is, from what is kept if the file is the same.
func (k *look) read(c candidate, root Root) reading {
	if c.wrong != "" {
		return reading{remarks: []remark{fatal("%s", c.wrong)}}
	}
	at := place{c.path, root.Scope}
	if r, ok := recall(k, func(l *Library) map[place]*kept { return l.kept }, at, stampOf(c.info)); ok {
		return r
	}
	data, info, err := c.read()
	if err != nil {
		return reading{remarks: []remark{fatal("%s", reason(c.file, err))}}
	}
	r := c.reading(parse(c.name, data, info.Size()), root)
	if age := time.Since(info.ModTime()); age > settled || age < -settled {
		k.fresh[at] = &kept{r, stampOf(info), k.round}
	}
	return r
}

// wire returns what a skill of the client is, from what is kept if that is all the
// same.
func (k *look) wire(s prompt.Skill) reading {
	if r, ok := recall(k, func(l *Library) map[prompt.Skill]*kept { return l.sent }, s, stamp{}); ok {
		return r
	}
	r := sent(s)
	k.sent[s] = &kept{r, stamp{}, k.round}
	return r
}

// sent makes a skill of what a client sends (R-PROMPT-45).
func sent(s prompt.Skill) reading {
	if err := Check(s); err != nil {
		return reading{remarks: []remark{fatal("skill %.80q: %v", s.Name, err)}}
	}
	d := document{skill: s, enabled: true}
	d.shape(s.Instruction, false, int64(len(s.Instruction)))
	r := reading{skill: Skill{Skill: d.skill, Scope: Wire, Enabled: true}, ok: true}
	for _, m := range d.remarks {
		r.remarks = append(r.remarks, mild("skill %q: %s", s.Name, m.text))
	}
	return r
}

// recall returns a kept reading that is as good as another one.
func recall[K comparable](k *look, of func(*Library) map[K]*kept, at K, s stamp) (reading, bool) {
	k.lib.mu.Lock()
	defer k.lib.mu.Unlock()
	r, ok := of(k.lib)[at]
	if !ok || r.stamp != s {
		return reading{}, false
	}
	r.round = k.round
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
