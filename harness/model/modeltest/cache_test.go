package modeltest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// What a request repeats of the one before it is counted as cached, in every
// protocol in its own way, and only what it repeats.
func TestCachedTokens(t *testing.T) {
	type counts struct{ read, written bool }
	tests := []struct {
		protocol, id string
		system       int // length of the system prompt
		same, other  counts
	}{
		{"openai-chat", "m", 6000, counts{read: true}, counts{}},
		{"openai-chat", "m", 3000, counts{}, counts{}}, // less than 1024 tokens
		{"openai-responses", "gpt-5.2", 6000, counts{read: true}, counts{}},
		{"openai-responses", "gpt-5.6", 6000, counts{read: true}, counts{written: true}},
		{"anthropic", "claude-opus-4-8", 6000, counts{read: true}, counts{written: true}},
		{"anthropic", "claude-opus-4-7", 6000, counts{}, counts{}}, // less than 2048
		{"anthropic", "claude-opus-4-7", 12000, counts{read: true}, counts{written: true}},
		{"anthropic", "claude-opus-5", 3000, counts{read: true}, counts{written: true}},
		{"gemini", "gemini-3.5-flash", 12000, counts{}, counts{}}, // less than 4096
		{"gemini", "gemini-3.5-flash", 20000, counts{read: true}, counts{}},
		{"gemini", "gemini-2.5-flash", 12000, counts{read: true}, counts{}},
		{"ollama", "m", 20000, counts{}, counts{}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %s %d", tt.protocol, tt.id, tt.system), func(t *testing.T) {
			for changed, want := range map[bool]counts{false: tt.same, true: tt.other} {
				s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}, Repeat: -1})
				p := protocol(t, tt.protocol)
				p.ID = tt.id
				c := client(t, p, s)
				req := modeltest.Ask("hi")
				req.System = strings.Repeat("s", tt.system)
				usage := func() model.Usage {
					_, reply, err := modeltest.Collect(t.Context(), c, req)
					if err != nil {
						t.Fatal(err)
					}
					req.Messages = append(req.Messages, llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: reply.Parts}, llms.TextParts(llms.ChatMessageTypeHuman, "and"))
					return reply.Usage
				}
				first := usage()
				if first.CacheRead != 0 {
					t.Errorf("the first request reads %d cached tokens", first.CacheRead)
				}
				if changed { // C122
					req.System = "12:01" + req.System
				}
				got := usage()
				if diff := cmp.Diff(want, counts{got.CacheRead > 0, got.CacheWrite > 0}, cmp.AllowUnexported(counts{})); diff != "" {
					t.Errorf("changed %v: %+v (-want +got):\n%s", changed, got, diff)
				}
				if ratio := s.Ratio(); changed && ratio > 0.9 || !changed && ratio != 1 {
					t.Errorf("changed %v: Ratio() = %v", changed, ratio)
				}
			}
		})
	}
}

func protocol(t *testing.T, name string) modeltest.Protocol {
	t.Helper()
	for _, p := range modeltest.Protocols() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no protocol %s", name)
	return modeltest.Protocol{}
}

// From gpt-5.6 on a prefix is found where it ended before, and nowhere else.
func TestBreakpoints(t *testing.T) {
	long := strings.Repeat("x", 8000)
	body := func(mode, mark, system, user string) string {
		return fmt.Sprintf(`{"model":"gpt-5.6","stream":true,"store":false,"prompt_cache_key":"k"%s,"input":[{"role":"developer","content":[{"type":"input_text","text":%q%s}]},{"role":"user","content":[{"type":"input_text","text":%q}]}]}`, mode, system, mark, user)
	}
	const (
		explicit = `,"prompt_cache_options":{"mode":"explicit"}`
		mark     = `,"prompt_cache_breakpoint":{"mode":"explicit"}`
	)
	tests := []struct {
		name          string
		first, second string
		read          bool // in the second
		written       bool // in the first
	}{
		{"the same request", body("", "", long, "hi"), body("", "", long, "hi"), true, true},
		{"another user, no mark behind what they share", body("", "", long, "hi"), body("", "", long, "ho"), false, true},
		{"another user, a mark in between", body("", mark, long, "hi"), body("", mark, long, "ho"), true, true},
		{"a mark in the second alone", body("", "", long, "hi"), body("", mark, long, "ho"), false, true},
		{"another system prompt", body("", mark, long, "hi"), body("", mark, "y"+long, "hi"), false, true},
		{"no end but the marks", body(explicit, mark, "short", long), body(explicit, mark, "short", long), false, false},
		{"no end and no mark", body(explicit, "", long, "hi"), body(explicit, "", long, "hi"), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Reply{Repeat: -1})
			_, first := post(t, responsesURL(s), tt.first)
			_, second := post(t, responsesURL(s), tt.second)
			if got := !strings.Contains(first, `"cache_write_tokens":0`); got != tt.written {
				t.Errorf("first request wrote: %v, want %v: %s", got, tt.written, first)
			}
			if got := !strings.Contains(second, `"cached_tokens":0`); got != tt.read {
				t.Errorf("second request read: %v, want %v: %s", got, tt.read, second)
			}
		})
	}
}

// A mark is no part of what is compared: it moves from request to request.
func TestMarksDoNotCount(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Repeat: -1})
	for _, history := range []string{blocks("user", blockMark), blocks("user", `{"type":"text","text":"x"}`) + "," + blocks("assistant", blockHi) + "," + blocks("user", blockMark)} {
		if status, answer := post(t, anthropicURL(s), message("claude-opus-4-7", "", history)); status != 200 {
			t.Fatal(answer)
		}
	}
	if got := s.Ratio(); got != 1 {
		t.Errorf("Ratio() = %v, want 1: %+v", got, s.Reuse())
	}
}
