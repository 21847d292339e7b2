package archtest

// Layout returns the rules of this repository. Every folder of the top level
// stands on what is below it, and every library has one owner, so that its quirks
// and its upgrades touch one place.
func Layout() Rules {
	langchain := []string{"harness/model/langchain/..."}
	store := []string{"harness/store/..."}
	return Rules{
		Module: "github.com/lorimer-dev/lorimer",
		Folders: map[string][]string{
			"tools":     {},
			"prompt":    {},
			"mcpbridge": {"tools"},
			"harness":   {"tools", "prompt"},
			"acp":       {"harness", "tools", "mcpbridge", "prompt"},
			"cmd":       {"acp", "mcpbridge", "harness", "prompt", "tools"},
		},
		Owners: map[string][]string{
			"github.com/coder/acp-go-sdk": {"acp/..."},

			// Its types are used; the client and the server of it are ours, and stand beside
			// it in tests.
			"github.com/mark3labs/mcp-go/mcp": {"mcpbridge/..."},
			"github.com/mark3labs/mcp-go":     {},

			"github.com/pelletier/go-toml": {"cmd/internal/config", "mcpbridge/discover"},

			"github.com/tmc/langchaingo":              langchain,
			"github.com/tmc/langchaingo/llms/...":     langchain,
			"github.com/gage-technologies/mistral-go": langchain,
			"github.com/IBM/watsonx-go":               langchain,
			"github.com/aws":                          langchain,
			// The types of a conversation: thread folds its entries into them, estimate measures them.
			"github.com/tmc/langchaingo/llms": {"harness", "harness/model/...", "harness/thread", "harness/estimate"},

			"database/sql":                  store,
			"github.com/lib/pq":             store,
			"github.com/ncruces/go-sqlite3": store,

			"github.com/fsnotify/fsnotify": {"prompt/skills"},
			"github.com/goccy/go-yaml":     {"prompt/skills"},
		},
		Anyone:   []string{"cmd/lorimer/e2e/...", "cmd/lorimer/conformance/..."},
		Printers: []string{"acp/wire/..."},
		Mains:    []string{"cmd/..."},
		Fakes:    []string{"cmd/lorimer/bench/...", "cmd/lorimer/e2e/..."},
	}
}
