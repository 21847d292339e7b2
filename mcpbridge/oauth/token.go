package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

// tokens are the answer to a request for them (RFC 6749 5.1).
type tokens struct {
	access, refresh string
	scopes          []string // nil is those that were asked for
	expires         time.Time
}

// tokens sends a request for tokens, as who and for what a record says.
func (f *fetcher) tokens(ctx context.Context, r *record, s Settings, form url.Values) (tokens, error) {
	form.Set("resource", r.Resource)
	secrets := []string{r.Client.secret(s), form.Get("code"), form.Get("code_verifier"), form.Get("refresh_token"), r.Access}
	prepare := r.Client.authenticate(s, form)
	began := time.Now()
	a, err := f.post(ctx, r.Token, "application/x-www-form-urlencoded", []byte(form.Encode()), prepare)
	if err != nil {
		return tokens{}, err
	}
	if err := refused(r.Token, a, secrets...); err != nil {
		return tokens{}, err
	}
	t, err := readTokens(a.body, began)
	if err != nil {
		return tokens{}, fmt.Errorf("the answer of %s %w", shown(r.Token), err)
	}
	return t, nil
}

// readTokens reads an answer to a request that began at a time.
func readTokens(body []byte, began time.Time) (tokens, error) {
	var got struct {
		Access  string `json:"access_token"`
		Type    string `json:"token_type"`
		Refresh string `json:"refresh_token"`
		Scope   string `json:"scope"`
		Expires number `json:"expires_in"` // seconds
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return tokens{}, errors.New("to a request for a token is none that can be read")
	}
	switch {
	case !isToken(got.Access):
		return tokens{}, errors.New("has no token that can be used")
	case got.Type != "" && !strings.EqualFold(got.Type, "Bearer"):
		return tokens{}, fmt.Errorf("has a token of the type %s, of which only Bearer is supported", tools.Line(got.Type, maxText))
	}
	t := tokens{access: got.Access, refresh: got.Refresh, scopes: scopesOf(got.Scope)}
	if got.Expires > 0 {
		t.expires = began.Add(time.Duration(min(float64(got.Expires), math.MaxInt32)) * time.Second)
	}
	return t, nil
}

// isToken reports whether s can be in a header as it stands.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

// A number is one in JSON, or a string with one; others are 0.
type number float64

func (n *number) UnmarshalJSON(p []byte) error {
	text := strings.Trim(string(p), `"`)
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) {
		*n = number(f)
	}
	return nil
}

// take puts new tokens into a record. What an answer leaves out stays as it was
// (RFC 6749 6).
func (r *record) take(t tokens) {
	r.Access, r.Expires, r.Obtained = t.access, t.expires.UTC(), time.Now().UTC()
	if t.expires.IsZero() {
		r.Expires = time.Time{}
	}
	if t.refresh != "" {
		r.Refresh = t.refresh
	}
	if t.scopes != nil {
		r.Scopes = t.scopes
	}
}

// early is how long before its end a token is renewed, unless it is a short one.
const early = time.Minute

// due reports whether the token ends soon.
func (r *record) due(now time.Time) bool {
	if r.Expires.IsZero() {
		return false
	}
	return !now.Before(r.Expires.Add(-min(early, r.Expires.Sub(r.Obtained)/4)))
}

// over reports whether the token has ended.
func (r *record) over(now time.Time) bool { return !r.Expires.IsZero() && !now.Before(r.Expires) }

// revoke gives tokens back (RFC 7009).
func (f *fetcher) revoke(ctx context.Context, r *record, s Settings) error {
	for _, t := range []struct{ hint, token string }{{"refresh_token", r.Refresh}, {"access_token", r.Access}} {
		if t.token == "" {
			continue
		}
		form := url.Values{"token": {t.token}, "token_type_hint": {t.hint}}
		prepare := r.Client.authenticate(s, form)
		a, err := f.post(ctx, r.Revocation, "application/x-www-form-urlencoded", []byte(form.Encode()), prepare)
		if err != nil {
			return err
		}
		if a.status >= http.StatusMultipleChoices {
			return &refusal{at: shown(r.Revocation), status: a.status}
		}
	}
	return nil
}
