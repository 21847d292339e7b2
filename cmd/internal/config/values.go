package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// masked stands for a value that is not shown.
const masked = "********"

// A Value is a setting as it is shown to people.
type Value struct {
	Key    string `json:"key"`    // dotted, as in the file
	Value  string `json:"value"`  // as TOML would have it, "" for one that is not set; secrets are masked
	Origin string `json:"origin"` // FILE:LINE, "env NAME", "flag --NAME" or "default"
}

// Values lists all settings by key, each with where it comes from.
func (c *Config) Values() []Value {
	s := shower{config: c}
	s.fields("", reflect.ValueOf(*c))
	s.show("models", "", reflect.ValueOf(c.Models))
	s.fields("proxy", reflect.ValueOf(c.Proxy))
	s.add("config", c.Paths.Config)
	s.add("state", c.Paths.State)
	s.add("cache", c.Paths.Cache)
	s.add("trace", c.Run.Trace)
	clock := ""
	if !c.Run.Clock.IsZero() {
		clock = c.Run.Clock.Format(time.RFC3339)
	}
	s.add("clock", clock)
	s.add("clock_step", c.Run.ClockStep.String())
	s.add("tz", c.Run.Zone.String())
	s.add("drain", c.Run.Drain.String())
	s.add("no_queue", c.Run.NoQueue)
	s.add("log_level", c.Run.LogLevel)
	s.add("log_file", c.Run.LogFile)
	slices.SortStableFunc(s.values, func(a, b Value) int { return cmp.Compare(a.Key, b.Key) })
	return s.values
}

// A shower turns a configuration into lines.
type shower struct {
	config *Config
	values []Value
}

func (s *shower) add(key string, value any) {
	s.values = append(s.values, Value{key, text(value), s.config.origin.of(key)})
}

// text writes a value down; that of a key and of a list is TOML too.
func text(value any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil { // a number that JSON does not have
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fields shows the fields of a struct that have a place in the file.
func (s *shower) fields(prefix string, v reflect.Value) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		name := f.Tag.Get("toml")
		if name == "" || name == "-" {
			continue
		}
		s.show(join(prefix, name), f.Tag.Get("show"), v.FieldByIndex(f.Index))
	}
}

// show shows a value; how is the "show" tag of its field.
func (s *shower) show(key, how string, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		s.values = append(s.values, Value{key, "", s.config.origin.of(key)})
	case v.Kind() == reflect.Pointer:
		s.show(key, how, v.Elem())
	case v.Type() == reflect.TypeFor[Duration]():
		s.add(key, time.Duration(v.Int()).String())
	case v.Type() == reflect.TypeFor[USD]():
		s.add(key, v.Interface().(USD))
	case v.Kind() == reflect.Struct:
		s.fields(key, v)
	case v.Kind() == reflect.Map && v.Type().Elem().Kind() != reflect.Interface:
		for _, k := range names(v) {
			s.show(join(key, k), how, v.MapIndex(reflect.ValueOf(k)))
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			s.show(join(key, strconv.Itoa(i)), how, v.Index(i))
		}
	case v.Kind() == reflect.Map: // its keys may be anything, so that it is one value
		s.values = append(s.values, Value{key, text(v.Interface()), s.config.near(key)})
	case v.Kind() == reflect.Slice && v.IsNil():
		s.add(key, []string{})
	default:
		s.add(key, hide(how, v.Interface()))
	}
}

// names returns the keys of a map, sorted.
func names(m reflect.Value) []string {
	var all []string
	for _, k := range m.MapKeys() {
		all = append(all, k.String())
	}
	slices.Sort(all)
	return all
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// hide returns what may be shown of a value.
func hide(how string, v any) any {
	switch v := v.(type) {
	case string:
		switch {
		case v == "":
			return v
		case how == "secret" || how == "private":
			return masked
		case how == "command":
			return hideInCommand(v)
		case how == "url" || strings.Contains(v, "://"):
			return HideURL(v)
		}
	case []string:
		if how == "args" {
			return hideInArgs(v)
		}
	}
	return v
}

// HideURL masks the password and the values of the query.
func HideURL(text string) string {
	if text != "" && !strings.Contains(text, "://") { // as a proxy may be written
		return strings.TrimPrefix(HideURL("http://"+text), "http://")
	}
	u, err := url.Parse(text)
	if err != nil {
		return masked
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), masked)
	}
	shown := strings.ReplaceAll(u.String(), url.QueryEscape(masked), masked)
	before, query, ok := strings.Cut(shown, "?")
	if !ok {
		return shown
	}
	pairs := strings.Split(query, "&")
	for i, p := range pairs {
		if name, _, ok := strings.Cut(p, "="); ok {
			pairs[i] = name + "=" + masked
		}
	}
	return before + "?" + strings.Join(pairs, "&")
}

// hideInCommand leaves the program of a command: what follows may be a secret, or the
// way to one.
func hideInCommand(command string) string {
	program, rest, _ := strings.Cut(strings.TrimSpace(command), " ")
	switch {
	case strings.ContainsRune(program, '='):
		return masked
	case rest != "":
		return program + " " + masked
	}
	return program
}

// hideInArgs masks what follows an argument that sounds like a secret.
func hideInArgs(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		name, _, assigned := strings.Cut(a, "=")
		if !soundsSecret(name) {
			continue
		}
		if assigned {
			out[i] = name + "=" + masked
		} else if strings.HasPrefix(a, "-") && i+1 < len(out) {
			out[i+1] = masked
		}
	}
	return out
}

func soundsSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "password", "passwd", "auth", "cookie"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}
