package cli

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/event"
)

// A terminal shows what a model has written, and does nothing else with it. Programs get
// it as it is.
func TestTextOutputOnTerminal(t *testing.T) {
	const text = "a\x1b]0;title\x07b\r\n\tc\u202ed\u009b2J é 日本"
	for _, tt := range []struct {
		name    string
		steered bool
		want    string
	}{
		{"terminal", true, `a\x1b]0;title\x07b` + "\n\tc" + `\u202ed\x9b2J é 日本` + "\n"},
		{"pipe", false, text + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			o := &textOutput{out: &b, steered: tt.steered}
			if err := o.Emit(event.Text{MessageID: "1", Text: text}); err != nil {
				t.Fatal(err)
			}
			if err := o.Emit(event.Text{MessageID: "1", Text: "\n"}); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != tt.want {
				t.Errorf("it writes %q, want %q", got, tt.want)
			}
		})
	}
}
