package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
)

func TestStreamer(t *testing.T) {
	modeltest.TestStreamer(t, func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
		return modeltest.NewStreamer(replies...)
	})
}

func TestScript(t *testing.T) {
	s := modeltest.NewStreamer(
		modeltest.Reply{Match: "red", Text: []string{"1"}},
		modeltest.Reply{Text: []string{"2"}, Repeat: 1},
		modeltest.Reply{Match: "blue", Text: []string{"3"}, Repeat: -1},
	)
	var got []string
	for _, ask := range []string{"a", "red", "b", "blue", "blue", "red"} {
		_, reply, err := modeltest.Collect(t.Context(), s, modeltest.Ask(ask))
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprint(reply.Parts[0]))
	}
	want := []string{"2", "1", "2", "3", "3", `modeltest: invalid request: no reply is left for a request that ends in "red"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What changes in a request costs what stands behind it.
func TestReuse(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}, Repeat: -1})
	c := openai.New(model.Descriptor{ID: "m", BaseURL: s.OpenAI()}, openai.Options{})
	for _, system := range []string{"it is 12:00", "it is 12:01"} { // C122
		req := modeltest.Ask("hi")
		req.System = system
		if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
	}
	r := s.Reuse()
	if len(r) != 1 || r[0].Ratio() > 0.9 || r[0].Ratio() < 0.5 || r[0].Before != r[0].After {
		t.Errorf("Reuse() = %+v, want the model and the tools of one comparison", r)
	}
}

func TestRoutes(t *testing.T) {
	s := modeltest.New(t)
	for path, want := range map[string]string{"/v1/models": "data", "/api/tags": "models", "/api/show": "capabilities", "/nope": "error"} {
		_, body := post(t, s.URL+path, "{}")
		var v map[string]any
		if err := json.Unmarshal([]byte(body), &v); err != nil || v[want] == nil {
			t.Errorf("%s: %s (%v), want %q in it", path, body, err, want)
		}
	}
}

func TestGone(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: []string{"a"}, Hang: true})
	c := openai.New(model.Descriptor{ID: "m", BaseURL: s.OpenAI()}, openai.Options{})
	if _, err := c.Stream(t.Context(), modeltest.Ask("hi"), func(model.Event) error { return io.EOF }); err != io.EOF {
		t.Errorf("error = %v, want io.EOF", err)
	}
	<-s.Gone() // the client closed the connection
}
