package oauth

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadTokens(t *testing.T) {
	began := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	tests := []struct {
		name, body string
		access     string // "" is an error
		lasts      time.Duration
		scopes     []string
	}{
		{"all", `{"access_token":"a","token_type":"bearer","expires_in":60,"scope":"b c"}`, "a", time.Minute, []string{"b", "c"}},
		{"no type", `{"access_token":"a"}`, "a", 0, nil},
		{"seconds in a string", `{"access_token":"a","expires_in":"60"}`, "a", time.Minute, nil},
		{"seconds with a point", `{"access_token":"a","expires_in":60.5}`, "a", time.Minute, nil},
		{"for ever", `{"access_token":"a","expires_in":null}`, "a", 0, nil},
		{"nearly for ever", `{"access_token":"a","expires_in":1e300}`, "a", (1<<31 - 1) * time.Second, nil},
		{"ended", `{"access_token":"a","expires_in":-1}`, "a", 0, nil},
		{"no number", `{"access_token":"a","expires_in":"soon"}`, "a", 0, nil},
		{"no token", `{"token_type":"bearer"}`, "", 0, nil},
		{"a header in it", `{"access_token":"a\r\nX: y"}`, "", 0, nil},
		{"a space in it", `{"access_token":"a b"}`, "", 0, nil},
		{"another type", `{"access_token":"a","token_type":"mac"}`, "", 0, nil},
		{"no JSON", `access_token=a`, "", 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readTokens([]byte(tt.body), began)
			if (err != nil) != (tt.access == "") || got.access != tt.access || !slices.Equal(got.scopes, tt.scopes) {
				t.Errorf("readTokens(%s) = %+v, %v", tt.body, got, err)
			}
			var lasts time.Duration
			if !got.expires.IsZero() {
				lasts = got.expires.Sub(began)
			}
			if lasts != tt.lasts {
				t.Errorf("it lasts %v, want %v", lasts, tt.lasts)
			}
		})
	}
}

// A token that was read can stand in a header, and ends after it has begun.
func FuzzReadTokens(f *testing.F) {
	f.Add([]byte(`{"access_token":"a","token_type":"bearer","expires_in":60,"refresh_token":"b","scope":"c"}`))
	f.Add([]byte(`{"access_token":"a\n","expires_in":"1e99"}`))
	began := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readTokens(body, began)
		if err != nil {
			return
		}
		if got.access == "" || strings.ContainsAny(got.access, " \r\n\x00") {
			t.Errorf("readTokens(%q) has the token %q", body, got.access)
		}
		if !got.expires.IsZero() && got.expires.Before(began) {
			t.Errorf("readTokens(%q) ends at %v", body, got.expires)
		}
	})
}

// A code is taken from the authorization server that was asked, and from no other.
func FuzzAnswer(f *testing.F) {
	f.Add("code=a&state=b", true)
	f.Add("code=a&iss=https%3A%2F%2Fa.example", true)
	f.Add("error=access_denied&error_description=x%0ay&iss=https://b.example", false)
	f.Fuzz(func(t *testing.T, query string, promised bool) {
		v, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		c := &callback{issuer: &issuer{Issuer: "https://a.example", SendsIssuer: promised}}
		o := c.read(v)
		foreign := v.Has("iss") && v.Get("iss") != "https://a.example" || !v.Has("iss") && promised
		_, told := errors.AsType[*refusal](o.err)
		switch {
		case (o.code == "") == (o.err == nil):
			t.Errorf("read(%q) = %q, %v, want one of them", query, o.code, o.err)
		case foreign && (o.code != "" || told):
			t.Errorf("read(%q) = %q, %v, although it is of another", query, o.code, o.err)
		case o.err != nil && strings.ContainsAny(o.err.Error(), "\r\n\x1b"):
			t.Errorf("read(%q) has the error %q", query, o.err)
		}
	})
}

// The user is told every minute that the login waits, and once of an answer to another.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		l := &login{LoginOptions: LoginOptions{Limit: 150 * time.Second, Tell: func(line string) { lines = append(lines, line) }}}
		cb := &callback{answers: make(chan outcome, 1), strays: make(chan struct{}, 1)}
		begun := time.Now()
		go func() {
			time.Sleep(30 * time.Second)
			cb.strays <- struct{}{}
			time.Sleep(45 * time.Second)
			cb.strays <- struct{}{}
			time.Sleep(50 * time.Second)
			cb.answers <- outcome{code: "the code"}
		}()
		code, err := l.await(t.Context(), cb)
		if took := time.Since(begun); code != "the code" || err != nil || took != 125*time.Second {
			t.Errorf("await() = %q, %v after %v", code, err, took)
		}
		want := []string{
			"Waiting for the browser, at most 2m30s.",
			"An answer came that is not of this login; it was not taken.",
			"Waiting for the browser, at most 1m30s.",
			"Waiting for the browser, at most 30s.",
		}
		if !slices.Equal(lines, want) {
			t.Errorf("told %q, want %q", lines, want)
		}
	})
}
