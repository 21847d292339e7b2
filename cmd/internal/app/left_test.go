package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A library that heeds no cancel keeps neither its user nor the end of the program
// waiting, and the log has what goes on.
func TestCloseTellsOfWhatIsLeft(t *testing.T) {
	asked, done := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-done
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	m := newMachine(t, Apart, "[providers.deaf]\nkind = \"langchain/mistral\"\nbase_url = \""+server.URL+"\"\napi_key_command = \"echo k\"\n")
	s, err := (&settings{m.App}).Freeze(t.Context(), at(m), choiceFor("deaf/m"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	_, err = client.Stream(ctx, modeltest.Ask("go"), func(model.Event) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the cancel", err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := m.log.String(), `"requests":1,"message":"cancelled requests go on until the program ends"`; !strings.Contains(got, want) {
		t.Errorf("log = %s, want %s", got, want)
	}
}
