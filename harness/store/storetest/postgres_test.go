package storetest_test

import (
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/store/storetest"
)

// TestPostgres: every database is empty and apart, and has gone after its test.
func TestPostgres(t *testing.T) {
	outer, inner := storetest.Postgres(t), ""
	t.Run("inner", func(t *testing.T) {
		inner = storetest.Postgres(t)
		for _, at := range []string{outer, inner} {
			conn, err := storetest.Connect(at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			if _, err := conn.ExecContext(t.Context(), "CREATE TABLE mine (id integer)"); err != nil {
				t.Error(err)
			}
		}
	})
	conn, err := storetest.Connect(outer)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at, err := url.Parse(inner)
	if err != nil {
		t.Fatal(err)
	}
	var left int
	err = conn.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_database WHERE datname = $1", strings.TrimPrefix(at.Path, "/")).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d databases of the inner test are left (%v), want none", left, err)
	}
}

// A verdict is a test that records how it ended.
type verdict struct {
	testing.TB
	skipped, failed string
}

func (v *verdict) Helper()      {}
func (v *verdict) Name() string { return "TestPostgres" }

func (v *verdict) Skip(args ...any) {
	v.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// TestPostgresMissing: a test that cannot run says so, and what would run it.
func TestPostgresMissing(t *testing.T) {
	tests := []struct {
		require string
		failed  bool
	}{
		{"", false},
		{"npm", false},
		{"postgres", true},
		{"npm,postgres", true},
	}
	for _, tt := range tests {
		t.Run(tt.require, func(t *testing.T) {
			t.Setenv(storetest.Server, "")
			if err := os.Unsetenv(storetest.Server); err != nil {
				t.Fatal(err)
			}
			t.Setenv("LORIMER_REQUIRE", tt.require)
			v := &verdict{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				storetest.Postgres(v)
			}()
			<-done
			if said := v.failed; (said != "") != tt.failed {
				t.Errorf("failed %q, skipped %q; want failed %v", v.failed, v.skipped, tt.failed)
			}
			if said := v.skipped + v.failed; !strings.Contains(said, "NOT RUN") || !strings.Contains(said, ".ci/postgres run") {
				t.Errorf("said %q, want what was not run and a way out", said)
			}
		})
	}
}
