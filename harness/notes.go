package harness

import (
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
)

// notes are what goes with this send alone, for the next message of conv: what servers
// say on how to use them, the prompt and the skills that it names, that it is spoken, and
// what the user has answered to questions. A
// model that reads all of the conversation gets the answers that it has not been
// told yet; one that is told per send gets the last of all (R-PROMPT-32,
// R-PROMPT-33).
func (t *turn) notes(conv *thread.Conversation) []prompt.Note {
	var out []prompt.Note
	var advice []prompt.Advice
	if advice, t.told = t.advice(conv); len(advice) > 0 {
		out = append(out, prompt.AdviceNote(advice))
	}
	if t.expansion.note.Text != "" {
		out = append(out, t.expansion.note)
	}
	for _, s := range t.named {
		if t.shape == prompt.Stateless {
			s.Where = "" // R-HARN-21
		}
		out = append(out, prompt.SkillNote(s))
	}
	if t.choice.Voice == VoiceOn {
		out = append(out, prompt.VoiceNote())
	}
	all, recent := conv.Answers(t.in.Retry)
	if t.shape == prompt.Harness {
		all = recent
	}
	if len(all) == 0 {
		return out
	}
	answers := make([]prompt.Answer, len(all))
	for i, a := range all {
		answers[i] = prompt.Answer(a)
	}
	return append(out, prompt.AnswersNote(answers))
}
