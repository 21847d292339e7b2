package acp

import (
	"context"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// A permission is the parameters of session/request_permission.
type permission struct {
	Session  string                    `json:"sessionId"`
	ToolCall v1.ToolCall               `json:"toolCall"`
	Options  []acpsdk.PermissionOption `json:"options"`
}

// permissionAnswer is the result of session/request_permission.
type permissionAnswer struct {
	Outcome struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId"`
	} `json:"outcome"`
}

var _ approve.Approver = (*session)(nil)

// Approve implements [approve.Approver] by asking in the editor. There is no time
// limit: only the answer, the end of ctx or the end of the input end the wait.
// Everything but a yes that was offered is a no (R-ACP-42).
func (s *session) Approve(ctx context.Context, q approve.Question) (approve.Answer, error) {
	options := permissionOptions(q.Plan.Always)
	var a permissionAnswer
	err := s.c.wire.Call(ctx, acpsdk.ClientMethodSessionRequestPermission,
		permission{s.id, s.enc.Question(q), options}, &a)
	if ctx.Err() != nil {
		return approve.Deny, ctx.Err()
	}
	if err != nil {
		s.c.o.Log.Info().Str("session", s.id).Str("tool", q.Tool).Err(err).Msg("permission was not given")
		return approve.Deny, nil
	}
	if a.Outcome.Outcome != "selected" {
		return approve.Deny, nil
	}
	for _, o := range options {
		if string(o.OptionId) == a.Outcome.Option {
			return answers[o.Kind], nil
		}
	}
	return approve.Deny, nil
}

// answers gives what an option means. What is not in it is a no.
var answers = map[acpsdk.PermissionOptionKind]approve.Answer{
	acpsdk.PermissionOptionKindAllowOnce:   approve.AllowOnce,
	acpsdk.PermissionOptionKindAllowAlways: approve.AllowAlways,
}

// permissionOptions returns the options of a question. Their ids are their kinds,
// since some clients go by one and some by the other (R-ACP-37).
func permissionOptions(always tools.Grant) []acpsdk.PermissionOption {
	list := []acpsdk.PermissionOption{option(acpsdk.PermissionOptionKindAllowOnce, "Allow")}
	if always.Key != "" {
		name := tools.Line("Always allow "+always.Label, maxLabel)
		list = append(list, option(acpsdk.PermissionOptionKindAllowAlways, name))
	}
	return append(list, option(acpsdk.PermissionOptionKindRejectOnce, "Reject"))
}

// maxLabel is the length of a button (R-ACP-41).
const maxLabel = 79

func option(kind acpsdk.PermissionOptionKind, name string) acpsdk.PermissionOption {
	return acpsdk.PermissionOption{OptionId: acpsdk.PermissionOptionId(kind), Kind: kind, Name: name}
}
