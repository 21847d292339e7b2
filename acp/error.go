package acp

// A Code is the stable name of a failure, for programs (R-ACP-04).
type Code string

// The codes.
const (
	QuotaExceeded       Code = "QUOTA_EXCEEDED"
	FeatureNotAvailable Code = "FEATURE_NOT_AVAILABLE"
	BillingUnavailable  Code = "BILLING_UNAVAILABLE"
	PromptAssembly      Code = "PROMPT_ASSEMBLY"
	ModelUnavailable    Code = "MODEL_UNAVAILABLE"
	ProviderError       Code = "PROVIDER_ERROR"
	SessionNotFound     Code = "SESSION_NOT_FOUND"
	SessionBusy         Code = "SESSION_BUSY"
	AuthRequired        Code = "AUTH_REQUIRED"
	InvalidAttachment   Code = "INVALID_ATTACHMENT"
	ConfigInvalid       Code = "CONFIG_INVALID" // the program could not be set up
	Internal            Code = "INTERNAL"       // a fault of the program; the log has more
)

// An Error is a failure that the user is told.
type Error struct {
	Code    Code
	Message string         // whole sentences: what is wrong and what to do
	Details string         // more, for those who look; may be empty, never secret
	Data    map[string]any // further members of the error's data
	Err     error          // the cause, for the log alone
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }
