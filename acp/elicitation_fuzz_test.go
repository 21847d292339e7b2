package acp

import (
	"encoding/json"
	"testing"
)

// Whatever a client answers with, there are answers to all questions or to none, and
// only an acceptance has any.
func FuzzReadAnswers(f *testing.F) {
	f.Add(`{"action":"accept","content":{"q1":"a","q2":["b",1]}}`)
	f.Add(`{"action":"decline","content":{"q1":"a"}}`)
	f.Add(`[{"action":"accept"}]`)
	f.Fuzz(func(t *testing.T, answer string) {
		if !json.Valid([]byte(answer)) {
			return // is no answer for the connection
		}
		got := readAnswers(json.RawMessage(answer), 2)
		if n := len(got); n != 0 && n != 2 {
			t.Errorf("%d answers to 2 questions", n)
		}
		if action := members(json.RawMessage(answer)).text("action"); got != nil && action != "accept" {
			t.Errorf("answers by the action %q", action)
		}
	})
}
