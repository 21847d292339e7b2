package cli

import "testing"

func TestMediaType(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"notes.md", "# a", "text/markdown"},
		{"NOTES.MD", "# a", "text/markdown"},
		{"a.json", "{}", "application/json"},
		{"Makefile", "all:\n\tgo build", "text/plain"},
		{"page", "<!DOCTYPE html><html>", "text/html"},
		{"empty", "", "text/plain"},
		{"scan", "%PDF-1.7\n\xff\x00", "application/pdf"},
		{"a.pdf", "%PDF-1.7\n\xff\x00", "application/pdf"},
		{"picture", "\x89PNG\x0d\x0a\x1a\x0a\x00", "image/png"},
		{"old.txt", "caf\xe9", "application/octet-stream"}, // not believed
		{"a.md", "a\x00b", "application/octet-stream"},
		{"unknown", "caf\xe9", "application/octet-stream"},
	}
	for _, tt := range tests {
		if got := mediaType(tt.name, []byte(tt.content)); got != tt.want {
			t.Errorf("mediaType(%q, %q) = %q, want %q", tt.name, tt.content, got, tt.want)
		}
	}
}
