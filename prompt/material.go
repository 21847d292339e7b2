package prompt

// A Project is what a session's project says to the model (R-PROMPT-28).
type Project struct {
	ID           string // what its owner knows it by; the model is not told
	Name         string
	Instructions string // of the user, for every message; may be empty
}

// An Instruction is a file of instructions that a directory carries for agents,
// such as AGENTS.md.
type Instruction struct {
	Path string // as the model is told it, relative to the working directory
	Text string // with its imports in their places, within the limit of its reader
}

// A Workspace is what the model is told of the workspaces of documents: of the
// one that the session is bound to, or of all that there are, never both
// (R-PROMPT-55, R-PROMPT-56).
type Workspace struct {
	Bound    *Summary  // nil when the session is bound to none
	Catalog  []Listing // the most recently changed first
	Creation *Creation // whether another may be made; nil is unknown, which fails where the catalog is told
}

// A Summary tells of one workspace by identifiers and titles.
type Summary struct {
	ID          string
	Title       string
	Collections []Ref // the cited ones; those behind the first MaxListed are only counted
	Pinned      []Ref // likewise
	Documents   int   // in all

	// How many there are in all; less than are given is as many as those.
	AllCollections, AllPinned int
}

// A Ref names something without its content.
type Ref struct{ ID, Title string }

// A Listing is a workspace in the catalog.
type Listing struct {
	ID, Title, Description string
	Documents              int
}

// A Creation says whether another workspace may be made.
type Creation struct {
	Allowed bool
	Have    int
	Limit   int // 0 is none
}

// A Skill is a way of working that the model reads when it needs it (R-PROMPT-40).
type Skill struct {
	Name        string // 1 to 64 of a–z, 0–9 and single hyphens between them
	Description string // when to use it
	Instruction string
	Fenced      bool   // Instruction stands in an element already, behind a sentence on whose it is
	Where       string // says where its other files are, to a model that can read them; "" without any
	Contract    bool   // it settles the form of an output, so models without tools get all of it (R-PROMPT-42)
}

// Full returns the instruction with where the files are that it may speak of.
func (s Skill) Full() string { return paragraphs(s.Instruction, s.Where) }

// Integrations is what the user has connected (R-PROMPT-27). The zero value is
// ready.
type Integrations struct {
	GoogleOff    bool // connected, but switched off
	MicrosoftOff bool
	PromptsOff   bool // the user asked not to be asked again
}

// A Profile is what the configuration says of the active model. Its texts are
// templates; an empty one adds nothing.
type Profile struct {
	Tools        string // section 120
	LinkPreviews string // section 165
	Style        string // the end of the last section

	// FILE:LINE of the texts, for errors; "" is nowhere that can be named.
	ToolsAt, LinkPreviewsAt, StyleAt string
}
