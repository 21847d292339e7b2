package archtest_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/internal/archtest"
)

// TestLayout checks this repository.
func TestLayout(t *testing.T) {
	found, err := archtest.Check(os.DirFS("../../.."), archtest.Layout())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestLayoutSeesFiles: a check that looks at nothing would find nothing.
func TestLayoutSeesFiles(t *testing.T) {
	rules := archtest.Layout()
	rules.Folders = nil
	found, err := archtest.Check(os.DirFS("../../.."), rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"acp", "cmd", "harness", "prompt", "tools"} {
		seen := slices.ContainsFunc(found, func(f archtest.Finding) bool { return strings.HasPrefix(f.File, folder+"/") })
		if !seen {
			t.Errorf("no file of %s was read", folder)
		}
	}
}

const ours = "github.com/lorimer-dev/lorimer/"

// TestCheck feeds one file at a time to the rules of this repository.
func TestCheck(t *testing.T) {
	imports := func(paths ...string) string {
		src := "package p\n"
		for _, p := range paths {
			src += "import _ \"" + p + "\"\n"
		}
		return src
	}
	tests := []struct {
		name string
		file string
		src  string
		want []string // "line: what"; nil is nothing to find
	}{
		{"leaf imports harness", "tools/x.go", imports(ours + "harness"), []string{"2: tools may not import harness"}},
		{"leaf imports leaf", "tools/bash/x.go", imports(ours + "prompt"), []string{"2: tools may not import prompt"}},
		{"leaf imports leaf in a test", "prompt/x_test.go", imports(ours + "tools"), []string{"2: prompt may not import tools"}},
		{"harness imports mcpbridge", "harness/x.go", imports(ours + "mcpbridge"), []string{"2: harness may not import mcpbridge"}},
		{"harness imports acp", "harness/a/b/x.go", imports(ours + "acp/v1"), []string{"2: harness may not import acp"}},
		{"mcpbridge imports prompt", "mcpbridge/x.go", imports(ours + "prompt"), []string{"2: mcpbridge may not import prompt"}},
		{"acp imports cmd", "acp/x.go", imports(ours + "cmd/internal/app"), []string{"2: acp may not import cmd"}},
		{"all arrows that exist", "acp/x.go", imports(ours+"harness", ours+"tools", ours+"mcpbridge", ours+"prompt", ours+"acp/wire"), nil},
		{"cmd imports all", "cmd/internal/app/x.go", imports(ours+"acp", ours+"harness/model", ours+"mcpbridge"), nil},
		{"module that only begins alike", "tools/x.go", imports("github.com/lorimer-dev/lorimer-extra/harness"), nil},
		{"folder outside the layout", "pkg/x.go", imports(), []string{`1: folder "pkg" is not part of the layout`}},
		{"file in the root", "x.go", imports(), []string{`1: folder "" is not part of the layout`}},

		{"ACP SDK in harness", "harness/x.go", imports("github.com/coder/acp-go-sdk"),
			[]string{`2: "github.com/coder/acp-go-sdk" belongs to acp/...`}},
		{"ACP SDK in its owner", "acp/v1/x.go", imports("github.com/coder/acp-go-sdk"), nil},
		{"ACP SDK in a test", "cmd/internal/app/x_test.go", imports("github.com/coder/acp-go-sdk"), nil},
		{"ACP SDK in the end-to-end tests", "cmd/lorimer/e2e/peer/x.go", imports("github.com/coder/acp-go-sdk"), nil},
		{"types of MCP in tools", "tools/x.go", imports("github.com/mark3labs/mcp-go/mcp"),
			[]string{`2: "github.com/mark3labs/mcp-go/mcp" belongs to mcpbridge/...`}},
		{"types of MCP in the bridge", "mcpbridge/client/x.go", imports("github.com/mark3labs/mcp-go/mcp"), nil},
		{"MCP client in the bridge", "mcpbridge/client/x.go", imports("github.com/mark3labs/mcp-go/client/transport"),
			[]string{`2: "github.com/mark3labs/mcp-go/client/transport" is for tests alone`}},
		{"MCP client in a test", "mcpbridge/client/x_test.go", imports("github.com/mark3labs/mcp-go/client"), nil},
		{"llms in harness", "harness/x.go", imports("github.com/tmc/langchaingo/llms"), nil},
		{"llms in a provider", "harness/model/openai/x.go", imports("github.com/tmc/langchaingo/llms"), nil},
		{"llms in credits", "harness/credits/x.go", imports("github.com/tmc/langchaingo/llms"),
			[]string{`2: "github.com/tmc/langchaingo/llms" belongs to harness, harness/model/..., harness/thread, harness/estimate`}},
		{"rest of langchaingo in a provider", "harness/model/openai/x.go", imports("github.com/tmc/langchaingo/chains"),
			[]string{`2: "github.com/tmc/langchaingo/chains" belongs to harness/model/langchain/...`}},
		{"a provider of langchaingo in a provider", "harness/model/openai/x.go", imports("github.com/tmc/langchaingo/llms/openai"),
			[]string{`2: "github.com/tmc/langchaingo/llms/openai" belongs to harness/model/langchain/...`}},
		{"a provider of langchaingo in its owner", "harness/model/langchain/kinds/x.go", imports("github.com/tmc/langchaingo/llms/mistral", "github.com/IBM/watsonx-go/pkg/models"), nil},
		{"database in credits", "harness/credits/x.go", imports("database/sql", "github.com/lib/pq/oid"),
			[]string{`2: "database/sql" belongs to harness/store/...`, `3: "github.com/lib/pq/oid" belongs to harness/store/...`}},
		{"database in its owner", "harness/store/x.go", imports("database/sql", "github.com/ncruces/go-sqlite3/driver", "github.com/lib/pq"), nil},
		{"database in the commands", "cmd/internal/app/x.go", imports("database/sql/driver", "github.com/ncruces/go-sqlite3"),
			[]string{`2: "database/sql/driver" belongs to harness/store/...`, `3: "github.com/ncruces/go-sqlite3" belongs to harness/store/...`}},

		{"fake outside tests", "acp/x.go", imports(ours + "harness/model/modeltest"),
			[]string{"2: harness/model/modeltest is for tests; only their files import it"}},
		{"fake in a test", "acp/x_test.go", imports(ours + "harness/model/modeltest"), nil},
		{"fake in the bench", "cmd/lorimer/bench/x.go", imports(ours + "harness/model/modeltest"), nil},

		{"YAML in its owner", "prompt/skills/x.go", imports("github.com/goccy/go-yaml", "github.com/fsnotify/fsnotify"), nil},
		{"YAML in the prompt", "prompt/x.go", imports("github.com/goccy/go-yaml"),
			[]string{`2: "github.com/goccy/go-yaml" belongs to prompt/skills`}},
		{"global logger", "acp/x.go", imports("github.com/rs/zerolog/log"),
			[]string{"2: the global logger is nobody's; take a zerolog.Logger in the options"}},
		{"logger", "acp/x.go", imports("github.com/rs/zerolog"), nil},

		{"print", "acp/x.go", "package p\nimport \"fmt\"\nfunc f() {\n\tfmt.Println(1)\n\tfmt.Printf(\"\")\n\tfmt.Print()\n}\n", []string{
			"4: fmt.Println writes to standard output, which carries the protocol",
			"5: fmt.Printf writes to standard output, which carries the protocol",
			"6: fmt.Print writes to standard output, which carries the protocol"}},
		{"print under another name", "acp/x.go", "package p\nimport f \"fmt\"\nvar _ = f.Println\n",
			[]string{"3: fmt.Println writes to standard output, which carries the protocol"}},
		{"print without a name", "acp/x.go", "package p\nimport . \"fmt\"\nvar _ = Println\n",
			[]string{`2: import of "fmt" into the file's own names hides what is used`}},
		{"format", "acp/x.go", "package p\nimport \"fmt\"\nvar _ = fmt.Sprint(fmt.Fprintln)\n", nil},
		{"variable that hides the package", "acp/x.go", "package p\nimport _ \"os\"\nfunc f(os struct{ Stdout int }) int { return os.Stdout }\n", nil},
		{"print in a test", "acp/x_test.go", "package p\nimport \"fmt\"\nfunc Example() { fmt.Println(1) }\n", nil},
		{"print in a main package", "cmd/lorimer/x.go", "package main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }\n", nil},
		{"print in a library under cmd", "cmd/internal/cli/x.go", "package cli\nimport \"fmt\"\nvar _ = fmt.Println\n",
			[]string{"3: fmt.Println writes to standard output, which carries the protocol"}},
		{"print in a main package elsewhere", "tools/x.go", "package main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }\n",
			[]string{"3: fmt.Println writes to standard output, which carries the protocol"}},
		{"standard output", "harness/x.go", "package p\nimport \"os\"\nvar w = os.Stdout\n",
			[]string{"3: os.Stdout carries the protocol; take an io.Writer"}},
		{"standard output in the connection", "acp/wire/x.go", "package wire\nimport \"os\"\nvar w = os.Stdout\n", nil},
		{"standard error", "harness/x.go", "package p\nimport \"os\"\nvar w = os.Stderr\n", nil},

		{"value in a context", "harness/x.go", "package p\nimport \"context\"\nvar _ = context.WithValue\n",
			[]string{"3: context.WithValue hides a parameter; pass it"}},
		{"value in a context of a main package", "cmd/lorimer/x.go", "package main\nimport c \"context\"\nvar _ = c.WithValue\n",
			[]string{"3: context.WithValue hides a parameter; pass it"}},
		{"init", "tools/x.go", "package p\nfunc init() {}\n", []string{"2: init runs before anybody asked; call a function instead"}},
		{"method init", "tools/x.go", "package p\ntype t struct{}\nfunc (t) init() {}\n", nil},

		{"test data", "tools/testdata/x.go", "not Go", nil},
		{"hidden folder", ".ci/x.go", "not Go", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{tt.file: {Data: []byte(tt.src)}}
			found, err := archtest.Check(root, archtest.Layout())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				rest, ok := strings.CutPrefix(f.String(), tt.file+":")
				if !ok {
					t.Errorf("finding %q is not in %s", f, tt.file)
				}
				got = append(got, rest)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckLeavesOtherModulesOut: a folder with a go.mod of its own is not ours.
func TestCheckLeavesOtherModulesOut(t *testing.T) {
	root := fstest.MapFS{
		"tools/sample/go.mod":  {Data: []byte("module sample\n")},
		"tools/sample/main.go": {Data: []byte("package main\nfunc init() {}\n")},
	}
	if found, err := archtest.Check(root, archtest.Layout()); err != nil || len(found) != 0 {
		t.Errorf("Check = %v, %v; want nothing", found, err)
	}
}

// TestCheckNeedsGo: what cannot be parsed cannot be judged, and says where.
func TestCheckNeedsGo(t *testing.T) {
	root := fstest.MapFS{"tools/x.go": {Data: []byte("package")}}
	if _, err := archtest.Check(root, archtest.Layout()); err == nil || !strings.Contains(err.Error(), "tools/x.go:1") {
		t.Errorf("error = %v, want one that names tools/x.go", err)
	}
}
