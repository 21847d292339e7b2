package stream_test

import (
	"encoding/json"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

func TestText(t *testing.T) {
	for in, want := range map[string]stream.Text{
		`"plain <&>"`: "plain <&>", `""`: "", `"\u00e4\n\ud83d\ude00"`: "ä\n\U0001F600", `"ä"`: "ä", "null": "",
		`{"p":1}`: `{"p":1}`, `[1]`: "[1]", "7": "7", "true": "true",
	} {
		v := struct{ T stream.Text }{"before"}
		if err := json.Unmarshal([]byte(`{"T":`+in+`}`), &v); err != nil || v.T != want {
			t.Errorf("%s = %q (%v), want %q", in, v.T, err, want)
		}
	}
}

// A text that is a string decodes as encoding/json decodes it.
func FuzzText(f *testing.F) {
	f.Add([]byte(`"a"`))
	f.Add([]byte(`"\ud800\"ä` + "\xff" + `"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var want string
		if len(b) == 0 || b[0] != '"' || json.Unmarshal(b, &want) != nil {
			return
		}
		var got stream.Text
		if err := json.Unmarshal(b, &got); err != nil || string(got) != want {
			t.Errorf("%q = %q (%v), want %q", b, got, err, want)
		}
	})
}
