package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

const (
	renewPause = 30 * time.Second // after a renewal that failed, while the token still holds
	renewLimit = 45 * time.Second // for a renewal, with waiting for those of others
	renewGrace = 3 * time.Second  // for one whose caller is gone: its answer may be the only one
)

// An Authorizer has the credential for one server (web.Authorizer), as it is in a
// [Store] at that moment: a login of another program counts with the next request.
// It is safe for concurrent use.
type Authorizer struct {
	store   *Store
	o       Options
	server  *url.URL // nil is one at which nobody can log in
	fetcher *fetcher

	renewing chan struct{} // holds the right to renew

	mu     sync.Mutex // guards the fields below
	paused time.Time  // nothing is renewed before
	unkept *record    // was renewed and could not be written
	forced string     // token that came of a renewal because the last was rejected
	last   time.Time  // when that was
}

// NewAuthorizer returns the authorizer for a server whose credential is in s. Who has
// a credential of another kind for the server, such as a header, needs none.
func NewAuthorizer(s *Store, o Options) *Authorizer {
	a := &Authorizer{store: s, o: o, renewing: make(chan struct{}, 1)}
	if server, err := parseServer(o.URL); err == nil {
		a.server, a.fetcher = server, newFetcher(o, server)
	}
	return a
}

// Token returns the value of the Authorization header, "" where the user has to log
// in. A token that ends soon is renewed first, by one caller for all.
func (a *Authorizer) Token(ctx context.Context) (string, error) {
	r, err := a.read()
	if err != nil || !a.usable(r) {
		return "", err
	}
	now := time.Now()
	switch {
	case !r.due(now), r.Refresh == "" && !r.over(now):
		return r.header(), nil
	case r.Refresh == "":
		return "", nil
	case !r.over(now) && a.waits(now):
		return r.header(), nil
	}
	next, err := a.renew(ctx, r.Access)
	if err != nil && ctx.Err() == nil && !r.over(time.Now()) {
		a.o.Log.Warn().Str("server", origin(a.server)).Err(err).Msg("a credential was not renewed, and still holds")
		a.pause(time.Now().Add(renewPause))
		return r.header(), nil
	}
	if err != nil || !a.usable(next) {
		return "", err
	}
	return next.header(), nil
}

// Refused hears that a request was refused. With status 401 the token is renewed, or
// given up if that is refused too, or if another authorization server is responsible
// now. With 403 for want of scopes the next login will ask for them; the error is an
// [ErrLogin].
func (a *Authorizer) Refused(ctx context.Context, token string, status int, challenge string) (again bool, err error) {
	if a.server == nil {
		return false, nil
	}
	c, _ := ParseChallenge(challenge) // one without a challenge says nothing
	switch {
	case status == http.StatusUnauthorized && token == "":
		return a.unknown(ctx, c)
	case status == http.StatusUnauthorized:
		return a.rejected(ctx, token, c)
	case status == http.StatusForbidden && token != "" && c.Error == "insufficient_scope":
		return a.insufficient(ctx, token, c)
	}
	return false, nil
}

// unknown notes what the server wants of a login.
func (a *Authorizer) unknown(ctx context.Context, c Challenge) (again bool, err error) {
	r, err := a.read()
	if err != nil || a.usable(r) {
		return err == nil, err
	}
	wanted := mergeScopes(c.Scopes)
	if c.Metadata == "" && wanted == nil || r.Metadata == c.Metadata && slices.Equal(r.Wanted, wanted) {
		return false, nil
	}
	a.note(ctx, func(r *record) bool {
		if r.Access != "" || r.Issuer != "" {
			return false
		}
		r.Metadata, r.Wanted = c.Metadata, wanted
		return true
	})
	return false, nil
}

// note changes what is kept, where f says so. That it cannot be kept costs the next
// login a hint, and is for the log.
func (a *Authorizer) note(ctx context.Context, f func(*record) (keep bool)) {
	err := a.store.change(ctx, a.server.String(), func(r *record) (bool, error) { return f(r), nil })
	if err != nil {
		a.o.Log.Warn().Str("server", origin(a.server)).Err(err).Msg("what a server says of logins is not kept")
	}
}

// rejected looks for another token than one that was not taken.
func (a *Authorizer) rejected(ctx context.Context, token string, c Challenge) (again bool, err error) {
	r, err := a.read()
	if err != nil || !a.usable(r) {
		return false, err
	}
	if r.header() != token {
		return true, nil
	}
	if a.moved(ctx, r, c) {
		a.drop(ctx, r.Access, true)
		return false, nil
	}
	if r.Refresh == "" {
		if c.Error == "invalid_token" {
			a.drop(ctx, r.Access, false)
		}
		return false, nil
	}
	if a.justForced(r.Access) {
		return false, nil
	}
	next, err := a.renew(ctx, r.Access)
	if err != nil || !a.usable(next) || next.Access == r.Access {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forced, a.last = next.Access, time.Now()
	return true, nil
}

// justForced reports whether a token came of a renewal a moment ago because the
// server had rejected the one before: another would fare no better.
func (a *Authorizer) justForced(access string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forced == access && time.Since(a.last) < renewPause
}

// insufficient notes what the next login has to ask for.
func (a *Authorizer) insufficient(ctx context.Context, token string, c Challenge) (again bool, err error) {
	r, err := a.read()
	if err != nil {
		return false, err
	}
	if a.usable(r) && r.header() != token {
		return true, nil
	}
	a.note(ctx, func(r *record) bool {
		before := len(r.Wanted)
		r.Wanted = mergeScopes(r.Wanted, c.Scopes)
		return len(r.Wanted) > before
	})
	if len(c.Scopes) == 0 {
		return false, fmt.Errorf("%w that allows more, and the server does not say what", ErrLogin)
	}
	return false, fmt.Errorf("%w that allows more: %s; \"lorimer mcp login\" asks for it", ErrLogin, tools.Line(strings.Join(c.Scopes, " "), maxText))
}

// moved reports whether the server names other authorization servers than the one
// that has granted r.
func (a *Authorizer) moved(ctx context.Context, r *record, c Challenge) bool {
	if r.Metadata == "" || a.o.Settings.Metadata != "" {
		return false
	}
	at := r.Metadata
	if c.Metadata != "" {
		at = c.Metadata
	}
	m, err := a.fetcher.resource(ctx, a.server, at)
	if err != nil || len(m.Issuers) == 0 {
		return false // it cannot be told
	}
	return !slices.ContainsFunc(m.Issuers, func(id string) bool { return sameIssuer(r.Issuer, id) })
}

// drop gives up a token, and with moved the client that was registered for it.
func (a *Authorizer) drop(ctx context.Context, access string, moved bool) {
	a.note(ctx, func(r *record) bool {
		if r.Access != access {
			return false
		}
		r.drop()
		if moved && !r.Client.Configured {
			r.Client = client{}
		}
		return true
	})
}

// read returns the credential as it is, an empty one where nobody can log in.
func (a *Authorizer) read() (*record, error) {
	if a.server == nil {
		return &record{}, nil
	}
	r, err := a.store.read(a.server.String())
	if err != nil {
		return nil, err
	}
	return a.newest(r), nil
}

// newest returns r, or what has been renewed since it was written.
func (a *Authorizer) newest(r *record) *record {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u := a.unkept; u != nil && r.Access != "" && u.Obtained.After(r.Obtained) {
		return new(*u)
	}
	return r
}

// usable reports whether r has a token for the client that is configured.
func (a *Authorizer) usable(r *record) bool {
	id := a.o.Settings.ClientID
	return r.Access != "" && (id == "" || isDocument(id) || id == r.Client.ID)
}

// header returns the value of the Authorization header.
func (r *record) header() string { return "Bearer " + r.Access }

func (a *Authorizer) waits(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Before(a.paused)
}

func (a *Authorizer) pause(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = until
}

// renew returns the record with another token than access: a new one, or that which
// somebody else has got meanwhile, or none where renewing is refused.
func (a *Authorizer) renew(ctx context.Context, access string) (*record, error) {
	ctx, cancel := context.WithTimeout(ctx, renewLimit)
	defer cancel()
	select {
	case a.renewing <- struct{}{}:
		defer func() { <-a.renewing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r, err := a.read(); err != nil || r.Access != access {
		return r, err
	}
	var next *record
	err := a.store.change(ctx, a.server.String(), func(r *record) (keep bool, err error) {
		*r = *a.newest(r)
		if r.Access != access || r.Refresh == "" {
			next = r
			return false, nil
		}
		if keep, err = a.exchange(ctx, r); err == nil {
			next = r
		}
		return keep, err
	})
	if next != nil && err != nil {
		// What is written on the disk is used up. This program goes on.
		a.o.Log.Error().Str("server", origin(a.server)).Err(err).Msg("a renewed credential is not kept")
		a.mu.Lock()
		defer a.mu.Unlock()
		a.unkept = new(*next)
		return next, nil
	}
	return next, err
}

// exchange gets a new token with what renews it. Without one r has lost its tokens.
func (a *Authorizer) exchange(ctx context.Context, r *record) (keep bool, err error) {
	if e := r.Client.Expires; !e.IsZero() && time.Now().After(e) {
		r.drop()
		return true, nil
	}
	ctx, cancel := goOn(ctx, renewGrace)
	defer cancel()
	t, err := a.fetcher.tokens(ctx, r, a.o.Settings, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {r.Refresh}})
	if err == nil {
		r.take(t)
		return true, nil
	}
	refused, ok := errors.AsType[*refusal](err)
	if !ok || !refused.final() {
		return false, fmt.Errorf("renewing the credential: %w", err)
	}
	// Where files cannot be locked another program may have been faster.
	if now, err := a.store.read(r.Server); err == nil && now.Access != "" && now.Access != r.Access {
		*r = *now
		return false, nil
	}
	a.o.Log.Warn().Str("server", origin(a.server)).Err(err).Msg("a credential has ended")
	r.drop()
	return true, nil
}

// goOn returns a context that ends some time after ctx.
func goOn(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(after, cancel) })
	return late, func() { stop(); cancel() }
}
