package gemini

import "encoding/json"

// A sealedCall is what of a call goes back to the model that made it: the opaque
// data of a [model.Extra].
type sealedCall struct {
	ID        string `json:"id,omitempty"`
	Signature string `json:"thoughtSignature,omitempty"`
}

func (c sealedCall) seal() json.RawMessage {
	return marshal(c)
}

// unsealCall reads what seal wrote, or what the same model says through Google's
// imitation of OpenAI's protocol; nil if it is neither.
func unsealCall(raw json.RawMessage) *sealedCall {
	var v struct {
		sealedCall
		Google struct {
			Signature string `json:"thought_signature"`
		} `json:"google"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	if v.Google.Signature != "" {
		v.sealedCall.Signature = v.Google.Signature
	}
	return &v.sealedCall
}

// A sealedText is a part of a text: its length in bytes and, if it had one, its
// signature. A list of them is the opaque data of a [model.SignedText]: parts
// must go back as they came, but a text that is cut inside a word would be of no
// use to anyone else.
type sealedText struct {
	Len       int    `json:"len"`
	Signature string `json:"thoughtSignature,omitempty"`
}

// unsealText reads the parts of a text of n bytes; nil if they are not its parts.
func unsealText(raw json.RawMessage, n int) []sealedText {
	var parts []sealedText
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	for _, p := range parts {
		if p.Len < 0 || p.Len > n {
			return nil
		}
		n -= p.Len
	}
	if n != 0 {
		return nil
	}
	return parts
}

// marshal encodes v, which holds strings and numbers only.
func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
