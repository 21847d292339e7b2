package memory_test

import (
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
)

func TestThreads(t *testing.T) {
	storetest.TestThreads(t, func(*testing.T) harness.Threads { return memory.New(nil) })
}
