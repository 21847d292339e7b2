package skills

// Fail has the watches of l hear of an error of the system.
func (l *Library) Fail(err error) { l.hub.notify.Errors <- err }

// Break takes away what l watches with, and has its watches notice it.
func (l *Library) Break() {
	_ = l.hub.notify.Close() // it is open
	<-l.hub.ended
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	for _, watches := range l.hub.dirs {
		for w := range watches {
			w.touch()
		}
	}
}
