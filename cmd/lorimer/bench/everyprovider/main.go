// Command everyprovider links the client of every provider in and calls it, as
// little else as there can be: its size is what they cost.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

func main() {
	d := model.Descriptor{ID: "m"}
	all := []model.Streamer{
		openai.New(d, openai.Options{}), responses.New(d, responses.Options{}), anthropic.New(d, anthropic.Options{}),
		gemini.New(d, gemini.Options{}), ollama.New(d, ollama.Options{}),
	}
	for _, name := range kinds.Names() {
		m, err := kinds.Open(name, d, kinds.Options{Key: "k"})
		if err != nil {
			fmt.Println(err)
			continue
		}
		all = append(all, m)
	}
	req := &model.Request{System: fmt.Sprint(os.Args)}
	for _, m := range all {
		reply, err := m.Stream(context.Background(), req, func(e model.Event) error {
			_, err := fmt.Println(e)
			return err
		})
		fmt.Println(reply, err)
	}
}
