package modeltest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// sign is what a model gives out to know its thought again, base64 as with the
// real ones. It tells the model and depends on content, so that neither can be
// exchanged.
func sign(id, content string) string {
	sum := short(content)
	return base64.StdEncoding.EncodeToString([]byte(strings.Join([]string{id, sum, short(id, sum)}, "\n")))
}

// unsigned says why signature is not one that model id gave for content; "" is
// for any.
func unsigned(id, content, signature string) error {
	b, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return bad("", "invalid signature: it is not base64: %.40q", signature)
	}
	parts := strings.Split(string(b), "\n")
	switch {
	case len(parts) != 3 || short(parts[0], parts[1]) != parts[2]:
		return bad("", "invalid signature: it was not given out here, or altered")
	case parts[0] != id:
		return bad("", "invalid signature: model %s gave it", parts[0])
	case content != "" && parts[1] != short(content):
		return bad("", "invalid signature: it belongs to something else")
	}
	return nil
}

func short(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
