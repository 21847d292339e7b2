package acp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lorimer-dev/lorimer/acp/acptest"
)

// R-PROMPT-34, M-17, R-ACP-18: the voice note goes with the messages between
// on and off.
func TestVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		e := acptest.Open(t, rig{model: `{"text":"x","repeat":true}`, seen: rec}.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()))
		set := func(id int, value string) {
			t.Helper()
			e.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/set_config_option","params":{"sessionId":"s","configId":"voice","value":%q}}`, id, value))
			if m := acptest.Answer(t, acptest.Messages(t, e.Hear()), fmt.Sprint(id)); (m.Error != nil) != (value == "loud") {
				t.Errorf("voice %s: %+v", value, m.Error)
			}
		}
		for i, value := range []string{"", "on", "loud", "off"} {
			if value != "" {
				set(10+i, value)
			}
			e.Say(promptLine(20+i, "s", fmt.Sprintf("message %d", i)))
			e.Hear()
		}
		var got []bool
		for i, req := range rec.requests {
			before, _, _ := strings.Cut(sent(req), fmt.Sprintf("message %d", i))
			_, note, _ := strings.Cut(before, fmt.Sprintf("message %d", i-1))
			got = append(got, strings.Contains(note, "read aloud"))
		}
		if want := []bool{false, true, true, false}; !slices.Equal(got, want) {
			t.Errorf("requests with the note: %v, want %v", got, want)
		}
	})
}
