package acp_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
)

// A badOutput is an output that cannot be written.
type badOutput struct{ err error }

func (b badOutput) Write([]byte) (int, error) { return 0, b.err }

// R-ACP-05: a reader that has gone is a normal end. Answers that are lost on the
// way to one are not: whoever pipes requests in would take them for given.
func TestLostOutput(t *testing.T) {
	tests := []struct {
		name      string
		err, want error
	}{
		{"no reader", io.ErrClosedPipe, nil},
		{"full disk", syscall.ENOSPC, syscall.ENOSPC},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := rig{}.serve(t)(t.Context(), strings.NewReader(initialize+"\n"), badOutput{tt.err})
			if !errors.Is(err, tt.want) {
				t.Errorf("Serve: %v, want %v", err, tt.want)
			}
		})
	}
}
