package thread

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/tools"
)

// maxAnswers is how many answers of the user a conversation remembers.
const maxAnswers = 20

// A state is what a conversation says at one point of it.
type state struct {
	messages []llms.MessageContent
	told     []string       // what the model is told once: files of instructions, and what messages say of servers
	answers  []tools.Answer // of the user to questions, the last ones
	recent   int            // of them, those since the last message of the user
}

// clip returns s for keeping: what is said next is not written into it.
func (s *state) clip() state {
	return state{slices.Clip(s.messages), slices.Clip(s.told), slices.Clip(s.answers), s.recent}
}

// learn notes what a result tells beside its text.
func (s *state) learn(r Result) {
	s.told = append(s.told, r.Told...)
	if len(r.Answers) == 0 {
		return
	}
	all := slices.Concat(s.answers, r.Answers)
	s.answers = all[max(0, len(all)-maxAnswers):]
	s.recent = min(s.recent+len(r.Answers), len(s.answers))
}

// Told reports whether the model has been told of the file of instructions at an
// absolute path, in a result that is part of the conversation.
func (c *Conversation) Told(path string) bool { return slices.Contains(c.told, path) }

// LastTold returns the last key that begins with of among what the model has been told
// before the message that is sent next; see [Conversation.Answers]. "" is none.
func (c *Conversation) LastTold(of string, again bool) string {
	for _, key := range slices.Backward(c.before(again).told) {
		if strings.HasPrefix(key, of) {
			return key
		}
	}
	return ""
}

// Answers returns what the user has answered to questions of the model before the
// message that is sent next: all, up to the last 20, and of them those since the
// message before. Again says that it is the last message, sent again, which comes
// before its answers. Any other message ends a retry without an answer, so that what
// was answered before that counts.
func (c *Conversation) Answers(again bool) (all, recent []tools.Answer) {
	s := c.before(again)
	return s.answers, s.answers[len(s.answers)-s.recent:]
}

// before returns what is said before the message that is sent next.
func (c *Conversation) before(again bool) *state {
	switch {
	case again && c.user.set:
		return &c.user.before
	case c.user.held != nil:
		return &c.user.held.state
	}
	return &c.state
}

// attach notes what the keys of a message stand for.
func (c *Conversation) attach(as []Attached) {
	for _, a := range as {
		if c.attached == nil {
			c.attached = make(map[string]Attached)
		}
		c.attached[a.Key] = a
	}
}

// Attached returns the last attachment with a key, also of a message that was taken
// back. It may be called while results and answers are added.
func (c *Conversation) Attached(key string) (Attached, bool) {
	a, ok := c.attached[key]
	return a, ok
}

// pictures returns the parts of ps that are pictures.
func pictures(ps []Part) []Part {
	return slices.DeleteFunc(slices.Clone(ps), func(p Part) bool { return p.Image == nil })
}

// withPictures returns ps with the last ones of have, in their order, in the places of
// the pictures that have no data: the user's own, which come after those that others had
// added to the message.
func withPictures(ps, have []Part) []Part {
	empty := 0
	for _, p := range ps {
		if p.Image != nil && len(p.Image.Data) == 0 {
			empty++
		}
	}
	have = have[max(0, len(have)-empty):]
	out := make([]Part, 0, len(ps))
	for _, p := range ps {
		if p.Image != nil && len(p.Image.Data) == 0 {
			if len(have) == 0 {
				continue
			}
			p, have = have[0], have[1:]
		}
		out = append(out, p)
	}
	return out
}
