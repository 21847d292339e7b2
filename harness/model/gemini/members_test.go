package gemini

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func collect(b []byte) (map[string]string, error) {
	out := map[string]string{}
	return out, members(b, func(key, value []byte) error {
		out[string(key)] = string(value)
		return nil
	})
}

func TestMembersOfWhatIsNone(t *testing.T) {
	for _, s := range []string{"", " ", "[]", "1", `"a"`, "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a":}`, `{"a" 1}`, `{a:1}`, `{"a":1 2}`, `{"a":"b}`,
		`{"a":"\"}`, `{"a":[}`, `{}}`, `{}x`, `{"a":1}{}`} {
		if got, err := collect([]byte(s)); err == nil {
			t.Errorf("%s: members = %v, want an error", s, got)
		}
	}
}

// What encoding/json takes for an object has the same members here.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, ` { "a" : 1 , "b":[{"c":"]}\\\""}],"d":"x\\"} `, `{"a":{"a":null},"b":-1.5e3,"c":true}`, `{"a":"\u0022}"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var raw map[string]json.RawMessage
		if json.Unmarshal(b, &raw) != nil || raw == nil || bytes.ContainsRune(b, '\ufffd') || !bytes.Equal(b, bytes.ToValidUTF8(b, nil)) {
			return
		}
		got, err := collect(b)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		plain := map[string]string{} // keys without escapes
		for k, v := range got {
			var s string
			if err := json.Unmarshal([]byte(`"`+k+`"`), &s); err != nil {
				t.Fatalf("%q: key %q: %v", b, k, err)
			}
			plain[s] = v
		}
		want := map[string]string{}
		for k, v := range raw {
			want[k] = string(v)
		}
		if len(got) == len(want) {
			if diff := cmp.Diff(want, plain); diff != "" {
				t.Errorf("%q (-want +got):\n%s", b, diff)
			}
		}
	})
}
