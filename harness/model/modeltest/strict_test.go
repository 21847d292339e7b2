package modeltest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// post sends body with the headers that every protocol wants and returns the
// status and the answer.
func post(t *testing.T, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Goog-Api-Key", "k")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// A refusal is a request that is accepted and the same with one thing wrong.
type refusal struct {
	name     string
	good     string // the whole request
	from, to string // what is replaced in it, "" is everything
	want     string // in the field and reason of the refusal
}

// checkRefusals posts both requests of each refusal to path, in which the model
// stands for {}, as far as it does.
func checkRefusals(t *testing.T, url func(*modeltest.Server) string, tests []refusal) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}, Repeat: -1})
			if status, answer := post(t, url(s), tt.good); status != http.StatusOK {
				t.Errorf("%s\nstatus %d: %s, want it accepted", tt.good, status, answer)
			}
			spoilt := tt.to
			if tt.from != "" {
				spoilt = strings.Replace(tt.good, tt.from, tt.to, 1)
			}
			if spoilt == tt.good {
				t.Fatalf("%q is not in %s", tt.from, tt.good)
			}
			status, answer := post(t, url(s), spoilt)
			rejected := strings.Join(s.Rejected(), "; ")
			if status < 400 || status >= 500 || !strings.Contains(rejected, tt.want) {
				t.Errorf("%s\nstatus %d: %s\nrejected: %q, want a refusal with %q", spoilt, status, answer, rejected, tt.want)
			}
		})
	}
}
