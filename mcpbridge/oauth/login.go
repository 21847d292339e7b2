package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

const (
	defaultLimit = 5 * time.Minute
	reminder     = time.Minute // between lines of a login that waits
)

// Login lets the user log in at a server with a browser, and keeps what comes of it
// in s. What was there before stays if it fails.
func Login(ctx context.Context, s *Store, o LoginOptions) (Grant, error) {
	server, err := parseServer(o.URL)
	if err != nil {
		return Grant{}, err
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	o.Limit = cmp.Or(o.Limit, defaultLimit)
	before, err := s.read(server.String())
	if err != nil {
		before = &record{Server: server.String()} // to be replaced
	}
	l := &login{LoginOptions: o, server: server, fetcher: newFetcher(o.Options, server), before: before}
	r, err := l.run(ctx)
	if err != nil {
		return Grant{}, err
	}
	if err := s.locked(ctx, r.Server, func() error { return s.write(r) }); err != nil {
		return Grant{}, err
	}
	return r.grant(), nil
}

// A login is one run of it.
type login struct {
	LoginOptions
	*fetcher
	server *url.URL
	before *record // of the last login
}

// run returns the record of what was granted.
func (l *login) run(ctx context.Context) (*record, error) {
	c, err := l.challenge(ctx)
	if err != nil {
		return nil, err
	}
	p, err := l.find(ctx, l.server, l.Settings, c.Challenge, c.wanted, l.before.Issuer)
	if err != nil {
		return nil, err
	}
	if err := l.bound(p.issuer); err != nil {
		return nil, err
	}
	cb, err := listen(l.Settings.CallbackPort)
	if err != nil {
		return nil, err
	}
	defer cb.close()
	r := &record{
		Server:     l.server.String(),
		Metadata:   p.metadata,
		Issuer:     p.issuer.Issuer,
		Resource:   p.resource,
		Token:      p.issuer.Token,
		Revocation: p.issuer.Revocation,
		Scopes:     l.scopes(c.Challenge, p),
	}
	if r.Client, err = l.client(ctx, p.issuer, l.Settings, cb.redirect(), r.Scopes); err != nil {
		return nil, err
	}
	code, verifier, err := l.consent(ctx, cb, p.issuer, r)
	if err != nil {
		return nil, err
	}
	t, err := l.tokens(ctx, r, l.Settings, url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {cb.redirect()},
		"code_verifier": {verifier},
	})
	if err != nil {
		return nil, err
	}
	r.take(t)
	return r, nil
}

// asked is a challenge, and whether the server has made it.
type asked struct {
	Challenge
	wanted bool
}

// challenge returns what the server wants.
func (l *login) challenge(ctx context.Context) (asked, error) {
	header, wanted := l.Challenge, l.Challenge != ""
	if !wanted {
		var err error
		if header, wanted, err = l.challengeOf(ctx, l.server); err != nil {
			return asked{}, err
		}
	}
	c, _ := ParseChallenge(header) // one without a challenge says nothing
	if !wanted && l.before.Issuer == "" && l.before.Metadata != "" {
		c.Metadata = l.before.Metadata // of a request that needs a login where others do not
	}
	return asked{c, wanted}, nil
}

// bound refuses to take a client that the user has registered at one authorization
// server to another that the server names now.
func (l *login) bound(m *issuer) error {
	b := l.before
	if b.Client.Configured && b.Client.ID == l.Settings.ClientID && b.Issuer != "" && b.Issuer != m.Issuer {
		return fmt.Errorf("the client %q was used at %s, and the server names %s now; if it is registered there too, log out first",
			tools.Line(b.Client.ID, maxText), tools.Line(b.Issuer, maxText), tools.Line(m.Issuer, maxText))
	}
	return nil
}

// scopes returns what is asked for: what the server demands and has demanded, and
// what the user wants beside; where both say nothing, what the server has.
func (l *login) scopes(c Challenge, p place) []string {
	wanted := mergeScopes(c.Scopes, l.before.Wanted, l.Settings.Scopes)
	if len(l.before.Wanted) > 0 { // what was allowed before stays
		wanted = mergeScopes(wanted, l.before.Scopes)
	}
	if len(wanted) == 0 {
		wanted = mergeScopes(p.scopes)
	}
	if len(wanted) > 0 && slices.Contains(p.issuer.Scopes, offline) {
		wanted = mergeScopes(wanted, []string{offline})
	}
	return wanted
}

// offline is the scope that brings a refresh token.
const offline = "offline_access"

// consent asks the user, and returns the code that the browser brings, with what
// proves that it was asked for from here.
func (l *login) consent(ctx context.Context, cb *callback, m *issuer, r *record) (code, verifier string, err error) {
	verifier = rand.Text() + rand.Text()
	cb.state, cb.issuer = rand.Text(), m
	address, err := authorize(m, r, cb, verifier)
	if err != nil {
		return "", "", err
	}
	cb.serve()
	ctx, cancel := context.WithTimeoutCause(ctx, l.Limit, errSlow)
	defer cancel()
	l.show(address)
	code, err = l.await(ctx, cb)
	if err != nil && context.Cause(ctx) == errSlow {
		err = fmt.Errorf("nobody has answered in the browser within %s; start the login again", span(l.Limit))
	}
	return code, verifier, err
}

// errSlow is the cause of a login that took too long.
var errSlow = errors.New("the user took too long")

// authorize returns the address at which the user is asked.
func authorize(m *issuer, r *record, cb *callback, verifier string) (string, error) {
	u, err := url.Parse(m.Authorize)
	if err != nil {
		return "", fmt.Errorf("the authorization server %s has no address for logins that can be read", tools.Line(m.Issuer, maxText))
	}
	sum := sha256.Sum256([]byte(verifier))
	q := u.Query()
	for name, value := range map[string]string{
		"response_type":         "code",
		"client_id":             r.Client.ID,
		"redirect_uri":          cb.redirect(),
		"state":                 cb.state,
		"code_challenge":        base64.RawURLEncoding.EncodeToString(sum[:]),
		"code_challenge_method": "S256",
		"resource":              r.Resource,
	} {
		q.Set(name, value)
	}
	if len(r.Scopes) > 0 {
		q.Set("scope", strings.Join(r.Scopes, " "))
	}
	if slices.Contains(r.Scopes, offline) {
		q.Set("prompt", "consent") // without which OpenID Connect gives no refresh token
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String(), nil
}

// show brings the user to an address.
func (l *login) show(address string) {
	l.Tell("To log in, open this address in a browser on this machine:")
	l.Tell(address)
	if l.Open == nil {
		return
	}
	if err := l.Open(address); err != nil {
		l.Tell(fmt.Sprintf("It could not be opened by itself: %v", err))
	}
}

// await waits for the browser, and says now and then that it does. Of answers to other
// logins it tells once: any page can send them.
func (l *login) await(ctx context.Context, cb *callback) (string, error) {
	tick := time.NewTicker(reminder)
	defer tick.Stop()
	strays, left := cb.strays, l.Limit
	l.Tell("Waiting for the browser, at most " + span(left) + ".")
	for {
		select {
		case o := <-cb.answers:
			return o.code, o.err
		case <-strays:
			strays = nil
			l.Tell("An answer came that is not of this login; it was not taken.")
		case <-tick.C:
			left -= reminder
			l.Tell("Waiting for the browser, at most " + span(left) + ".")
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// span returns a duration in words, as far as it is one of minutes.
func span(d time.Duration) string {
	switch {
	case d == time.Minute:
		return "1 minute"
	case d > 0 && d%time.Minute == 0:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return d.String()
}
