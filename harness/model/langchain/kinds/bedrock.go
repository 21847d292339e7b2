package kinds

import (
	"cmp"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// bedrock is linked in with the build tag of its name alone: Amazon's SDK adds 2.3
// MB to the program. The library streams the models of Anthropic only, gives tools
// to no others, and loses calls while it streams.
func bedrock() kind {
	return kind{
		Info: Info{
			Name: "bedrock", Title: "Amazon Bedrock", BaseURL: "https://bedrock-runtime." + bedrockRegion + ".amazonaws.com", Key: "API key or secret access key",
			Tools: true, Images: true, Client: true, Tag: "bedrock",
			Settings: []Setting{
				{Name: "region", Help: "such as eu-central-1; us-east-1 without it"},
				{Name: "access_key", Help: "the access key id that belongs to a secret access key; without it the key is an API key of Bedrock", Secret: true},
				{Name: "session_token", Help: "of temporary credentials", Secret: true},
			},
		},
		adapt:      langchain.Options{WholeWithTools: true},
		open:       openBedrock(),
		callsTools: bedrockAnthropic,
		output:     4096,
		base: func(settings map[string]string) string {
			return "https://bedrock-runtime." + cmp.Or(settings["region"], bedrockRegion) + ".amazonaws.com"
		},
	}
}

const bedrockRegion = "us-east-1" // without another

func bedrockAnthropic(id string) bool { return strings.Contains(id, "anthropic") }
