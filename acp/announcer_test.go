package acp

import (
	"testing"
	"testing/synctest"
)

// What changes before the opening has been answered is told with all the rest, once.
func TestAnnouncerWaitsForTheAnswer(t *testing.T) {
	told := 0
	a := &announcer{}
	a.changed() // there is nothing yet that could be told
	a.tell = func() { told++ }
	a.changed()
	if told != 0 {
		t.Fatalf("told %d times before the answer", told)
	}
	a.begin()
	if told != 1 {
		t.Errorf("told %d times with the answer, want once", told)
	}
	a.changed()
	a.begin() // by a load of the session
	if told != 3 {
		t.Errorf("told %d times after a change and another answer, want 3", told)
	}
}

// While the client is slow to read nobody waits, and what comes in the meantime is
// told in the end, once for all of it.
func TestAnnouncerTellsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, told := 0, []int(nil)
		read := make(chan struct{})
		a := &announcer{}
		a.tell = func() {
			v := now
			<-read
			told = append(told, v)
		}
		done := make(chan struct{})
		go func() {
			a.begin()
			close(done)
		}()
		for now < 3 {
			synctest.Wait()
			now++
			a.changed() // would be a deadlock of the test if it waited
		}
		close(read)
		<-done
		if len(told) != 2 || told[0] != 0 || told[1] != 3 {
			t.Errorf("told %v, want the state before and the last", told)
		}
		now = 4
		a.changed()
		if last := told[len(told)-1]; last != 4 {
			t.Errorf("the last that was told is %d, want 4", last)
		}
	})
}
