package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRow238WireOfTheSDK goes through the protocol with the official client. The
// recorded wire is judged when the test ends.
func TestRow238WireOfTheSDK(t *testing.T) {
	p := newPeer(t)
	p.file("notes.txt", "first line\n")
	out, diag, err := p.run(append([]string{abs(t, "sdk.mjs"), p.cwd}, p.agent("--model", "offline")...)...)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, diag)
	}
	want := strings.TrimSpace(`
{"step":"initialize","protocolVersion":1,"agent":"lorimer"}
{"step":"new","modes":["ask","accept-edits","auto","read-only"],"options":["mode","model","thinking","tools","citations","voice"]}
{"step":"read","stopReason":"end_turn","kinds":["agent_message_chunk","agent_thought_chunk","session_info_update","tool_call","tool_call_update","usage_update"],"calls":["pending","in_progress","completed"]}
{"step":"write","stopReason":"end_turn","kinds":["agent_message_chunk","agent_thought_chunk","tool_call","tool_call_update","usage_update"],"calls":["pending","in_progress","completed","pending","in_progress","completed"]}
{"step":"reject","stopReason":"end_turn","kinds":["agent_message_chunk","agent_thought_chunk","tool_call","tool_call_update","usage_update"],"calls":["pending","failed"]}
{"step":"cancel at a question","stopReason":"cancelled"}
{"step":"cancel a command","stopReason":"cancelled"}
{"step":"set_config_option","mode":"auto","options":6}
{"step":"after","stopReason":"end_turn","kinds":["agent_message_chunk","usage_update"],"calls":[]}
{"step":"unknown method","code":-32601}
{"step":"unknown session","code":-32002}
{"step":"unknown mode","code":-32602}
{"step":"close"}
{"step":"list","ids":[true],"title":"read notes.txt","dated":true}
{"step":"load","kinds":["agent_message_chunk","agent_thought_chunk","tool_call","usage_update","user_message_chunk"],"calls":["completed","completed","completed","failed","failed","failed"],"same":true}
{"step":"after load","stopReason":"end_turn","kinds":["agent_message_chunk","usage_update"],"calls":[]}
{"step":"fork","users":1}
{"step":"title","title":"Notes"}
{"step":"archive","shown":[],"archived":[true],"status":"saved"}
{"step":"resume","kinds":[],"status":"open"}
{"step":"delete","ids":[]}
{"step":"exit","code":0,"signal":null}
`)
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(strings.TrimSpace(out), "\n")); diff != "" {
		t.Errorf("what the client saw (-want +got):\n%s\n%s", diff, diag)
	}
	if got := strings.TrimSpace(p.read("made.txt")); got != "made by the client" {
		t.Errorf("made.txt = %q", got)
	}
}
