package prompt

// The kinds of notes that [Standard] registers beside the date.
const (
	SkillKind   = "skill"
	VoiceKind   = "voice"
	AnswersKind = "answers"
)

// SkillNote is the instruction of a skill that the user's message names
// (R-PROMPT-32).
func SkillNote(s Skill) Note { return Note{Kind: SkillKind, Text: s.Instruction} }

// VoiceNote tells that the answer is read aloud (R-PROMPT-34).
func VoiceNote() Note { return Note{Kind: VoiceKind} }

// An Answer is what the user said to a question of the model.
type Answer struct {
	Question string
	Chosen   []string // none is no response
}

// AnswersNote repeats what the user has answered (R-PROMPT-35). Without answers it
// is empty.
func AnswersNote(answers []Answer) Note { return Note{Kind: AnswersKind} }
