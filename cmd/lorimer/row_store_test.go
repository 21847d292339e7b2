//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
)

// eachDatabase runs f with the value of the setting database for each kind. The
// database is empty.
func eachDatabase(t *testing.T, f func(t *testing.T, database string)) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		f(t, filepath.Join(t.TempDir(), "threads.db"))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		f(t, storetest.Postgres(t))
	})
}

// keeps starts an agent that keeps its threads in the database, with the flags.
func (e *editor) keeps(database string, flags ...string) *editor {
	e.t.Helper()
	e.file(configFile, fmt.Sprintf("database = %q\n", database))
	e.acp(flags...)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	return e
}

// prints runs another lorimer and returns what it prints. An exit code other than
// 0 ends the test.
func (e *editor) prints(args ...string) string {
	e.t.Helper()
	out, err := e.run(args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		e.t.Fatalf("lorimer %q: %v: %s", args, err, exit.Stderr)
	} else if err != nil {
		e.t.Fatal(err)
	}
	return string(out)
}

// fails runs another lorimer, which must fail, and returns its standard error.
func (e *editor) fails(args ...string) string {
	e.t.Helper()
	out, err := e.run(args...)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		e.t.Fatalf("lorimer %q: %v with %q, want a failure", args, err, out)
	}
	return string(exit.Stderr)
}

// Row 233 (R-STORE-01, R-STORE-02, R-STORE-05): what one program has stored in
// either database, another lists, loads, searches, exports, deletes and takes
// back.
func TestRow233EachDatabase(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		e := newEditor(t)
		e.keeps(database, "--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(
			step("write", object{"path": "a.txt", "content": "one\n"}), bash("cat a.txt; exit 3"))+"\n"+always))
		s, quiet := e.session(), e.session()
		for _, words := range []string{"tell me of the walrus", "and more"} {
			if stop := e.prompt(s, words); stop != "end_turn" {
				t.Fatalf("stop reason = %s, want end_turn", stop)
			}
		}
		live := e.record(s, len(e.heard()))

		e.file("script.jsonl", always) // the session remembers its model by that path
		other := e.another().keeps(database)
		if got := other.list(object{"cwd": e.cwd}); !slices.Equal(got, []string{s, quiet}) {
			t.Errorf("sessions of the workspace = %q, want %q, the last one used first", got, []string{s, quiet})
		}
		replay := other.load(s)
		checkReplay(t, live, replay)
		if !slices.Equal(replay.said, []string{"tell me of the walrus", "and more"}) {
			t.Errorf("messages of the user in the replay = %q", replay.said)
		}
		if stop := other.prompt(s, "go on"); stop != "end_turn" {
			t.Errorf("stop reason in the other program = %s, want end_turn", stop)
		}
		checkResults(t, other.lastRequest(s))

		for words, want := range map[string]bool{"walrus": true, "WAL": true, "more walrus": false, "penguin": false} {
			if got := strings.Contains(e.prints("session", "search", words, "--json"), s); got != want {
				t.Errorf("search for %q finds the session: %v, want %v", words, got, want)
			}
		}
		if out := e.prints("session", "list", "--json"); !strings.Contains(out, s) || !strings.Contains(out, quiet) {
			t.Errorf("lorimer session list prints %s, want both sessions", out)
		}
		roundTrip(t, e, database, s)
	})
}

// Row 233 (R-ACP-16): a session that is damaged hides no other one. Who
// opens it is told so, doctor names it, and it can be deleted.
func TestRow233DamagedSession(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		e := newEditor(t).keeps(database)
		good, bad := e.session(), e.session()
		spoil(t, database, bad)
		if got := e.list(object{}); !slices.Equal(got, []string{good}) {
			t.Errorf("sessions = %q, want %q alone", got, good)
		}
		want := "session " + bad + " is damaged"
		f := e.wait(e.send("session/load", object{"sessionId": bad, "cwd": e.cwd, "mcpServers": []any{}}))
		if f.Error == nil || !strings.HasPrefix(f.Error.Message, "S"+want[1:]) {
			t.Errorf("session/load answers %s, want that %s is damaged", f.Raw, bad)
		}
		e.leave()
		if said := e.fails("session", "show", bad); !strings.Contains(said, want) {
			t.Errorf("lorimer session show says %q, want %q", said, want)
		}
		said, err := e.run("doctor")
		if err == nil || !strings.Contains(string(said), "the session "+bad+" in it is damaged") {
			t.Errorf("lorimer doctor says %q (%v), want that %s is damaged", said, err, bad)
		}
		e.prints("session", "delete", bad)
		if said := e.fails("session", "show", bad); !strings.Contains(said, "there is no session") {
			t.Errorf("after it was deleted lorimer session show says %q", said)
		}
	})
}

// spoil damages what a database says of a session.
func spoil(t *testing.T, database, session string) {
	t.Helper()
	const statement = "UPDATE threads SET info = '{' WHERE id = $1"
	var err error
	if strings.HasPrefix(database, "postgres") {
		conn, dialled := storetest.Connect(database)
		if dialled != nil {
			t.Fatal(dialled)
		}
		_, err = conn.ExecContext(t.Context(), statement, session)
		err = errors.Join(err, conn.Close())
	} else {
		db, opened := driver.Open(database)
		if opened != nil {
			t.Fatal(opened)
		}
		_, err = db.Exec(statement, session)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// roundTrip exports a session, deletes it and imports it again: all of it but for the
// mode comes back.
func roundTrip(t *testing.T, e *editor, database, s string) {
	t.Helper()
	export := []string{"session", "export", s, "--format", "json", "--reasoning"}
	before := e.prints(export...)
	file := e.file("export.json", before)
	first := e.another().keeps(database)
	told := first.load(s)
	first.leave()
	e.call("session/close", object{"sessionId": s}, nil)
	e.prints("session", "delete", s)
	if out := e.prints("session", "list", "--json"); strings.Contains(out, s) {
		t.Errorf("lorimer session list prints %s, want the deleted session no more", out)
	}
	f := e.wait(e.send("session/load", object{"sessionId": s, "cwd": e.cwd, "mcpServers": []any{}}))
	if code(f) != "SESSION_NOT_FOUND" {
		t.Errorf("session/load of the deleted session: %s, want SESSION_NOT_FOUND", f.Raw)
	}
	if got := strings.TrimSpace(e.prints("session", "import", file)); got != s {
		t.Errorf("lorimer session import prints %q, want the id %q", got, s)
	}
	if after, want := e.prints(export...), strings.Replace(before, `"mode":"auto",`, "", 1); want == before || after != want {
		t.Errorf("the export after the import differs:\n%s\nwant:\n%s", after, want)
	}
	second := e.another().keeps(database)
	checkReplay(t, told, second.load(s))
	var state sessionState
	second.call("session/load", second.where(s), &state)
	if got := state.Modes.CurrentModeID; got != "ask" {
		t.Errorf("mode after the import = %s, want that of a new session", got)
	}
}

// Row 233: two programs share one database at the same time.
func TestRow233Shared(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		programs := []*editor{newEditor(t), newEditor(t)}
		for _, e := range programs { // both find it empty
			e.keeps(database, "--model", "script:"+e.file("script.jsonl", `{"text": ["fine ", "so ", "far"], "repeat": true}`))
		}
		const rounds = 10
		sessions, waiting := map[*editor]string{}, map[*editor][]int{}
		for _, e := range programs {
			sessions[e] = e.session()
		}
		for round := range rounds {
			for _, e := range programs {
				waiting[e] = append(waiting[e], e.send("session/prompt", say(sessions[e], fmt.Sprint("prompt ", round))))
			}
		}
		for _, e := range programs {
			for _, id := range waiting[e] {
				if stop := stopReason(t, e.wait(id)); stop != "end_turn" {
					t.Errorf("stop reason = %s, want end_turn", stop)
				}
			}
		}
		for i, e := range programs {
			reader := programs[1-i]
			reader.cwd = e.cwd
			if r := reader.load(sessions[e]); len(r.said) != rounds || len(r.order) != 2*rounds {
				t.Errorf("the other program reads %d prompts in %d messages, want %d with an answer each", len(r.said), len(r.order), rounds)
			}
		}
	})
}

// Row 187 (R-ACP-51, R-CMD-04), without servers, which the program cannot be
// given: a key, a header of a provider and the password of the database are
// nowhere but where they were configured.
func TestRow187SecretsNowhere(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		const key, header = "sk-marker-of-the-key-0123456789", "marker-of-the-header-0123456789"
		secrets := []string{key, header}
		if u, err := url.Parse(database); err == nil {
			if password, ok := u.User.Password(); ok {
				secrets = append(secrets, password)
			}
		}
		m := modeltest.New(t,
			modeltest.Reply{Status: 500, Error: "no luck with " + key},
			modeltest.Reply{Tools: []modeltest.Tool{{Name: "bash", Args: modeltest.JSON(object{"command": "env; cat /proc/self/environ"})}}},
			modeltest.Reply{Text: []string{"fine"}},
			modeltest.Reply{Status: 401, Error: "the key " + key + " is wrong"})
		e := newEditor(t)
		e.env = []string{"HOUSE_KEY=" + key}
		e.file(configFile, fmt.Sprintf("database = %q\nmodel = \"house/m1\"\n[providers.house]\nkind = \"openai\"\nbase_url = %q\n"+
			"api_key_env = \"HOUSE_KEY\"\nheaders = { X-Team = %q }\n", database, m.OpenAI(), header))
		state, log := filepath.Join(e.home, "state"), filepath.Join(e.home, "log")
		e.acp("--state", state, "--log-level", "trace", "--log-file", log, "--mode", "auto")
		s := e.open(nil)
		e.prompt(s, "I am Ada")
		refused := e.wait(e.send("session/prompt", say(s, "on")))
		if refused.Error == nil {
			t.Fatalf("prompt with a key that is refused: %s, want an error", refused.Raw)
		}
		if got := m.Requests()[0].Header; got.Get("X-Team") != header || !strings.Contains(got.Get("Authorization"), key) {
			t.Fatalf("the provider got %v, want the key and the header", got)
		}
		e.leave()

		seen := map[string]string{"standard error": e.stderr.String()}
		for i, f := range e.heard() {
			seen[fmt.Sprint("frame ", i)] = f.Raw
		}
		for _, args := range [][]string{
			{"prompt", "signature", "--json"}, {"config", "show"}, {"doctor"},
			{"session", "list", "--json"}, {"session", "show", s, "--json"},
			{"session", "export", s, "--format", "json", "--reasoning"}, {"session", "export", s, "--format", "markdown"},
		} {
			text, err := e.run(append(args, "--state", state)...)
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				text = append(text, exit.Stderr...)
			} else if err != nil {
				t.Fatal(err)
			}
			seen[strings.Join(args, " ")] = string(text)
		}
		for name, text := range files(t, e.home) {
			if name != configFile {
				seen[name] = text
			}
		}
		if !filepath.IsAbs(database) {
			seen["the database"] = dump(t, database)
		} else {
			for name, text := range files(t, filepath.Dir(database)) {
				seen["database "+name] = text
			}
		}
		for where, text := range seen {
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s holds %s", where, secret)
				}
			}
		}
		for _, must := range []string{"trace", "log"} {
			if seen[must] == "" {
				t.Errorf("%s is empty: nothing was looked at", must)
			}
		}
	})
}

// dump returns all that a PostgreSQL database holds.
func dump(t *testing.T, database string) string {
	t.Helper()
	conn, err := storetest.Connect(database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	query := func(sql string) (values []any) {
		rows, err := conn.QueryContext(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			row, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			values = append(values, row...)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return values
	}
	var b strings.Builder
	for _, table := range query("SELECT tablename::text FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')") {
		for _, v := range query(fmt.Sprintf("SELECT * FROM %q", table)) {
			if p, ok := v.([]byte); ok {
				v = string(p)
			}
			fmt.Fprintln(&b, v)
		}
	}
	if !strings.Contains(b.String(), "Ada") {
		t.Error("the dump of the database lacks the message of the user: nothing was looked at")
	}
	return b.String()
}

// files returns the bytes of all files below dir, by their path from there.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		p, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
