package app

import "github.com/lorimer-dev/lorimer/prompt"

// NoteKinds returns the kinds of notes that go with single sends, by name.
func (a *App) NoteKinds() []prompt.NoteKind { return a.prompts.NoteKinds() }
