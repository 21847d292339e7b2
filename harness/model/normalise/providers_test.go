package normalise_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// client returns our client of the model d.
func client(t testing.TB, d model.Descriptor) model.Streamer {
	switch d.Kind {
	case "openai-chat":
		return openai.New(d, openai.Options{Key: "k"})
	case "openai-responses":
		return responses.New(d, responses.Options{Key: "k"})
	case "anthropic":
		return anthropic.New(d, anthropic.Options{Key: "k"})
	case "gemini":
		return gemini.New(d, gemini.Options{Key: "k"})
	case "ollama":
		return ollama.New(d, ollama.Options{})
	}
	t.Fatalf("no client for %q", d.Kind)
	return nil
}

// readers are models of every protocol on s, and some whose servers want more than
// theirs.
func readers(s *modeltest.Server) []model.Descriptor {
	var out []model.Descriptor
	for _, p := range modeltest.Protocols() {
		out = append(out, model.Descriptor{Kind: p.Name, Provider: p.Name, ID: p.ID, BaseURL: p.URL(s), Window: 128_000, Images: p.Name != "ollama", Thinks: true})
	}
	return append(out,
		model.Descriptor{Kind: "openai-chat", Provider: "mistral", ID: "mistral-large", BaseURL: s.OpenAI(), Window: 128_000, Images: true},
		model.Descriptor{Kind: "anthropic", Provider: "anthropic", ID: "claude-haiku-4-5", BaseURL: s.Anthropic(), Window: 128_000, Thinks: true})
}

// A session is a conversation that many models have a part in.
type session struct {
	t       testing.TB
	r       *rand.Rand
	server  *modeltest.Server
	readers []model.Descriptor
	log     []thread.Entry
	conv    thread.Conversation
	ids     int
	sent    map[string][]llms.MessageContent // the last request to each reader, by what it was asked for
}

func newSession(t testing.TB, s *modeltest.Server, seed uint64) *session {
	return &session{t: t, r: rand.New(rand.NewPCG(seed, 7)), server: s, readers: readers(s), sent: map[string][]llms.MessageContent{}}
}

func (s *session) one(of ...string) string { return of[s.r.IntN(len(of))] }

func (s *session) add(b thread.Body) {
	e := thread.Entry{Seq: int64(len(s.log)) + 1, Body: b}
	s.log = append(s.log, e)
	s.conv.Add(e)
}

func (s *session) id() string {
	s.ids++
	return fmt.Sprint("c", s.ids)
}

func (s *session) words() string {
	return s.one("", " ", "words", "more words\n", "字 \u2028 \x00", "\"quoted\\", "{{tool}}")
}

// step is one thing that happens.
func (s *session) step() {
	switch s.r.IntN(6) {
	case 0, 1:
		s.user(s.words())
	case 2:
		s.madeUp()
	case 3:
		s.add(thread.Note{Text: s.words()})
	default:
		s.user(s.one("go on", "and?\n"))
		s.ask()
	}
}

var pictures = []tools.Image{
	{MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n----")}, {MIME: "image/png", Data: []byte("\xff\xd8\xff\xe0----")},
	{MIME: "image/tiff", Data: []byte("II*\x00")}, {MIME: "application/pdf", Data: []byte("%PDF-")},
}

func (s *session) picture() tools.Image { return pictures[s.r.IntN(len(pictures))] }

func (s *session) user(text string) {
	u := thread.User{Blocks: []event.Block{{Text: "x"}}, Sent: []thread.Part{{Text: text}}}
	if s.r.IntN(4) == 0 {
		img := s.picture()
		u.Sent = append(u.Sent, thread.Part{Image: &img, Name: s.one("", "a.png")})
	}
	s.add(u)
}

// madeUp is an answer that no model here gave: of another vendor, imported, or cut.
func (s *session) madeUp() {
	foreign := s.one("other/m", "openrouter/some/m", "", "gemini/gemini-9", "openai/gpt-9")
	a := thread.Assistant{Model: foreign, Partial: s.r.IntN(2) == 0}
	if s.r.IntN(3) == 0 { // cut before it was signed
		a.Model, foreign = s.readers[s.r.IntN(len(s.readers))].Ref(), ""
	}
	for range s.r.IntN(5) {
		p := thread.Part{}
		switch s.r.IntN(4) {
		case 0:
			p.Text = s.words()
		case 1:
			p.Reasoning = &thread.Reasoning{Text: s.words(), Provider: foreign, Signature: s.one("", "sig"), Field: s.one("", "reasoning_content"), Redacted: s.one("", "", "r")}
		case 2:
			p.Text = s.words()
			p.Signed = &thread.Signed{Provider: cmpOr(foreign, "other/m"), Content: json.RawMessage(`{"phase":"x"}`)}
		default:
			p.Call = &thread.Call{
				ID: s.id(), WireID: s.one("", "same", "functions.read:0", strings.Repeat("x", 70), s.id(), "字"),
				Name: s.one("", "read", "mcp.tool/x", "1st", strings.Repeat("n", 80), "gone"),
				Args: s.one("", "null", "[]", `{"p":`, `{"a":1}{"a":1}`, `{"a":"\ud83d"}`, `{ "a": 12345678901234567890 }`, "{}"),
			}
			if a.Model != "" && foreign == "" { // a model of ours makes ids that its server takes
				p.Call.WireID = s.id()
			}
			if s.r.IntN(3) == 0 && foreign != "" {
				p.Call.Provider, p.Call.Extra = foreign, json.RawMessage(`{"thoughtSignature":"x"}`)
			}
		}
		a.Parts = append(a.Parts, p)
	}
	s.add(a)
	s.results(a.Parts)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// results ends some calls, in any order.
func (s *session) results(ps []thread.Part) {
	for _, i := range s.r.Perm(len(ps)) {
		c := ps[i].Call
		if c == nil || s.r.IntN(6) == 0 {
			continue
		}
		r := thread.Result{CallID: c.ID, Text: s.words(), IsError: s.r.IntN(3) == 0}
		for range s.r.IntN(5) / 3 {
			r.Images = append(r.Images, s.picture())
		}
		s.add(r)
	}
}

// ask has one of the models answer, and go on with its calls.
func (s *session) ask() {
	d := s.readers[s.r.IntN(len(s.readers))]
	o := normalise.Options{Text: s.r.IntN(3) == 0}
	noTools := s.r.IntN(6) == 0
	w := normalise.Wrap(client(s.t, d), d, o)
	for range 1 + s.r.IntN(3) {
		reply := modeltest.Reply{Text: []string{s.one("", s.id()+" looks.")}} // the server knows its texts again
		if s.r.IntN(2) == 0 && d.Provider != "mistral" {
			reply.Think = []string{"Let me ", "think ", s.id()}
		}
		for i := 0; !noTools && i < s.r.IntN(4); i++ {
			reply.Tools = append(reply.Tools, modeltest.Tool{Name: s.one("read", "grep"), Args: s.one(`{"path":"a"}`, `{}`)})
		}
		if len(reply.Tools) == 0 {
			reply.Text = []string{s.id() + " is done."}
		}
		if !s.answer(w, d, o, noTools, reply) || len(reply.Tools) == 0 {
			return
		}
	}
}

// answer asks once and keeps the answer.
func (s *session) answer(w model.Streamer, d model.Descriptor, o normalise.Options, noTools bool, reply modeltest.Reply) bool {
	s.server.Add(reply)
	req := modeltest.Ask("")
	req.Messages = s.conv.Messages()
	req.Effort = model.EffortMedium
	if noTools {
		req.Tools = nil
	}
	s.grows(d, o, noTools, normalise.Request(req, d, o).Messages)
	got, err := w.Stream(s.t.Context(), req, func(model.Event) error { return nil })
	if err != nil {
		s.t.Errorf("%s, tools %v, %+v: %v\nfor %s", d.Ref(), !noTools, o, err, s.told())
		return false
	}
	a := thread.Assistant{Model: d.Ref()}
	given := map[string]bool{}
	for _, p := range got.Parts {
		part, ok := thread.FromModel(p)
		if !ok {
			continue
		}
		if c := part.Call; c != nil { // as a turn does it
			c.ID = s.id()
			if c.WireID == "" || given[c.WireID] || s.conv.Sent(c.WireID) {
				c.WireID = c.ID
			}
			given[c.WireID] = true
		}
		a.Parts = append(a.Parts, part)
	}
	s.add(a)
	s.results(a.Parts)
	return true
}

// grows checks that what a model is sent begins with what it was sent before, part
// by part (R-HARN-14).
func (s *session) grows(d model.Descriptor, o normalise.Options, noTools bool, now []llms.MessageContent) {
	key := fmt.Sprint(d.Ref(), o.Text, noTools)
	before := flat(s.sent[key])
	s.sent[key] = now
	if n := len(before); n > 0 && before[n-1] == "human (Go on.)" {
		before = before[:n-1]
	}
	got := flat(now)
	if len(got) > len(before) {
		got = got[:len(before)]
	}
	if diff := cmp.Diff(before, got); len(before) > 0 && diff != "" {
		s.t.Errorf("%s, tools %v, %+v: what was sent has changed (-before +now):\n%s", d.Ref(), !noTools, o, diff)
	}
}

func flat(ms []llms.MessageContent) []string {
	var out []string
	for _, m := range ms {
		for _, p := range m.Parts {
			text := fmt.Sprintf("%s %+v", m.Role, p)
			switch c := p.(type) { // the call is behind a pointer
			case llms.ToolCall:
				text = fmt.Sprintf("%s call %s %+v", m.Role, c.ID, *c.FunctionCall)
			case model.Extra:
				text = fmt.Sprintf("%s call %s %+v %s", m.Role, c.ID, *c.FunctionCall, c.Content)
			}
			out = append(out, text)
		}
	}
	return out
}

// told is the log in short, for a failure.
func (s *session) told() string {
	var b strings.Builder
	for _, e := range s.log {
		text, err := json.Marshal(e.Body)
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n%T %s", e.Body, text)
	}
	return b.String()
}

// R-HARN-15, C101, C102, C105 to C107, C125: whatever has happened in a thread, and
// with whom, every model takes it, and what it was sent before stays as it was.
func TestEveryModelTakesEveryHistory(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		s := newSession(t, modeltest.New(t), seed)
		for range 12 {
			s.step()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// C106, R-HARN-15: what a model has signed comes back to it after another has had a
// turn, whichever two they are, and the other never sees it.
func TestThereAndBack(t *testing.T) {
	for _, a := range modeltest.Protocols() {
		for _, b := range modeltest.Protocols() {
			if a.Name == b.Name {
				continue
			}
			t.Run(a.Name+" "+b.Name, func(t *testing.T) {
				s := newSession(t, modeltest.New(t), 1)
				turn := func(p modeltest.Protocol, said string) {
					d := s.readers[slices.IndexFunc(s.readers, func(d model.Descriptor) bool { return d.Kind == p.Name })]
					w := normalise.Wrap(client(t, d), d, normalise.Options{})
					s.user(said)
					calls := []modeltest.Tool{{Name: "read", Args: `{"path":"a.png"}`}, {Name: "grep", Args: `{"path":"b"}`}}
					s.answer(w, d, normalise.Options{}, false, modeltest.Reply{Think: []string{said, " thought"}, Text: []string{said, " looks"}, Tools: calls})
					s.answer(w, d, normalise.Options{}, false, modeltest.Reply{Think: []string{said, " again"}, Text: []string{said, " is done"}})
				}
				turn(a, "one")
				turn(b, "two")
				turn(a, "three")
				if why := s.server.Rejected(); len(why) > 0 {
					t.Errorf("rejected: %q", why)
				}
			})
		}
	}
}

// C099, C100: whatever the schemas of tools are like, each provider takes the tools
// that are not broken.
func TestEveryModelIsToldOfTools(t *testing.T) {
	schemas := []string{
		``, `true`, `{"type":"string"}`, `{"type":"object","properties":[]}`,
		`{"$schema":"x","type":"object","additionalProperties":false,"required":["n","gone"],"properties":{"n":{"type":"integer","exclusiveMinimum":0},
			"c":{"const":1},"u":{"type":["string","null"],"format":"uri"},"l":{"type":"array"},"any":{},"e":{"enum":["",null,"x"]},
			"a":{"anyOf":[{"type":"object","additionalProperties":{"type":"string"},"patternProperties":{"x":{}}},{"type":"null"}],"default":null,"title":"A"}}}`,
		`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"c":{"type":"array","items":{"$ref":"#/$defs/T"}}}}}}`,
		`{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"not":{}}},"required":["b"]}]}`,
		`{"type":"object","properties":{"x":{"$ref":"#/$defs/gone"}}}`,
	}
	s := modeltest.New(t)
	for _, d := range readers(s) {
		s.Add(modeltest.Reply{Text: []string{"ok"}})
		var dropped []string
		w := normalise.Wrap(client(t, d), d, normalise.Options{Dropped: func(tool string, _ error) { dropped = append(dropped, tool) }})
		req := modeltest.Ask("go")
		for i, raw := range schemas {
			req.Tools = append(req.Tools, model.Tool{Name: fmt.Sprint("1st.tool", i), Description: "d", Schema: json.RawMessage(raw)})
		}
		if _, err := w.Stream(t.Context(), req, func(model.Event) error { return nil }); err != nil {
			t.Errorf("%s: %v", d.Ref(), err)
		}
		if want := []string{"1st.tool7"}; !slices.Equal(dropped, want) {
			t.Errorf("%s: dropped %q, want %q", d.Ref(), dropped, want)
		}
	}
}

// Any history, however broken, becomes a request that every strict server takes.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("hacr"), []byte("aab"))
	f.Add([]byte("rrachcrara"), []byte{0, 1, 2, 0, 0, 1})
	f.Fuzz(func(t *testing.T, steps, ids []byte) {
		if len(steps) > 40 {
			return
		}
		msgs := random(steps, ids)
		s := modeltest.New(t)
		for _, d := range readers(s) {
			s.Add(modeltest.Reply{Text: []string{"ok"}})
			req := modeltest.Ask("")
			req.Messages = append(slices.Clip(msgs), human("go"))
			w := normalise.Wrap(client(t, d), d, normalise.Options{})
			if _, err := w.Stream(t.Context(), req, func(model.Event) error { return nil }); err != nil {
				t.Errorf("%s: %v for %q %q", d.Ref(), err, steps, ids)
			}
		}
	})
}

// random makes a history: h is the user, a an answer, c a call in it, r a result.
func random(steps, ids []byte) (msgs []llms.MessageContent) {
	next := func() string {
		if len(ids) == 0 {
			return ""
		}
		id := ids[0]
		ids = ids[1:]
		return strings.Repeat(string(rune(id)), int(id)%50)
	}
	for _, s := range steps {
		switch s {
		case 'h':
			msgs = append(msgs, human(next()))
		case 'a':
			msgs = append(msgs, ai(by("x/y"), thought(next(), "x"), next()))
		case 'c':
			msgs = append(msgs, ai(call(next(), next(), next()), call(next(), "ls", "{}")))
		case 'r':
			msgs = append(msgs, tool(result(next(), "ls", next())))
		}
	}
	return msgs
}
