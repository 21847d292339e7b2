package kinds

import "github.com/lorimer-dev/lorimer/harness/model/langchain"

// cohere is linked in with the build tag of its name alone: the tokenizer of its
// library adds 1.9 MB to the program. It takes no client, sends one text and gets
// one back; an answer that is an error comes as an empty one.
func cohere() kind {
	return kind{
		Info:  Info{Name: "cohere", Title: "Cohere", BaseURL: "https://api.cohere.ai", Key: "API key", Tag: "cohere"},
		adapt: langchain.Options{Shape: langchain.Flat, Whole: true},
		open:  openCohere(),
	}
}
