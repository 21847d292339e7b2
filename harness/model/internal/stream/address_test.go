package stream_test

import (
	"slices"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"http://h/v1":                 "http://h/v1/chat",
		"http://h/v1/":                "http://h/v1/chat",
		"http://h/v1/chat":            "http://h/v1/chat",
		"http://h/v1/chat/":           "http://h/v1/chat",
		"http://h/v1?api-version=1":   "http://h/v1/chat?api-version=1",
		"http://h/v1/chat?deployment": "http://h/v1/chat?deployment",
	} {
		if got := stream.Endpoint(base, "/chat"); got != want {
			t.Errorf("Endpoint(%q) = %q, want %q", base, got, want)
		}
	}
}

func TestAuthorize(t *testing.T) {
	var p stream.Post
	p.Authorize("Authorization", "Bearer ", "sk-1", map[string]string{"X-Team": "t-2"})
	if got := p.Header.Get("Authorization") + " " + p.Header.Get("X-Team"); got != "Bearer sk-1 t-2" {
		t.Errorf("headers = %q", got)
	}
	if want := []string{"sk-1", "t-2"}; !slices.Equal(p.Secrets, want) {
		t.Errorf("Secrets = %q, want %q", p.Secrets, want)
	}
	var none stream.Post
	none.Authorize("Authorization", "Bearer ", "", nil)
	if none.Header["Authorization"] != nil || len(none.Secrets) > 0 {
		t.Errorf("without a key: %q, %q", none.Header, none.Secrets)
	}
}
