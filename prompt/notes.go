package prompt

import "strings"

// The kinds of notes that [Standard] registers beside the date.
const (
	skillKind   = "skill"
	voiceKind   = "voice"
	answersKind = "answers"
)

// noteKinds are the kinds of [Standard] with their places (R-PROMPT-32,
// R-PROMPT-33).
func noteKinds() []NoteKind {
	return []NoteKind{
		{voiceKind, Spot{PlaceSystem, 10}, Spot{PlaceFront, 20}},
		{skillKind, Spot{PlaceSystem, 20}, Spot{PlaceFront, 10}},
		{answersKind, Spot{PlaceSystem, 30}, Spot{PlaceFront, 30}},
	}
}

// SkillNote is the instruction of a skill that the user's message names
// (R-PROMPT-32). For a model that reads no files, s says nothing of where they are.
func SkillNote(s Skill) Note {
	return Note{skillKind, noteSkillWords.fill("name", shown(s.Name), "instruction", paragraphs(s.fenced(), s.Where))}
}

// VoiceNote tells that the answer is read aloud (R-PROMPT-34).
func VoiceNote() Note { return Note{voiceKind, noteVoiceWords.plain()} }

// An Answer is what the user said to a question of the model.
type Answer struct {
	Question string
	Chosen   []string // none is no response
}

// AnswersNote repeats what the user has answered (R-PROMPT-35). Without answers it
// is empty.
func AnswersNote(answers []Answer) Note {
	if len(answers) == 0 {
		return Note{Kind: answersKind}
	}
	lines := []string{noteAnswersWords.plain(), ""}
	for _, a := range answers {
		var chosen []string
		for _, c := range a.Chosen {
			if c = shown(c); c != "" {
				chosen = append(chosen, c)
			}
		}
		if len(chosen) == 0 {
			lines = append(lines, noteAnswersNoneWords.fill("question", shown(a.Question)))
			continue
		}
		lines = append(lines, noteAnswersChosenWords.fill("question", shown(a.Question), "chosen", strings.Join(chosen, "; ")))
	}
	return Note{answersKind, strings.Join(lines, "\n")}
}
