package main

import (
	"fmt"
	"slices"
	"strings"
)

// Modes are the misbehaviours that are on. The zero value is a good server.
type modes struct {
	on            []string
	tools, result string // the variants
}

// add switches the modes of text on.
func (m *modes) add(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		kind, variant, ok := strings.Cut(name, ":")
		switch {
		case name == "" || name == "good":
		case ok && kind == "tools":
			m.tools = variant
		case ok && kind == "result":
			m.result = variant
		case slices.Contains(modeNames(), name):
			m.on = append(m.on, name)
		default:
			return fmt.Errorf("unknown mode %q; go doc lists them", name)
		}
	}
	return nil
}

func (m modes) has(name string) bool { return slices.Contains(m.on, name) }

// modeNames lists the modes. The comment of the package says what they do.
func modeNames() []string {
	return strings.Fields(`
		die-at-start die-in-init die-in-list die-idle die-midcall grandchild grandchild-die launcher sleeper
		ignore-term never-exit stop-reading close-stdout stderr-flood stderr-flood-start
		junk junk-flood glued pretty batch crlf bom split half-line infinite-line big
		string-id float-id null-id null-id-call wrong-id dup no-jsonrpc error-string error-null notif-flood
		ping-first ping-wait elicit ask-flood answer-cancelled
		never never-init slow slow-init crash-on-discover silent-discover discover-empty discover-zero
		dual future-version odd-version no-tools
		list-hang list-error fail-list cursor-loop cursor-same pages listchange change-storm late-tools
		tasks ask-twice no-meta
		http-401 http-403 http-429 http-503 http-redirect http-drop-session http-cut http-no-get http-stream listen`)
}
