package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadResults(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"initialize-2026-12-01T01-54-47-478Z":                  `[{"id":"a","status":"SUCCESS"},{"id":"b","status":"INFO"},{"id":"c","status":"WARNING"}]`,
		"auth/scope-step-up-2026-12-01T01-54-47-483Z":          `[{"id":"z","status":"FAILURE"},{"id":"y","status":"FAILURE"},{"id":"x","status":"SUCCESS"}]`,
		"server-server-stateless-2026-12-01T01-54-47-483Z":     `[]`,
		"server-json-schema-2020-12-2026-12-01T01-54-47-4830Z": `[{"id":"a","status":"SKIPPED"}]`,
	} {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "checks.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]result{
		"initialize":          {passed: 1},
		"auth/scope-step-up":  {passed: 1, failed: []string{"y", "z"}},
		"server-stateless":    {},
		"json-schema-2020-12": {},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// Whatever differs from what is expected is told, in both directions.
func TestCompare(t *testing.T) {
	e := &expectations{Deviation: []deviation{
		{Reason: "r", Suites: []string{"s"}, Scenarios: map[string]int{"known": 1, "mended": 2, "gone": 1, "worse": 1}},
		{Reason: "r", Suites: []string{"s"}, Scenarios: map[string]int{"worse": 1}},
		{Reason: "r", Suites: []string{"other"}, Scenarios: map[string]int{"new": 1}},
	}}
	got := e.compare("s", map[string]result{
		"known": {failed: []string{"a"}}, "mended": {passed: 2}, "new": {failed: []string{"b", "c"}},
		"worse": {failed: []string{"d", "e", "f"}}, "fine": {passed: 1},
	})
	slices.Sort(got)
	want := []string{
		"s: mended passes, where 2 failed checks are expected",
		"s: new fails: b, c",
		"s: there is no scenario gone",
		"s: worse has 3 failed checks where 2 are expected: d, e, f",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestExpectedCanBeRead(t *testing.T) {
	e, err := readExpected("expected.toml")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range suites() {
		names[s.name] = true
	}
	for _, d := range e.Deviation {
		for _, s := range d.Suites {
			if !names[s] {
				t.Errorf("there is no suite %q", s)
			}
		}
	}
}
