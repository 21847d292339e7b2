package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/url"
	"strconv"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A Signature is what a harness was built for. A send whose signature differs
// from that of the live harness has a new one built; nothing else does
// (R-HARN-02, R-HARN-04). It is a value: compare signatures with ==.
type Signature struct{ values [fieldCount]string }

// A field is an input of the signature.
type field int

// The fields, in the order of the digest. What may change from one send to the
// next without a rebuild has no place here: the date, notes, permission mode,
// client, environment, title, tool closures (R-HARN-03).
const (
	fieldKind field = iota
	fieldProvider
	fieldModel
	fieldBaseURL
	fieldKey
	fieldSetup
	fieldReasoning
	fieldThinking
	fieldWindow
	fieldImages
	fieldTools
	fieldCitations
	fieldStable
	fieldRevision
	fieldCount
)

func (f field) String() string {
	return [...]string{
		"kind", "provider", "model", "baseUrl", "key", "setup", "reasoning", "thinking", "window", "images", "tools",
		"citations", "stablePrompt", "revision",
	}[f]
}

// Inputs are what a signature is made of.
type Inputs struct {
	Model     model.Descriptor
	Effort    model.Effort // as it is chosen
	Tools     bool         // the harness shape, with tools (R-HARN-20)
	Citations string       // citation mode; "" is registry
	Stable    string       // the stable prompt
	Revision  int          // raised by a regeneration (R-HARN-26)
}

// Sign returns the signature of in.
func Sign(in Inputs) Signature {
	effort := in.Model.Effort(in.Effort) // what is sent; no other makes a difference
	var s Signature
	for f, v := range map[field]string{
		fieldKind:      in.Model.Kind,
		fieldProvider:  in.Model.Provider,
		fieldModel:     in.Model.ID,
		fieldBaseURL:   in.Model.BaseURL,
		fieldKey:       in.Model.KeyDigest,
		fieldSetup:     in.Model.Setup,
		fieldReasoning: strconv.FormatBool(in.Model.Thinks && effort != model.EffortOff),
		fieldThinking:  string(effort),
		fieldWindow:    strconv.Itoa(in.Model.Window),
		fieldImages:    strconv.FormatBool(in.Model.Images),
		fieldTools:     strconv.FormatBool(in.Tools),
		fieldCitations: in.Citations,
		fieldStable:    in.Stable,
		fieldRevision:  strconv.Itoa(in.Revision),
	} {
		s.values[f] = v
	}
	return s
}

// Digest returns the SHA-256 of the fields in hexadecimal. Each goes in after
// its length, so that a character moved from one to the next changes it.
func (s Signature) Digest() string {
	h := sha256.New()
	var n [8]byte
	for _, v := range s.values {
		binary.BigEndian.PutUint64(n[:], uint64(len(v)))
		h.Write(n[:])
		h.Write([]byte(v))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Changed returns the names of the fields in which s differs from old, in
// order, never their values (R-HARN-11).
func (s Signature) Changed(old Signature) []string {
	var names []string
	for f := range fieldCount {
		if s.values[f] != old.values[f] {
			names = append(names, f.String())
		}
	}
	return names
}

// A SignaturePart is a field for people to read.
type SignaturePart struct {
	Name  string `json:"name"`
	Value string `json:"value"` // of the key, the stable prompt and secrets in an address only a digest (R-CMD-06)
}

// Parts returns the fields in order.
func (s Signature) Parts() []SignaturePart {
	parts := make([]SignaturePart, 0, fieldCount)
	for f := range fieldCount {
		v := s.values[f]
		switch f {
		case fieldKey, fieldStable:
			v = hashed(v)
		case fieldBaseURL:
			v = address(v)
		}
		parts = append(parts, SignaturePart{Name: f.String(), Value: v})
	}
	return parts
}

// hashed returns the digest of v, "" for "".
func hashed(v string) string {
	if v == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(v))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// address returns v as it can be shown. What may hold a secret, a password or a
// query, is left out, and the digest of the whole is there instead.
func address(v string) string {
	u, err := url.Parse(v)
	switch {
	case err != nil:
		return hashed(v)
	case u.User == nil && u.RawQuery == "":
		return v
	}
	u.User, u.RawQuery = nil, ""
	return u.String() + " " + hashed(v)
}
