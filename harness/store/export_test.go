package store

import (
	"context"
	"fmt"
	"testing"
)

// LimitPages limits the size of a SQLite database, as a full disk does.
func LimitPages(t *testing.T, s *Store, pages int) {
	t.Helper()
	err := s.view(t.Context(), func(t tx) error {
		return t.exec(context.Background(), fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Migrations are the scripts, for a test that none is edited.
var Migrations = migrations
