package harness_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestPreviewIsTheNextSend(t *testing.T) { // R-CMD-05, R-CMD-06
	f := newFixture(toolstest.Echo("look"), mutating(toolstest.Echo("write")))
	f.script.steps = []step{says("x")}
	s := f.open(t)
	p, err := s.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	infos, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.script.requests()) != 0 || len(f.entries(t, s)) != 0 {
		t.Error("a preview asked the model or stored something")
	}
	ask(t, s, "go")
	r := f.script.requests()[0]
	if p.System != r.System || p.Signature.Digest() != r.Signature {
		t.Error("the send differs from its preview")
	}
	if len(infos) != len(r.Tools) || infos[0].Name != r.Tools[0].Name || infos[1].Name != r.Tools[1].Name {
		t.Errorf("tools = %v, want those of the send", infos)
	}
}

func TestCallOfOneTool(t *testing.T) { // R-CMD-07
	write := mutating(toolstest.Echo("write"))
	tests := []struct {
		name, tool, input string
		mode              approve.Mode
		want, err         string
		refused           bool
	}{
		{"allowed", "write", `{"a":1}`, approve.Auto, `{"a":1}`, "", false},
		{"nobody to ask", "write", `{"a":1}`, approve.Ask, "", "", true},
		{"withheld", "write", `{}`, approve.ReadOnly, "", "not available", false},
		{"no such tool", "wrote", `{}`, approve.Auto, "", "There is no tool", false},
		{"no object", "write", `[]`, approve.Auto, "", "object", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(write)
			s := f.open(t, func(sp *harness.Spec) { sp.Choice = &harness.Choice{Model: "p/m", Mode: tt.mode} })
			ran := len(write.Calls())
			rec := &recorder{}
			r, err := s.Call(t.Context(), tt.tool, json.RawMessage(tt.input), rec)
			if got := err != nil; got != (tt.err != "") || got && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error = %v, want %q", err, tt.err)
			}
			if r.Refused != tt.refused || tt.want != "" && r.Text != tt.want {
				t.Errorf("result = %+v, want %q, refused: %v", r, tt.want, tt.refused)
			}
			if got := len(write.Calls()) > ran; got != (tt.want != "") {
				t.Errorf("the tool ran: %v, want %v", got, tt.want != "")
			}
			began := slices.ContainsFunc(rec.all(), func(e event.Event) bool {
				c, ok := e.(event.ToolCall)
				return ok && c.Status == event.InProgress
			})
			if began != (tt.want != "") {
				t.Errorf("events %v, want to hear that it runs: %v", rec.all(), tt.want != "")
			}
		})
	}
}
