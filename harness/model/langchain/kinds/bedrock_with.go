//go:build bedrock

package kinds

import (
	"cmp"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/bedrock"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func openBedrock() func(model.Descriptor, Options, *http.Client) (llms.Model, error) {
	return func(d model.Descriptor, o Options, c *http.Client) (llms.Model, error) {
		opts := bedrockruntime.Options{
			Region:       cmp.Or(o.Settings["region"], bedrockRegion),
			BaseEndpoint: aws.String(d.BaseURL),
			HTTPClient:   c,
			Retryer:      aws.NopRetryer{}, // repeating is for who knows what has been told
		}
		if id := o.Settings["access_key"]; id != "" {
			opts.Credentials = credentials.NewStaticCredentialsProvider(id, o.Key, o.Settings["session_token"])
		} else {
			opts.Credentials = aws.AnonymousCredentials{}
			c.Transport = bearer{c.Transport, o.Key}
		}
		m, err := lib.New(lib.WithModel(d.ID), lib.WithClient(bedrockruntime.New(opts)))
		return bedrockModel{m, d.ID}, err
	}
}

// A bearer sends a key that is no pair with a secret.
type bearer struct {
	next http.RoundTripper
	key  string
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.key)
	return b.next.RoundTrip(req)
}
