package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/skills"
)

// ours returns parameters with members under our key of _meta.
func ours(members string) object {
	return rawMembers(`{"_meta":{"other":{"project":"foreign"},"lorimer.dev":{` + members + `}}}`)
}

func rawMembers(s string) object { return members(json.RawMessage(s)) }

// R-ACP-24, M-18, M-21: what a client says of where a session is at work.
func TestReadPlace(t *testing.T) {
	empty, persona := "", "You are {{model}}."
	tests := []struct {
		name, members string
		want          harness.Place
		wrong         string // field that is named by the error
	}{
		{"nothing", ``, harness.Place{}, ""},
		{"nulls", `"project":null,"workspace":null,"locale":null,"persona":null,"skills":null`, harness.Place{}, ""},
		{
			"all", `"project":"p","workspace":"w","locale":"de","persona":"You are {{model}}."`,
			harness.Place{Project: "p", Workspace: "w", Locale: "de", Persona: &persona}, "",
		},
		{"a persona that says nothing", `"persona":""`, harness.Place{Persona: &empty}, ""},
		{"a project that is no text", `"project":1`, harness.Place{}, "project"},
		{"a workspace that is no text", `"workspace":{}`, harness.Place{}, "workspace"},
		{"a locale that is no text", `"locale":["de"]`, harness.Place{}, "locale"},
		{"a persona that is no text", `"persona":true`, harness.Place{}, "persona"},
		{"skills that are no list", `"skills":{"name":"x"}`, harness.Place{}, "skills"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, skipped, err := readPlace(ours(tt.members))
			if tt.wrong != "" {
				if want := `_meta["lorimer.dev"].` + tt.wrong + " must be"; err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("error = %v, want it to begin with %s", err, want)
				}
				return
			}
			if err != nil || len(skipped) > 0 {
				t.Fatalf("error = %v, skipped %v", err, skipped)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("place (-want +got):\n%s", diff)
			}
		})
	}
}

// R-PROMPT-45: what is wrong with one skill of a client keeps no other from being
// there.
func TestReadSkills(t *testing.T) {
	const entry = `{"name":%q,"description":"d","instruction":"i"%s}`
	good := fmt.Sprintf(entry, "good", "")
	tests := []struct {
		name, entries string
		want          string // names
		skipped       string // numbers
	}{
		{"two", good + `,` + fmt.Sprintf(entry, "other", ""), "good other", ""},
		{"no object", `7,` + good, "good", "0"},
		{"no name", `{"description":"d","instruction":"i"},` + good, "good", "0"},
		{"no description", `{"name":"x","instruction":"i"},` + good, "good", "0"},
		{"an instruction that is no text", `{"name":"x","description":"d","instruction":["i"]},` + good, "good", "0"},
		{"enabled that is no flag", fmt.Sprintf(entry, "x", `,"enabled":"yes"`) + `,` + good, "good", "0"},
		{"a contract that is no flag", good + `,` + fmt.Sprintf(entry, "x", `,"outputContract":1`), "good", "1"},
		{"switched off", fmt.Sprintf(entry, "x", `,"enabled":false`) + `,` + good, "good", ""},
		{"switched on", fmt.Sprintf(entry, "x", `,"enabled":true`) + `,` + good, "x good", ""},
		{"a name twice", good + `,` + good, "good", "1"},
		{"a name twice, one switched off", fmt.Sprintf(entry, "good", `,"enabled":false`) + `,` + good, "", "1"},
		{"a name that is none", fmt.Sprintf(entry, "Not A Name", "") + `,` + good, "good", "0"},
		{"an unknown member", fmt.Sprintf(entry, "x", `,"color":"red"`), "x", ""},
		{"too many", strings.TrimSuffix(strings.Repeat(`7,`, maxSkills), ",") + `,` + good, "", "all"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, skipped, err := readSkills(ours(`"skills":[` + tt.entries + `]`).meta())
			if err != nil {
				t.Fatal(err)
			}
			var names, numbers []string
			for _, s := range list {
				names = append(names, s.Name)
			}
			for _, err := range skipped {
				if strings.Contains(err.Error(), "-32") {
					t.Errorf("%q has the code of an answer, and this is none", err)
				}
				_, rest, _ := strings.Cut(err.Error(), "skills[")
				number, _, _ := strings.Cut(rest, "]")
				numbers = append(numbers, number)
			}
			if tt.skipped == "all" {
				if len(skipped) != maxSkills+1 || !strings.Contains(skipped[maxSkills].Error(), "more than") {
					t.Errorf("%d skipped, the last because of %v", len(skipped), skipped[len(skipped)-1])
				}
				numbers = []string{"all"}
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("skills = %q, want %q", got, tt.want)
			}
			if got := strings.Join(numbers, " "); got != tt.skipped {
				t.Errorf("skipped = %q (%v), want %q", got, skipped, tt.skipped)
			}
		})
	}
}

func TestReadSkill(t *testing.T) {
	got, enabled, err := readSkill(rawMembers(`{"name":"tone","description":"d","instruction":"i {{x}}","outputContract":true}`))
	if err != nil || !enabled {
		t.Fatalf("enabled = %t, %v", enabled, err)
	}
	want := prompt.Skill{Name: "tone", Description: "d", Instruction: "i {{x}}", Contract: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skill (-want +got):\n%s", diff)
	}
}

// A session that is open goes on as it is only for a request that wants the same.
func TestSamePlace(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       bool
	}{
		{"nothing", ``, ``, true},
		{"all", `"project":"p","persona":"x","skills":[{"name":"s","description":"d","instruction":"i"}]`, `"skills":[{"instruction":"i","name":"s","description":"d"}],"persona":"x","project":"p"`, true},
		{"an id that is wished", `"sessionId":"s"`, ``, true},
		{"null and absent", `"persona":null,"skills":[]`, ``, true},
		{"a project", `"project":"p"`, ``, false},
		{"another workspace", `"workspace":"p"`, `"workspace":"q"`, false},
		{"another locale", `"locale":"de"`, `"locale":"fr"`, false},
		{"another persona", `"persona":"a"`, `"persona":"b"`, false},
		{"an empty persona", `"persona":""`, ``, false},
		{"another instruction", `"skills":[{"name":"s","description":"d","instruction":"i"}]`, `"skills":[{"name":"s","description":"d","instruction":"j"}]`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var opened []opening
			for _, m := range []string{tt.a, tt.b} {
				p := ours(m)
				p["cwd"] = json.RawMessage(`"/"`)
				o, err := readOpening(p)
				if err != nil {
					t.Fatal(err)
				}
				opened = append(opened, o)
			}
			if got := opened[0].same(opened[1]); got != tt.want {
				t.Errorf("same = %t, want %t", got, tt.want)
			}
			slices.Reverse(opened)
			if got := opened[0].same(opened[1]); got != tt.want {
				t.Errorf("same the other way round = %t, want %t", got, tt.want)
			}
		})
	}
}

// Whatever a client sends, the skills that are taken have names that work, and each
// has one of its own.
func FuzzReadPlace(f *testing.F) {
	f.Add(`{"skills":[{"name":"a","description":"d","instruction":"i"},{"name":"a"},7],"persona":""}`)
	f.Add(`{"project":"p","locale":null,"skills":[{"name":"b","enabled":false}]}`)
	f.Fuzz(func(t *testing.T, ours string) {
		raw := []byte(`{"_meta":{"lorimer.dev":` + ours + `}}`)
		if !json.Valid(raw) {
			return // is refused by the connection
		}
		place, _, err := readPlace(rawMembers(string(raw)))
		if err != nil {
			return
		}
		seen := make(map[string]bool)
		for _, s := range place.Skills {
			if seen[s.Name] || skills.Check(s) != nil {
				t.Errorf("took the skill %q: %v", s.Name, skills.Check(s))
			}
			seen[s.Name] = true
		}
	})
}
