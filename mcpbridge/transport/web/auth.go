package web

import "context"

// An Authorizer has the credential for one server. It is safe for concurrent use.
type Authorizer interface {
	// Token returns the value of the Authorization header, or "" where nobody has
	// logged in.
	Token(ctx context.Context) (string, error)
	// Refused hears that a request was answered with status 401 or 403 and with
	// challenge as WWW-Authenticate, although or because token was sent. It reports
	// whether another token is there now, so that the request is worth repeating.
	Refused(ctx context.Context, token string, status int, challenge string) (again bool, err error)
}
