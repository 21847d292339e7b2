package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func testSearch(t *testing.T, open func(*testing.T) harness.Threads) {
	t.Run("words are found", func(t *testing.T) { testWords(t, open(t)) })
	t.Run("any query can be asked", func(t *testing.T) { testQueries(t, open(t)) })
	t.Run("what was said in the end is found", func(t *testing.T) { testReplaced(t, open(t)) })
	t.Run("the best comes first, then the newest", func(t *testing.T) { testRank(t, open(t)) })
	t.Run("a copy is found", func(t *testing.T) {
		s := open(t)
		restore(t, s, "a", 1, thread.Created{}, said("apple"), thread.Title{Text: "apple pie"}, said("banana"), thread.Title{Text: "cake"})
		fork(t, s, "a", 3, "b")
		if got, want := places(search(t, s, "apple")), []string{"a 2 user", "b 2 user", "b 3 title"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		if got, want := places(search(t, s, "banana")), []string{"a 4 user"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	})
	t.Run("a hit shows the place", func(t *testing.T) { testSnippet(t, open(t)) })
	t.Run("a search is of one directory", func(t *testing.T) {
		s := open(t)
		restore(t, s, "a", 1, thread.Created{Cwd: "/w"}, said("apple"))
		restore(t, s, "b", 1, thread.Created{Cwd: "/w/sub"}, said("apple"))
		hits, err := s.Search(t.Context(), thread.Search{Words: "apple", Cwd: "/w"})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := places(hits), []string{"a 2 user"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	})
	t.Run("hits are limited", func(t *testing.T) {
		s := open(t)
		bodies := []thread.Body{thread.Created{}}
		for range 250 {
			bodies = append(bodies, said("apple"))
		}
		restore(t, s, "a", 1, bodies...)
		for limit, want := range map[int]int{0: 20, 1: 1, 100: 100, 1000: 200} {
			hits, err := s.Search(t.Context(), thread.Search{Words: "apple", Limit: limit})
			if err != nil || len(hits) != want {
				t.Errorf("limit %d: %d hits (%v), want %d", limit, len(hits), err, want)
			}
		}
	})
}

func testWords(t *testing.T, s harness.Threads) {
	text := func(text string) thread.Part { return thread.Part{Text: text} }
	restore(t, s, "a", 1,
		thread.Created{Cwd: "/needle"},
		said("Résumé of the Größe, by Łukasz; see foo_bar.go:42"),
		thread.User{Blocks: []event.Block{
			{Text: "first"}, {Name: "needle.txt", URI: "file:///needle.txt", Text: "haystack"}, {Text: "second"},
		}},
		thread.Assistant{Parts: []thread.Part{
			text("我想学习中文，很有意思。"), {Reasoning: &thread.Reasoning{Text: "pondering"}}, text("日本語のテキスト ﾃﾞｰﾀ"),
			{Call: &thread.Call{Name: "grep", Args: `{"pattern":"invoked"}`}},
		}},
		thread.Result{Text: "outcome", Shown: event.ToolCall{Text: "outcome"}},
		thread.Assistant{Void: true, Parts: []thread.Part{text("voided")}},
		thread.Note{Text: "nudged"},
		thread.Title{Text: "A Title, given"},
		said("สวัสดีชาวโลก 한국어를 배우다 Привет, ΚΌΣΜΟΣ שָׁלוֹם café\u0301 ﬁle ＡＢＣ don't"),
		said("nul\x00in the middle and half \xe4 of it, 1.5e10 e-mail@example.org"),
	)
	tests := []struct {
		query string
		want  string // where, or nothing
	}{
		{"resume", "a 2 user"}, {"RÉSUMÉ", "a 2 user"}, {"grosse", "a 2 user"}, {"lukasz", "a 2 user"}, {"the resume", "a 2 user"},
		{"resu", "a 2 user"}, {"resu of", ""}, {"of resu", "a 2 user"}, {"resume banana", ""},
		{"foo_bar.go", "a 2 user"}, {"foo bar", "a 2 user"}, {"bar foo", "a 2 user"}, {"bar_foo", ""}, {"go:42", "a 2 user"}, {"foo.42", ""},
		{"first second", "a 3 user"}, {"needle.txt", "a 3 user"}, {"haystack", ""},
		{"学习中文", "a 4 assistant"}, {"中文学习", ""}, {"学", "a 4 assistant"}, {"中文 学习", "a 4 assistant"}, {"文很", "a 4 assistant"},
		{"テキスト", "a 4 assistant"}, {"スト", "a 4 assistant"}, {"データ", "a 4 assistant"}, {"日本語", "a 4 assistant"},
		{"pondering", ""}, {"grep", ""}, {"invoked", ""}, {"outcome", ""}, {"voided", ""}, {"nudged", ""},
		{"title", "a 8 title"}, {"a title given", "a 8 title"},
		{"ชาวโลก", "a 9 user"}, {"한국어", "a 9 user"}, {"배우", "a 9 user"}, {"привет", "a 9 user"}, {"κοσμος", "a 9 user"}, {"κόσμος", "a 9 user"},
		{"שלום", "a 9 user"}, {"cafe", "a 9 user"}, {"file", "a 9 user"}, {"abc", "a 9 user"}, {"don't", "a 9 user"}, {"dont", ""},
		{"nul", "a 10 user"}, {"nul in", "a 10 user"}, {"half of", "a 10 user"}, {"1.5e10", "a 10 user"}, {"e-mail@example.org", "a 10 user"},
		{"exam", "a 10 user"}, {"xample", ""},
	}
	for _, tt := range tests {
		got := strings.Join(places(search(t, s, tt.query)), ", ")
		if got != tt.want {
			t.Errorf("%q is found at %q, want %q", tt.query, got, tt.want)
		}
	}
}

// testQueries asks what is no word, or means something to a database.
func testQueries(t *testing.T, s harness.Threads) {
	restore(t, s, "a", 1, thread.Created{}, said("apple AND near not or"))
	for _, words := range []string{
		"", " ", "\x00", "...", "😀", "\"", "'", "\\", "%", "\xff", "(", "*", ":", "-", "^", "| & ! <->", "{}", "$1", "?1", "--", "/*",
		"banana\x00", "text : banana", "banana OR cherry", "words MATCH banana", strings.Repeat("banana ", 200), strings.Repeat("文", 5000),
		strings.Repeat("x", 100000),
	} {
		if got := places(search(t, s, words)); len(got) != 0 {
			t.Errorf("%.40q is found at %q, want nothing", words, got)
		}
	}
	for _, words := range []string{
		"apple", "\"apple", "'apple'", "apple*", "-apple", "^apple", "(apple", "apple\x00", "apple 😀", "😀 apple",
		"AND", "NOT", "OR", "NEAR", "apple & near", "apple | or", "!apple", "apple\u00a0near", "\u3000apple\u3000",
	} {
		if got, want := places(search(t, s, words)), []string{"a 2 user"}; !slices.Equal(got, want) {
			t.Errorf("%q is found at %q, want %q", words, got, want)
		}
	}
}

func testReplaced(t *testing.T, s harness.Threads) {
	answer := func(text string) thread.Assistant { return thread.Assistant{Parts: []thread.Part{{Text: text}}} }
	create(t, s, "a", thread.Created{})
	add(t, s, "a", said("a question"), answer("first answer"), thread.Title{Text: "first title"})
	add(t, s, "a", thread.Retried{User: 2})
	if got, want := places(search(t, s, "first answer")), []string{"a 3 assistant"}; !slices.Equal(got, want) {
		t.Errorf("the answer is found at %q while no other has come, want %q", got, want)
	}
	add(t, s, "a", answer("second answer"))
	add(t, s, "a", said("withdrawn question"), thread.Withdrawn{})
	tests := []struct{ query, want string }{
		{"question", "a 2 user, a 7 user"}, {"first answer", ""}, {"second answer", "a 6 assistant"}, {"first title", "a 4 title"},
	}
	check := func() {
		t.Helper()
		for _, tt := range tests {
			if got := strings.Join(places(search(t, s, tt.query)), ", "); got != tt.want {
				t.Errorf("%q is found at %q, want %q", tt.query, got, tt.want)
			}
		}
	}
	check()
	add(t, s, "a", thread.Title{Text: "second title", User: true}, thread.Title{Text: "third title"})
	tests[3].want = ""
	tests = append(tests, []struct{ query, want string }{{"second title", "a 9 title"}, {"third title", ""}}...)
	check()
	fork(t, s, "a", 11, "b")
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	for i := range tests {
		tests[i].want = strings.ReplaceAll(tests[i].want, "a ", "b ")
	}
	check()
}

func testRank(t *testing.T, s harness.Threads) {
	long := strings.Repeat("and many other things that fill a page ", 20)
	restore(t, s, "long", 5, thread.Created{}, said("an apple "+long))
	restore(t, s, "old", 1, thread.Created{}, said("an apple"))
	restore(t, s, "new", 3, thread.Created{}, said("an apple"))
	restore(t, s, "middle", 2, thread.Created{}, said("an apple"))
	var got []string
	for _, h := range search(t, s, "apple") {
		got = append(got, h.Thread.ID)
	}
	if want := []string{"new", "middle", "old", "long"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func testSnippet(t *testing.T, s harness.Threads) {
	before, after := strings.Repeat("é before ", 100), strings.Repeat(" after 文", 100)
	restore(t, s, "a", 7, thread.Created{}, thread.Title{Text: "of a"}, said(before+"\n\tthe\x1b apple\r\n"+after))
	hits := search(t, s, "apple")
	if len(hits) != 1 {
		t.Fatalf("%d hits, want 1", len(hits))
	}
	h := hits[0]
	if h.Thread.Title != "of a" || h.Thread.Last != 3 || h.Seq != 3 || h.Role != "user" || h.Time.Unix() != 7 {
		t.Errorf("hit %+v", h)
	}
	if n := utf8.RuneCountInString(h.Snippet); n > 200 || strings.ContainsAny(h.Snippet, "\n\r\t\x1b") {
		t.Errorf("%d characters in %q, want one line of 200 at most", n, h.Snippet)
	}
	if !strings.HasPrefix(h.Snippet, "...") || !strings.Contains(h.Snippet, "before the") || !strings.Contains(h.Snippet, "apple after 文") {
		t.Errorf("%q does not show the place", h.Snippet)
	}
	whole := "a day  without a pear\nis a day lost"
	restore(t, s, "b", 9, thread.Created{}, said(whole))
	if got, want := search(t, s, "pear")[0].Snippet, strings.Join(strings.Fields(whole), " "); got != want {
		t.Errorf("a short message is shown as %q, want %q", got, want)
	}
}

func search(t *testing.T, s harness.Threads, words string) []thread.Hit {
	t.Helper()
	hits, err := s.Search(t.Context(), thread.Search{Words: words})
	if err != nil {
		t.Fatalf("%.40q: %v", words, err)
	}
	return hits
}

// places returns where hits are, sorted.
func places(hits []thread.Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s %d %s", h.Thread.ID, h.Seq, h.Role))
	}
	slices.Sort(out)
	return out
}
