package memory_test

import (
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
)

func TestThreads(t *testing.T) {
	storetest.TestThreads(t, func(*testing.T) harness.Threads { return memory.New(nil) })
}

func TestPlaces(t *testing.T) {
	storetest.TestPlaces(t, func(_ *testing.T, now func() time.Time) place.Places { return memory.NewPlaces(now) })
}
