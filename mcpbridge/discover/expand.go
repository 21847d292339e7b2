package discover

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge"
)

// Resolve returns the server with its variables replaced, once: what they hold is not
// looked at again. What cannot be is told by its Trouble.
func (e Entry) Resolve(v Vars) mcpbridge.Server {
	s := e.Server
	if s.Trouble != "" {
		return s
	}
	x := expansion{vars: v}
	s.Command = x.path("command", e.Command)
	x.script = shell(e.Command)
	s.Args = nil
	for i, a := range e.Args {
		s.Args = append(s.Args, x.text(fmt.Sprintf("args[%d]", i), a))
	}
	x.script = false
	s.Dir = x.path("cwd", e.Dir)
	s.URL = x.text("url", e.URL)
	s.OAuth.ClientID = x.text("oauth.clientId", e.OAuth.ClientID)
	s.Secrets = x.secrets
	s.OAuth.ClientSecret = x.text("oauth.clientSecret", e.OAuth.ClientSecret)
	s.Env = x.table("env", e.Env)
	s.Headers = x.table("headers", e.Headers)
	if x.trouble == "" && e.EnvFile != "" {
		s.Env = x.envFile(e, s.Env)
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		s.Dir = filepath.Join(v.Workspace, s.Dir)
	}
	s.Trouble = x.trouble
	if s.Trouble == "" {
		s.Trouble = line("%s", flaw(s))
	}
	return s
}

// flaw returns what is wrong with a server whose variables are replaced, without
// looking at more than itself; "" is nothing.
func flaw(s mcpbridge.Server) string {
	for _, pattern := range slices.Concat(s.Include, s.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Sprintf("%.100q is no pattern of names of tools; write it like read_*", pattern)
		}
	}
	if s.Kind == mcpbridge.Stdio {
		return flawOfProgram(s)
	}
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return "url cannot be read; write it like https://HOST/PATH"
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "url must begin with http:// or https:// and name a host"
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		switch {
		case name == "" || strings.ContainsFunc(name, notInHeader):
			return fmt.Sprintf("headers: %.100q is not the name of a header", name)
		case strings.ContainsAny(s.Headers[name], "\r\n\x00"):
			return fmt.Sprintf("headers.%s has a line break in it", name)
		}
	}
	return ""
}

func flawOfProgram(s mcpbridge.Server) string {
	if strings.TrimSpace(s.Command) == "" {
		return "command is empty"
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return fmt.Sprintf("env: %.100q is not the name of a variable", name)
		case strings.ContainsRune(s.Env[name], 0):
			return fmt.Sprintf("env.%s has a zero byte in it", name)
		}
	}
	for i, a := range append([]string{s.Command, s.Dir}, s.Args...) {
		if strings.ContainsRune(a, 0) {
			return fmt.Sprintf("%s has a zero byte in it", []string{"command", "cwd", "args"}[min(i, 2)])
		}
	}
	return ""
}

// notInHeader reports whether c cannot stand in the name of a header (RFC 9110).
func notInHeader(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
}

// shell reports whether a command is a shell, for which $ has a meaning of its own.
func shell(command string) bool {
	switch strings.TrimSuffix(filepath.Base(command), ".exe") {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell":
		return true
	}
	return false
}

// An expansion replaces the variables of one server.
type expansion struct {
	vars    Vars
	script  bool     // a shell reads it, and what is nothing to this program is left to it
	secrets []string // values that are to be shown nowhere
	trouble string   // the first
}

func (x *expansion) fail(format string, args ...any) {
	if x.trouble == "" {
		x.trouble = line(format, args...)
	}
}

func (x *expansion) table(field string, m map[string]string) map[string]string {
	var out map[string]string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = put(out, name, x.text(field+"."+name, m[name]))
	}
	return out
}

// path is text for a path: ~/ is the home directory.
func (x *expansion) path(field, s string) string {
	s = x.text(field, s)
	if rest, ok := strings.CutPrefix(s, "~/"); ok && x.vars.Home != "" {
		return filepath.Join(x.vars.Home, rest)
	}
	return s
}

// text replaces the variables in a value of field.
func (x *expansion) text(field, s string) string {
	if !x.script && strings.Contains(s, "$(") {
		x.fail("%s: $(…) is not run; set a variable to what it prints, and write ${NAME}", field)
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			b.WriteString("${")
			s = rest
			if !x.script {
				x.fail("%s: ${ without a } behind it", field)
			}
			continue
		}
		value, known := x.value(field, name)
		if !known {
			value = "${" + name + "}"
		}
		b.WriteString(value)
		s = after
	}
}

// value returns what ${name} stands for in a value of field; known is false where it
// is left as it stands.
func (x *expansion) value(field, name string) (value string, known bool) {
	switch name {
	case "workspaceFolder":
		return x.vars.Workspace, true
	case "userHome":
		return x.vars.Home, true
	case "pathSeparator", "/":
		return string(filepath.Separator), true
	}
	if id, ok := strings.CutPrefix(name, "input:"); ok {
		x.fail("%s: ${input:%.100s} would have to be asked for; set a variable instead, and write ${NAME}", field, id)
		return "", false
	}
	variable, fallback, optional := strings.Cut(strings.TrimPrefix(name, "env:"), ":-")
	if !isName(variable) {
		if !x.script {
			x.fail("%s: ${%.100s} is not understood; ${NAME}, ${NAME:-DEFAULT} and ${workspaceFolder} are", field, name)
		}
		return "", false
	}
	value, set := x.vars.lookup(variable)
	switch {
	case optional && value == "":
		return fallback, true
	case !set:
		x.fail("%s: the variable %s is not set; set it, or write ${%s:-DEFAULT}", field, variable, variable)
		return "", false
	}
	if mcpbridge.SoundsSecret(variable) && value != "" {
		x.secrets = append(x.secrets, value)
	}
	return value, true
}

// isName reports whether s can be the name of a variable.
func isName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
