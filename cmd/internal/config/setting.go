package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A setting is a value that a flag sets, and a variable of the same name.
type setting struct {
	name  string // of the flag
	apply func(c *Config, text string) error
}

// key returns the name under which the value is shown.
func (s setting) key() string { return strings.ReplaceAll(s.name, "-", "_") }

// variable returns the name in the environment.
func (s setting) variable() string { return "LORIMER_" + strings.ToUpper(s.key()) }

// settings lists the flags of every command (R-CMD-15). The paths are set
// before the others, by place.
func settings() []setting {
	return []setting{
		{"config", func(*Config, string) error { return nil }},
		{"state", func(*Config, string) error { return nil }},
		{"model", func(c *Config, v string) error { c.Model = v; return nil }},
		{"mode", func(c *Config, v string) (err error) { c.Mode, err = v, oneOf(v, modes()...); return err }},
		{"trace", func(c *Config, v string) error { c.Run.Trace = c.expand(v); return nil }},
		{"clock", func(c *Config, v string) (err error) { c.Run.Clock, err = parseClock(v); return err }},
		{"clock-step", func(c *Config, v string) (err error) { c.Run.ClockStep, err = parseSpan(v); return err }},
		{"tz", func(c *Config, v string) (err error) { c.Run.Zone, err = parseZone(v); return err }},
		{"drain", func(c *Config, v string) (err error) { c.Run.Drain, err = parseSpan(v); return err }},
		{"no-queue", func(c *Config, v string) (err error) { c.Run.NoQueue, err = parseSwitch(v); return err }},
		{"log-level", func(c *Config, v string) (err error) { c.Run.LogLevel, err = parseLevel(v); return err }},
		{"log-file", func(c *Config, v string) error { c.Run.LogFile = c.expand(v); return nil }},
	}
}

// parseSpan reads a time span that is not negative.
func parseSpan(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time span; write it like 90s, 10m or 1h30m", text)
	}
	return d, nil
}

func parseClock(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a time; write it like 2026-11-30T09:15:00Z", text)
	}
	return t, nil
}

func parseZone(text string) (*time.Location, error) {
	zone, err := time.LoadLocation(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a time zone; write it like Europe/Berlin or UTC", text)
	}
	return zone, nil
}

func parseSwitch(text string) (bool, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
	return v, nil
}

func parseLevel(text string) (string, error) {
	return text, oneOf(text, "trace", "debug", "info", "warn", "error", "off")
}

// oneOf returns an error that lists the allowed values unless value is one.
func oneOf(value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	named := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" }) // which is to leave it out
	return fmt.Errorf("%q is not one of %s", value, strings.Join(named, ", "))
}

// notNegative returns an error for a number below zero.
func notNegative[N int | int64](n N) error {
	if n < 0 {
		return errors.New("must not be negative")
	}
	return nil
}
