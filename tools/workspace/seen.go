package workspace

// A Seen remembers what the tools of a session have read.
type Seen struct{}
