package kinds

import (
	"net/http"
	"net/url"
	"reflect"

	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/llamafile"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// llamafile runs on this machine and takes no key.
func llamafile() kind {
	return kind{
		Info:  Info{Name: "llamafile", Title: "llamafile", BaseURL: "http://127.0.0.1:8080", Client: true},
		adapt: langchain.Options{Shape: langchain.Joined},
		end:   `"stop":true`,
		open: func(d model.Descriptor, _ Options, c *http.Client) (llms.Model, error) {
			to, err := url.Parse(d.BaseURL)
			if err != nil {
				return nil, err
			}
			return lib.New(lib.WithModel(d.ID), connected(lib.WithModel, to, c))
		},
	}
}

// connected is the option that llamafile lacks: the address and the client, which
// are fields of its settings for which there are no functions. The settings are a
// type of an internal package, which the option given as an example stands for.
// Without them it would take its address from the environment.
func connected[O ~func(*S), S any](_ func(string) O, to *url.URL, c *http.Client) O {
	return func(s *S) {
		settings := reflect.ValueOf(s).Elem()
		settings.FieldByName("LlamafileServerURL").Set(reflect.ValueOf(to))
		settings.FieldByName("HTTPClient").Set(reflect.ValueOf(c))
	}
}
