package prompt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt"
)

// TestWorkspaceFaults is R-PROMPT-56: never both, and never a guessed limit.
func TestWorkspaceFaults(t *testing.T) {
	bound, creation := &prompt.Summary{ID: "w"}, &prompt.Creation{Allowed: true}
	catalog := []prompt.Listing{{ID: "w", Title: "W"}}
	tools := named("create_workspace")
	for _, tt := range []struct {
		name string
		c    prompt.Context
		w    prompt.Workspace
	}{
		{"both", prompt.Context{Tools: tools}, prompt.Workspace{Bound: bound, Catalog: catalog}},
		{"both without tools", prompt.Context{}, prompt.Workspace{Bound: bound, Catalog: catalog}},
		{"summary and creation", prompt.Context{Tools: tools}, prompt.Workspace{Bound: bound, Creation: creation}},
		{"unknown creation", prompt.Context{Tools: tools}, prompt.Workspace{Catalog: catalog}},
		{"unknown creation of the first", prompt.Context{Tools: tools}, prompt.Workspace{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Facts.Workspace = &tt.w
			_, err := standard(t).Assemble(tt.c)
			checkFault(t, err, prompt.Invalid, `"Workspace"`)
		})
	}
}

// TestWorkspace is R-PROMPT-55 and R-PROMPT-56: identifiers and titles, each on a
// line, and not too many.
func TestWorkspace(t *testing.T) {
	long := strings.Repeat("é", 400)
	many := make([]prompt.Ref, 23)
	listed := make([]prompt.Listing, 21)
	for i := range many {
		many[i] = prompt.Ref{ID: "c", Title: "C"}
	}
	for i := range listed {
		listed[i] = prompt.Listing{ID: "w", Title: "W", Documents: 1}
	}
	tests := []struct {
		name string
		w    prompt.Workspace
		want string // the end of the section
	}{
		{"empty summary", prompt.Workspace{Bound: &prompt.Summary{ID: "w"}}, "read a document before you say what it says.\n\nDocuments: 0"},
		{"summary", prompt.Workspace{Bound: &prompt.Summary{ID: "w", Title: "W", Documents: 3,
			Collections: []prompt.Ref{{ID: "a", Title: "A\n# {{x}}"}}, Pinned: []prompt.Ref{{ID: "document:1", Title: "B\u202e"}}}},
			"Documents: 3\n\nCollections:\n\n- A # {{x}} (`a`)\n\nPinned:\n\n- B<U+202E> (`document:1`)"},
		{"many", prompt.Workspace{Bound: &prompt.Summary{ID: "w", Collections: many}},
			"Collections:\n\n" + strings.Repeat("- C (`c`)\n", 20) + "- and 3 more"},
		{"more than are given", prompt.Workspace{Bound: &prompt.Summary{ID: "w", Collections: many[:20], AllCollections: 2000, Pinned: many[:2], AllPinned: 3}},
			"Collections:\n\n" + strings.Repeat("- C (`c`)\n", 20) + "- and 1980 more\n\nPinned:\n\n- C (`c`)\n- C (`c`)\n- and 1 more"},
		{"catalog", prompt.Workspace{Catalog: []prompt.Listing{{ID: "a", Title: "A", Description: "One\n two"}, {ID: "b", Title: "B", Documents: 2}},
			Creation: &prompt.Creation{Allowed: true}},
			"- A (`a`, documents: 0): One two\n- B (`b`, documents: 2)\n\nYou may create another workspace when the user wants one. There is no limit."},
		{"long catalog", prompt.Workspace{Catalog: listed, Creation: &prompt.Creation{Allowed: true, Have: 21, Limit: 30}},
			"first; refer to one by its identifier.\n\n" + strings.Repeat("- W (`w`, documents: 1)\n", 20) + "- and 1 more\n\n" +
				"You may create another workspace when the user wants one: there are 21, and 30 are allowed."},
		{"long texts", prompt.Workspace{Catalog: []prompt.Listing{{ID: "a", Title: long, Description: long}}, Creation: &prompt.Creation{}},
			"- " + strings.Repeat("é", 98) + "… (`a`, documents: 0): " + strings.Repeat("é", 148) + "…\n\n" +
				"You cannot create another workspace: it is not allowed here. Do not try; when the user wants one, say so."},
		{"full", prompt.Workspace{Creation: &prompt.Creation{Have: 5, Limit: 5}},
			"There is none yet.\n\nYou cannot create another workspace: there are 5, and 5 are allowed. Do not try; when the user wants one, say that another must be deleted first."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rendered(t, prompt.Context{Tools: named("create_workspace"), Facts: prompt.Facts{Workspace: &tt.w}}, "Workspace")
			if !strings.HasSuffix(got, tt.want) {
				t.Errorf("want the section to end with (-want +got):\n%s", cmp.Diff(tt.want, got))
			}
		})
	}
}
