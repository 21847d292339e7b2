// Package modeltest is a model for tests: it answers what it is told to answer.
//
// A [Server] speaks the protocols of OpenAI, Anthropic, Gemini and Ollama over
// HTTP, so that the code under test is the code that talks to real ones. It is
// strict: what a provider might reject is rejected, with the field and the reason
// in the provider's own shape. What a client has to send back, such as thoughts,
// is signed, so that it is known again. The server remembers requests, measures
// how much of each one the next repeats (R-HARN-14) and counts cached tokens from
// that. A [Quirk] of a [Reply] has it cut the stream as one server or another
// does. A [Streamer] is the same without HTTP and without quirks.
//
// [TestStreamer] is the contract of model.Streamer as a suite, [TestQuirks] shows
// that a client reads every quirk of its protocol alike, and a [Scenario] is a
// conversation that several tests hold.
package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A Reply is one answer: thoughts, then text, then calls of tools, each piece an
// event of its own; then its end.
type Reply struct {
	Match  string // answers only a request whose last message contains this
	Repeat int    // times that it is used again; negative for ever

	Think []string
	Text  []string
	Tools []Tool
	Usage *model.Usage // default: counted from the request
	Stop  model.Stop   // default: StopTools with tools, else StopEnd
	Delay time.Duration
	Quirk Quirk // how the server cuts the stream; default: as its protocol has it

	Status int               // answers with this HTTP status instead
	Header map[string]string // of such an answer
	Code   string            // the provider's code of an error
	Error  string            // its message; without a status, an error inside the stream after the pieces

	Cut  bool // after the pieces the connection breaks
	EOF  bool // after the pieces the stream just ends
	Hang bool // after the pieces nothing comes until the client goes away
}

// A Tool is a call in a reply.
type Tool struct {
	ID   string // default: made up, unique on this model
	Name string
	Args string // as it is sent, valid or not
}

// JSON returns v as the arguments of a call.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// prepare carries out what a quirk does to the reply itself.
func (r *Reply) prepare() {
	switch {
	case r.Quirk == HugeArgument && len(r.Tools) > 0:
		r.Tools[0].Args = hugeArguments()
	case r.Quirk == Refusal && r.Stop == "":
		r.Stop = model.StopEnd // the text alone tells of it
	}
}

// hugeArguments are the arguments of [HugeArgument].
func hugeArguments() string {
	return `{"content":"` + strings.Repeat("0123456789abcdef", hugeSize<<12) + `"}`
}

func (r *Reply) stop() model.Stop {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.Tools) > 0:
		return model.StopTools
	}
	return model.StopEnd
}

// A script is the replies that are left. It is safe for concurrent use.
type script struct {
	mu    sync.Mutex // guards the fields below
	left  []Reply
	calls int
}

func (s *script) add(replies []Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, replies...)
}

// next takes the first reply that answers a request with this last message.
func (s *script) next(last string) (Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.left {
		if !strings.Contains(last, r.Match) {
			continue
		}
		switch {
		case r.Repeat > 0:
			s.left[i].Repeat--
		case r.Repeat == 0:
			s.left = append(s.left[:i:i], s.left[i+1:]...)
		}
		r.Tools = append([]Tool(nil), r.Tools...)
		for j := range r.Tools {
			if r.Tools[j].ID == "" {
				s.calls++
				r.Tools[j].ID = fmt.Sprintf("call_%d", s.calls)
			}
		}
		return r, nil
	}
	return Reply{}, fmt.Errorf("no reply is left for a request that ends in %.200q", last)
}
