package kinds

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"

	wx "github.com/IBM/watsonx-go/pkg/models"
	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/watsonx"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// watsonx takes no client and no context, sends one text and gets one back. The key
// is exchanged for a token at iam.cloud.ibm.com. Twenty tokens are its answer
// unless it is told otherwise.
func watsonx() kind {
	return kind{
		Info: Info{
			Name: "watsonx", Title: "IBM watsonx", BaseURL: "https://us-south.ml.cloud.ibm.com", Key: "API key",
			Settings: []Setting{
				{Name: "project", Help: "the id of the project", Required: true},
				{Name: "region", Help: "such as eu-de, in place of a base_url; us-south without it"},
				{Name: "api_version", Help: "a date, such as " + wx.DefaultAPIVersion},
			},
		},
		adapt:  langchain.Options{Shape: langchain.Flat, Whole: true, Deaf: true},
		output: 4096,
		base: func(settings map[string]string) string {
			return "https://" + fmt.Sprintf(wx.BaseURLFormatStr, cmp.Or(settings["region"], wx.DefaultRegion))
		},
		open: func(d model.Descriptor, o Options, _ *http.Client) (llms.Model, error) {
			to, err := url.Parse(d.BaseURL)
			if err != nil {
				return nil, err
			}
			opts := []wx.ClientOption{
				wx.WithURL(to.Host), // always over TLS
				wx.WithWatsonxAPIKey(o.Key), wx.WithWatsonxProjectID(o.Settings["project"]),
				wx.WithAPIVersion(cmp.Or(o.Settings["api_version"], wx.DefaultAPIVersion)),
			}
			return lib.New(d.ID, opts...)
		},
	}
}
