package kinds

import (
	"context"
	"errors"
	"net/http"
	"regexp"

	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/ernie"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// ernie sends one text and gets one back. It is never let stream, since its
// library ends the process at a piece that it cannot read; and its key is the
// access token, since a pair of keys makes the library start a goroutine that
// never ends.
func ernie() kind {
	const base = "https://aip.baidubce.com"
	return kind{
		Info: Info{
			Name: "ernie", Title: "Baidu ERNIE", BaseURL: base, Key: "access token", Client: true,
		},
		fixed: base,
		adapt: langchain.Options{Shape: langchain.Flat, Whole: true},
		open: func(d model.Descriptor, o Options, c *http.Client) (llms.Model, error) {
			m, err := lib.New(lib.WithAKSK("", ""), lib.WithAccessToken(o.Key), lib.WithModel(d.ID), lib.WithHTTPClient(c))
			return ernieModel{m}, err
		},
		path: func(id string) string {
			switch lib.ModelName(id) {
			case lib.ModelNameERNIEBot, lib.ModelNameERNIEBotTurbo, lib.ModelNameERNIEBotPro, lib.ModelNameBloomz7B,
				lib.ModelNameLlama2_7BChat, lib.ModelNameLlama2_13BChat, lib.ModelNameLlama2_70BChat:
				return ""
			}
			return id // else the library would ask another model without a word
		},
	}
}

// An ernieModel gives the errors that come under status 200 their kind.
type ernieModel struct{ llms.Model }

func (m ernieModel) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	resp, err := m.Model.GenerateContent(ctx, msgs, opts...)
	if !errors.Is(err, lib.ErrCodeResponse) {
		return resp, err
	}
	e := &model.Error{Kind: model.Unknown, Message: err.Error()}
	if found := regexp.MustCompile(`error_code:(\d+), erro_msg:(.*), id:`).FindStringSubmatch(err.Error()); found != nil {
		e.Code, e.Message = found[1], found[2]
	}
	switch e.Code {
	case "6", "13", "14", "15", "100", "110", "111":
		e.Kind = model.Auth
	case "4", "18", "336501", "336502", "336503", "336504", "336505":
		e.Kind = model.RateLimit
	case "17", "19":
		e.Kind = model.Quota
	case "3", "336003", "336007":
		e.Kind = model.Invalid
	case "336006", "336103":
		e.Kind = model.TokenLimit
	case "336104", "336200":
		e.Kind = model.Overloaded
	case "1", "2", "336000", "336100":
		e.Kind = model.Overloaded
	}
	return resp, e
}
