//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// nowhere looks for secrets in all that an agent that has left has told and written.
func (e *editor) nowhere(secrets ...string) {
	e.t.Helper()
	e.leave()
	for _, secret := range secrets {
		if e.hasHeard(secret) {
			e.t.Errorf("%s was told to the client", secret)
		}
		if strings.Contains(e.stderr.String(), secret) {
			e.t.Errorf("%s is in the log", secret)
		}
		e.keptFrom(secret)
	}
}

// hides runs commands, of words, and looks for secrets in what they print.
func (e *editor) hides(secrets []string, commands ...string) {
	e.t.Helper()
	for _, c := range commands {
		out, diag := e.outputs(strings.Fields(c)...)
		for _, secret := range secrets {
			if strings.Contains(out+diag, secret) {
				e.t.Errorf("lorimer %s prints %s:\n%s%s", c, secret, out, diag)
			}
		}
		if out == "" && diag == "" {
			e.t.Errorf("lorimer %s prints nothing", c)
		}
	}
}

// An indiscreet server fails, and quotes all that it was sent: in the message, in the
// code and in the header. It notes what came under which path.
func indiscreet(t *testing.T, note func(r *http.Request)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		var all []string
		for name, values := range r.Header {
			if name != "User-Agent" && !strings.HasPrefix(name, "Accept") && !strings.HasPrefix(name, "Content-") {
				all = append(all, name+": "+strings.Join(values, ","))
			}
		}
		slices.Sort(all)
		text := strings.Join(append(all, r.URL.RawQuery), " | ")
		w.Header().Set("X-Request-Id", text)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(object{"error": object{"message": "I do not like " + text, "code": text, "type": text}})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Row 187 (R-ACP-51, R-CMD-04): wherever a key comes from, the environment, a file, a
// command, a header or the address, and whatever protocol it goes out by, it reaches the
// provider and shows nowhere: not in an error, though the server quotes it, not in the
// log, the trace or the state, and in nothing that a command prints.
func TestRow187KeysFromEverywhere(t *testing.T) {
	t.Parallel()
	var asked sync.Map // what a provider was sent last, by its name
	server := indiscreet(t, func(r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		h := r.Header.Clone()
		h.Set("", r.URL.RawQuery)
		asked.Store(name, h)
	})
	e := newEditor(t)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:word-of-address"))
	ways := []struct {
		provider, kind, config string
		key                    string
		header, value          string // what the server must get; "" is the query
	}{
		{"gemini", "gemini", "", "key-of-environment", "X-Goog-Api-Key", "key-of-environment"},
		{"own", "openai-chat", "api_key_env = \"OWN_KEY\"", "key-of-own-variable", "Authorization", "Bearer key-of-own-variable"},
		{"filed", "anthropic", "api_key_file = \"key\"", "key-of-file/+=", "X-Api-Key", "key-of-file/+="},
		{"commanded", "openai-responses", "api_key_command = \"printf 'key-of-%s' command\"", "key-of-command", "Authorization", "Bearer key-of-command"},
		{"headed", "ollama", "headers = { X-Corp-Pass = \"key-of-header\" }", "key-of-header", "X-Corp-Pass", "key-of-header"},
		{"bearer", "gemini", "headers = { Authorization = \"Bearer key-of-bearer\" }", "key-of-bearer", "Authorization", "Bearer key-of-bearer"},
		{"addressed", "openai-chat", "", "word-of-address", "Authorization", basic},
		{"queried", "openai-chat", "", "key-of-query", "", "sig=key-of-query&api-version=1"},
	}
	config := ""
	secrets := []string{strings.TrimPrefix(basic, "Basic ")}
	for _, w := range ways {
		address := server + "/" + w.provider
		switch w.provider {
		case "addressed":
			address = strings.Replace(address, "http://", "http://me:word-of-address@", 1)
		case "queried":
			address += "?" + w.value
		}
		config += fmt.Sprintf("[providers.%s]\nkind = %q\nbase_url = %q\nmodel = \"m\"\n%s\n", w.provider, w.kind, address, w.config)
		secrets = append(secrets, w.key)
	}
	e.file(".config/lorimer/key", "key-of-file/+=\n")
	e.file(configFile, config)
	e.env = []string{"GEMINI_API_KEY=key-of-environment", "OWN_KEY=key-of-own-variable"}
	e.acp("--log-level", "trace")
	s := e.open(nil)
	for _, w := range ways {
		e.choose(s, "model", w.provider+"/m")
		f := e.wait(e.send("session/prompt", say(s, "hello")))
		if f.Error == nil || !strings.Contains(f.Raw, "I do not like") {
			t.Errorf("%s: %s, want the error of the server", w.provider, f.Raw)
		}
		sent, _ := asked.Load(w.provider)
		if h, _ := sent.(http.Header); h.Get(w.header) != w.value {
			t.Errorf("%s: the server got %q, want %q", w.provider, h, w.value)
		}
	}
	e.nowhere(secrets...)
	e.hides(secrets, "config show --json", "config show", "doctor", "models --ask --json", "session list", "prompt signature", "run --model addressed hello")
	for _, w := range ways[:4] {
		e.hides(secrets, "models show --ask "+w.provider)
	}
	e.hides(secrets, "session export "+s)
	e.nowhere(secrets...)
}

// Row 187: a key in the wrong place is not repeated: one that stands where the name of
// its variable belongs, in a command, or in what a command prints that fails.
func TestRow187MisplacedKeys(t *testing.T) {
	t.Parallel()
	const key = "sk-live-0123456789abcdef"
	tests := []struct{ name, config, fails string }{
		{"for a variable", "api_key_env = \"" + key + "\"", "config.toml:4: providers.house.api_key_env: is not the name of a variable"},
		{"in a command that fails", "api_key_command = \"echo " + key + "; exit 3\"", "running the command for the API key: exit status 3"},
		{"beside other words", "api_key_command = \"echo key: " + key + "\"", "holds more than a key"},
		{"in a complaint of the command", "api_key_command = \"echo " + key + " >&2\"", "no API key in the command for the API key"},
		{"in a command", "api_key_command = \"TOKEN=" + key + " printenv TOKEN\"", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.file(configFile, "model = \"house/m\"\n[providers.house]\nbase_url = \""+indiscreet(t, func(*http.Request) {})+"/v1\"\n"+tt.config+"\n")
			out, diag := e.outputs("run", "--log-level", "trace", "--trace", e.home+"/trace", "hello")
			if !strings.Contains(diag, tt.fails) || strings.Contains(out+diag, key) {
				t.Errorf("lorimer run prints %s%s, want %q and not the key", out, diag, tt.fails)
			}
			e.hides([]string{key}, "config show", "doctor", "models show house", "models --ask", "prompt signature")
			e.keptFrom(key)
		})
	}
}
