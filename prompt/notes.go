package prompt

import "strings"

// The kinds of notes that [Standard] registers beside the date.
const (
	skillKind   = "skill"
	voiceKind   = "voice"
	answersKind = "answers"
	adviceKind  = "advice"
	promptKind  = "prompt"
)

// noteKinds are the kinds of [Standard] with their places (R-PROMPT-32,
// R-PROMPT-33).
func noteKinds() []NoteKind {
	return []NoteKind{
		{voiceKind, Spot{PlaceSystem, 10}, Spot{PlaceFront, 20}},
		{skillKind, Spot{PlaceSystem, 20}, Spot{PlaceFront, 10}},
		{answersKind, Spot{PlaceSystem, 30}, Spot{PlaceFront, 30}},
		{adviceKind, Spot{PlaceSystem, 15}, Spot{PlaceFront, 5}},
		{promptKind, Spot{PlaceSystem, 40}, Spot{PlaceFront, 40}},
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

// Advice is what an MCP server says on how to use it.
type Advice struct {
	Server string
	Prefix string // that the names of its tools begin with
	Text   string
}

// AdviceNote tells what servers say on how to use them, as data of strangers, outside
// of the system string. Without advice it is empty.
func AdviceNote(advice []Advice) Note {
	if len(advice) == 0 {
		return Note{Kind: adviceKind}
	}
	var said []string
	for _, a := range advice {
		said = append(said, Wrap("server-advice", a.Text, "server", a.Server, "prefix", a.Prefix))
	}
	return Note{adviceKind, noteAdviceWords.fill("advice", strings.Join(said, "\n\n"))}
}

// A Message is a piece of what a prompt of an MCP server was filled in with.
type Message struct {
	Role string // user or assistant
	URI  string // of the resource that it is; "" is none
	Text string
}

// PromptNote is the prompt of an MCP server that the user asks for by a command. Name
// is the server's own, and so a word of a stranger like the messages: all of them stand
// in elements.
func PromptNote(server, name string, messages []Message) Note {
	var said []string
	for _, m := range messages {
		attributes := []string{"server", server, "name", name, "role", m.Role}
		if m.URI != "" {
			attributes = append(attributes, "resource", m.URI)
		}
		said = append(said, Wrap("prompt", m.Text, attributes...))
	}
	return Note{promptKind, notePromptWords.fill("prompt", strings.Join(said, "\n\n"))}
}
