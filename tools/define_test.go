package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/tools"
)

// A name in another case is another name: the schema has looked at "n" and not
// at "N" (R-TOOLS-01).
func TestDefineTakesExactNames(t *testing.T) {
	type item struct {
		Old string `json:"old"`
	}
	type input struct {
		N     int             `json:"n"`
		Items []item          `json:"items"`
		One   *item           `json:"one,omitempty"`
		Raw   json.RawMessage `json:"raw"`
		Plain string
	}
	tests := []struct {
		name, in string
		want     input
	}{
		{"exact", `{"n":1,"Plain":"p","raw":{"A":1}}`, input{N: 1, Plain: "p", Raw: json.RawMessage(`{"A":1}`)}},
		{"another case beside", `{"n":1,"N":99}`, input{N: 1}},
		{"another case alone", `{"N":99,"plain":"p"}`, input{}},
		{"below an array", `{"items":[{"old":"a","OLD":"b"}]}`, input{Items: []item{{Old: "a"}}}},
		{"below a pointer", `{"one":{"Old":"b"}}`, input{One: &item{}}},
		{"null", `{"items":null,"one":null}`, input{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got input
			tool := tools.Define(tools.Info{Name: "x"}, nil, func(_ context.Context, in input, _ tools.Call) (tools.Result, error) {
				got = in
				return tools.Result{}, nil
			})
			if _, err := tool.Run(t.Context(), tools.Call{Input: json.RawMessage(tt.in)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("input of %s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestDefineTellsWhatDoesNotFit(t *testing.T) {
	type input struct {
		N int `json:"n"`
	}
	tool := tools.Define(tools.Info{Name: "x"}, nil, func(context.Context, input, tools.Call) (tools.Result, error) {
		return tools.Result{}, nil
	})
	_, err := tool.Run(t.Context(), tools.Call{Input: json.RawMessage(`{"n":"one"}`)})
	if err == nil {
		t.Error("a string was taken for a number")
	}
}
