package harness_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
)

// thinking returns the option of a session as "current of values", "" without one.
func thinking(s *harness.Session) string {
	for _, o := range s.OptionSet() {
		if o.ID != harness.OptionThinking {
			continue
		}
		var values []string
		for _, v := range o.Values {
			if v.Name == "" || v.Description == "" {
				return fmt.Sprintf("the value %q has nothing for people: %+v", v.Value, v)
			}
			values = append(values, v.Value)
		}
		return o.Current + " of " + strings.Join(values, ",")
	}
	return ""
}

// models that differ in their efforts.
func efforts() []model.Descriptor {
	return []model.Descriptor{
		{Provider: "p", ID: "all", Thinks: true, Efforts: model.Efforts()},
		{Provider: "p", ID: "usual", Thinks: true},
		{Provider: "p", ID: "strong", Thinks: true, Efforts: []model.Effort{model.EffortHigh, model.EffortXHigh}},
		{Provider: "p", ID: "switch", Thinks: true, Efforts: []model.Effort{}},
		{Provider: "p", ID: "none"},
	}
}

// An effort holds in each model as far as the model knows it, and the option shows
// what holds.
func TestEffortOfEachModel(t *testing.T) { // R-ACP-18
	tests := []struct{ chosen, model, option, sent string }{
		{"max", "all", "max of default,off,minimal,low,medium,high,xhigh,max", "max"},
		{"max", "usual", "high of default,off,low,medium,high", "high"},
		{"max", "strong", "xhigh of default,off,high,xhigh", "xhigh"},
		{"max", "switch", "default of default,off", ""},
		{"max", "none", "", ""},
		{"minimal", "usual", "low of default,off,low,medium,high", "low"},
		{"minimal", "strong", "high of default,off,high,xhigh", "high"},
		{"off", "switch", "off of default,off", "off"},
		{"off", "none", "", ""},
		{"default", "strong", "default of default,off,high,xhigh", ""},
	}
	for _, tt := range tests {
		t.Run(tt.chosen+" with "+tt.model, func(t *testing.T) {
			f := newFixture()
			f.settings.more, f.script.steps = efforts(), []step{says("ok")}
			s := f.open(t)
			setOption(t, s, harness.OptionModel, "p/all")
			setOption(t, s, harness.OptionThinking, tt.chosen)
			before := s.Choice().Thinking
			setOption(t, s, harness.OptionModel, "p/"+tt.model)
			if got := thinking(s); got != tt.option {
				t.Errorf("option = %q, want %q", got, tt.option)
			}
			ask(t, s, "go")
			if got := f.script.requests()[0].Effort; string(got) != tt.sent {
				t.Errorf("the request has the effort %q, want %q", got, tt.sent)
			}
			p, err := s.Preview(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			reasons := slices.ContainsFunc(f.settings.more, func(d model.Descriptor) bool { return d.ID == tt.model && d.Thinks }) && tt.sent != "off"
			for _, part := range p.Signature.Parts() {
				want := map[string]string{"thinking": tt.sent, "reasoning": fmt.Sprint(reasons)}
				if v, ok := want[part.Name]; ok && part.Value != v {
					t.Errorf("the signature has %s = %q, want %q", part.Name, part.Value, v)
				}
			}
			if got := f.load(t, s.ID()).Choice().Thinking; s.Choice().Thinking != before || got != before {
				t.Errorf("the choice is %q, stored %q, want %q still", s.Choice().Thinking, got, before)
			}
		})
	}
}

// Efforts that are lowered to the same one make no difference to a harness.
func TestLoweredEffortsAreOne(t *testing.T) { // R-HARN-04
	f := newFixture()
	f.settings.more, f.script.steps = efforts(), []step{says("ok")}
	s := f.open(t)
	for _, effort := range []string{"high", "xhigh", "max", "low", "minimal"} {
		setOption(t, s, harness.OptionModel, "p/all")
		setOption(t, s, harness.OptionThinking, effort)
		setOption(t, s, harness.OptionModel, "p/usual")
		ask(t, s, "go")
	}
	var got []string
	for _, tr := range f.traces {
		got = append(got, strings.Join(append([]string{tr.Harness}, tr.Changed...), " "))
	}
	if diff := cmp.Diff([]string{"built", "reused", "reused", "rebuilt thinking", "reused"}, got); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
}

func TestEffortThatTheModelLacks(t *testing.T) {
	f := newFixture()
	f.settings.more = efforts()
	s := f.open(t)
	for model, lacks := range map[string]string{"p/usual": "xhigh", "p/strong": "low", "p/switch": "high", "p/all": "enormous"} {
		setOption(t, s, harness.OptionModel, model)
		if err := s.SetOption(t.Context(), harness.OptionThinking, lacks); err == nil {
			t.Errorf("%s takes the effort %s, which it does not list", model, lacks)
		}
	}
}
