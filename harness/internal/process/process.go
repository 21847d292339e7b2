// Package process tells the processes of a machine apart, also those that have
// ended, so that what a dead one has left behind can be taken over.
//
// An id alone does not name a process: ids are used again, and two containers of
// one machine have the same ones. So a [Process] has its [Place], where its id is
// unique, and the time of its start, in whatever unit the system counts.
package process

import (
	"os"
	"sync"
)

// A Process is one process of a machine. What the system does not tell is "".
type Process struct {
	ID      int
	Host    string
	Place   string // where the id is unique: this boot, this namespace
	Started string
}

// Self returns this process. It reads the system once.
var Self = sync.OnceValue(func() Process {
	p := Process{ID: os.Getpid(), Place: place()}
	p.Host, _ = os.Hostname() // "" is an unknown host, as good as another
	p.Started, _ = started(p.ID)
	return p
})

// Dead reports whether p has ended for certain: it was of the same host and place
// as this process, and no process with its id and start is there.
func (p Process) Dead() bool {
	self := Self()
	if p.Host == "" || p.Place == "" || p.Host != self.Host || p.Place != self.Place || p.ID <= 0 {
		return false
	}
	if !running(p.ID) {
		return true
	}
	now, ok := started(p.ID)
	return ok && p.Started != "" && now != p.Started
}
