package model

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// Kind is what kind of failure an [Error] is; it decides what a caller may do.
type Kind string

// The kinds of failure.
const (
	Unknown     Kind = "unknown"
	Canceled    Kind = "canceled"
	Auth        Kind = "authentication"      // the key is missing or refused
	NotFound    Kind = "not found"           // no such model or route
	Invalid     Kind = "invalid request"     // the provider rejects what was sent
	TokenLimit  Kind = "context overflow"    // the prompt is larger than the window
	RateLimit   Kind = "rate limit"          // too many requests for now
	Quota       Kind = "quota exhausted"     // waiting does not help
	Refused     Kind = "content refused"     // a filter refuses the content
	Overloaded  Kind = "overloaded"          // 5xx, 529
	Connection  Kind = "connection"          // no answer, or an answer cut short
	Idle        Kind = "idle"                // the stream fell silent
	Malformed   Kind = "malformed answer"    // the answer cannot be read
	Empty       Kind = "empty answer"        // the answer says nothing and calls nothing
	Unavailable Kind = "model not available" // it could not be set up
)

// An Error is a failed request to a model.
type Error struct {
	Kind       Kind
	Provider   string // "" when it has not come to one
	Status     int    // HTTP status, 0 without one
	Code       string // the provider's own code
	Message    string // the provider's sentence, or ours; no secrets
	RequestID  string
	RetryAfter time.Duration // if the provider named one
	Final      bool          // the provider says that repeating is useless
	Partial    bool          // events had been delivered
	Err        error         // the cause, may be nil
}

func (e *Error) Error() string {
	var parts []string
	for _, p := range []string{e.Provider, string(e.Kind), e.sentence()} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// sentence is what there is to say beside provider and kind; "" is nothing.
func (e *Error) sentence() string {
	if e.Message == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Is makes a cancelled request match [context.Canceled].
func (e *Error) Is(target error) bool {
	return e.Kind == Canceled && target == context.Canceled
}

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool {
	if e.Final {
		return false
	}
	switch e.Kind {
	case RateLimit, Overloaded, Connection, Idle, Malformed, Empty:
		return true
	}
	return false
}

// llmsError gives err in the vocabulary of langchaingo, for callers of
// GenerateContent. Its text begins with provider and code, so that the message has
// neither.
func llmsError(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	out := llms.NewError(e.Kind.code(), e.Provider, cmp.Or(e.sentence(), string(e.Kind))).WithCause(e).
		WithDetail("retryable", e.Temporary()).WithDetail("partial", e.Partial)
	if e.Status != 0 {
		out = out.WithDetail("status", e.Status)
	}
	if e.RetryAfter > 0 {
		out = out.WithDetail("retry_after", e.RetryAfter)
	}
	if e.RequestID != "" {
		out = out.WithDetail("request_id", e.RequestID)
	}
	if e.Code != "" {
		out = out.WithDetail("code", e.Code)
	}
	return out
}

// code is what langchaingo calls k.
func (k Kind) code() llms.ErrorCode {
	switch k {
	case Canceled:
		return llms.ErrCodeCanceled
	case Auth:
		return llms.ErrCodeAuthentication
	case NotFound:
		return llms.ErrCodeResourceNotFound
	case Invalid:
		return llms.ErrCodeInvalidRequest
	case TokenLimit:
		return llms.ErrCodeTokenLimit
	case RateLimit:
		return llms.ErrCodeRateLimit
	case Quota:
		return llms.ErrCodeQuotaExceeded
	case Refused:
		return llms.ErrCodeContentFilter
	case Idle:
		return llms.ErrCodeTimeout
	case Overloaded, Connection, Malformed, Empty, Unavailable:
		return llms.ErrCodeProviderUnavailable
	}
	return llms.ErrCodeUnknown
}
