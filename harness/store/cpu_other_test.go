//go:build !unix

package store_test

import (
	"testing"
	"time"
)

// cpu is not known here.
func cpu(testing.TB) time.Duration { return 0 }
