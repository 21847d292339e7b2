package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A result is what a scenario found.
type result struct {
	passed int
	failed []string // ids of checks, sorted
}

// stamp is the time that ends the name of the folder of a scenario.
var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// readResults reads what a suite has written to a folder, by the names of scenarios.
func readResults(dir string) (map[string]result, error) {
	results := make(map[string]result)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "checks.json" {
			return err
		}
		name, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		r, err := readChecks(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		results[strings.TrimPrefix(stamp.ReplaceAllString(filepath.ToSlash(name), ""), "server-")] = r
		return nil
	})
	return results, err
}

func readChecks(path string) (r result, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	var checks []struct{ ID, Status string }
	if err := json.Unmarshal(data, &checks); err != nil {
		return r, err
	}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			r.passed++
		case "FAILURE":
			r.failed = append(r.failed, c.ID)
		}
	}
	slices.Sort(r.failed)
	return r, nil
}

// expectations are what is expected to fail.
type expectations struct {
	Deviation []deviation `toml:"deviation"`
}

// A deviation is why some scenarios fail.
type deviation struct {
	Reason    string         `toml:"reason"`
	Suites    []string       `toml:"suites"`
	Scenarios map[string]int `toml:"scenarios"` // with the number of checks that fail
}

func readExpected(path string) (*expectations, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var e expectations
	if err := toml.NewDecoder(f).DisallowUnknownFields().Decode(&e); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, d := range e.Deviation {
		if d.Reason == "" || len(d.Suites) == 0 || len(d.Scenarios) == 0 {
			return nil, errors.New(path + ": a deviation needs a reason, suites and scenarios")
		}
	}
	return &e, nil
}

// compare returns what of the results of a suite is not as expected, a line each.
func (e *expectations) compare(suite string, results map[string]result) (faults []string) {
	want := make(map[string]int)
	for _, d := range e.Deviation {
		if slices.Contains(d.Suites, suite) {
			for name, n := range d.Scenarios {
				want[name] += n
			}
		}
	}
	for name, r := range results {
		switch n := want[name]; {
		case len(r.failed) > 0 && n == 0:
			faults = append(faults, fmt.Sprintf("%s: %s fails: %s", suite, name, strings.Join(r.failed, ", ")))
		case len(r.failed) == 0 && n > 0:
			faults = append(faults, fmt.Sprintf("%s: %s passes, where %d failed checks are expected", suite, name, n))
		case len(r.failed) != n:
			faults = append(faults, fmt.Sprintf("%s: %s has %d failed checks where %d are expected: %s", suite, name, len(r.failed), n, strings.Join(r.failed, ", ")))
		}
		delete(want, name)
	}
	for name := range want {
		faults = append(faults, fmt.Sprintf("%s: there is no scenario %s", suite, name))
	}
	return faults
}
