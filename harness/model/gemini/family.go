package gemini

// A family says what a generation of models takes.
type family struct{}

func familyOf(string) family { return family{} }
