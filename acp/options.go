package acp

import (
	"context"
	"errors"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

type modeUpdate struct {
	Update string `json:"sessionUpdate"`
	Mode   string `json:"currentModeId"`
}

type optionsUpdate struct {
	Update  string                       `json:"sessionUpdate"`
	Options []acpsdk.SessionConfigOption `json:"configOptions"`
}

// setMode is session/set_mode. A client that shows options hears of the change
// there too.
func (s *session) setMode(ctx context.Context, r *wire.Request, _ *turn) (any, error) {
	id, err := members(r.Params).required("modeId")
	if err != nil {
		return nil, err
	}
	before := mode(s.h.OptionSet())
	if err := s.h.SetMode(ctx, approve.Mode(id)); err != nil {
		return nil, optionFailure("modeId", id, err)
	}
	if set := s.h.OptionSet(); mode(set) != before {
		r.After(func() { s.update(optionsUpdate{"config_option_update", configOptions(set)}) })
	}
	return acpsdk.SetSessionModeResponse{}, nil
}

// setOption is session/set_config_option. The answer is always the whole list,
// since clients replace theirs with it (R-ACP-18).
func (s *session) setOption(ctx context.Context, r *wire.Request, _ *turn) (any, error) {
	p := members(r.Params)
	id, err := p.required("configId")
	if err != nil {
		return nil, err
	}
	value, err := p.required("value")
	if err != nil {
		return nil, err
	}
	before := s.h.OptionSet()
	if !slices.ContainsFunc(before, func(o harness.Option) bool { return o.ID == id }) {
		return nil, invalid("configId", "is %.100q; the session has %s", id, optionIDs(before))
	}
	if err := s.h.SetOption(ctx, id, value); err != nil {
		return nil, optionFailure("value", value, err)
	}
	if id == harness.OptionModel {
		s.c.mu.Lock()
		s.chosen = true
		s.c.mu.Unlock()
	}
	set := s.h.OptionSet()
	if m := mode(set); m != mode(before) {
		r.After(func() { s.update(modeUpdate{"current_mode_update", m}) })
	}
	return acpsdk.SetSessionConfigOptionResponse{ConfigOptions: configOptions(set)}, nil
}

func optionFailure(field, value string, err error) error {
	if errors.Is(err, harness.ErrOption) {
		return invalid(field, "is %.100q, which is not one of the values to choose from", value)
	}
	return err
}

func optionIDs(set []harness.Option) string {
	var ids []string
	for _, o := range set {
		ids = append(ids, o.ID)
	}
	return strings.Join(ids, ", ")
}

// sameValues reports whether two sets of options leave the same to choose from.
func sameValues(a, b []harness.Option) bool {
	return slices.EqualFunc(a, b, func(a, b harness.Option) bool { return a.ID == b.ID && slices.Equal(a.Values, b.Values) })
}

// mode returns the current mode of a set of options.
func mode(set []harness.Option) string {
	for _, o := range set {
		if o.ID == harness.OptionMode {
			return o.Current
		}
	}
	return ""
}

// modes is the mode for clients that know no options. It says the same as the
// option of the category "mode".
func modes(set []harness.Option) *acpsdk.SessionModeState {
	for _, o := range set {
		if o.ID != harness.OptionMode {
			continue
		}
		st := acpsdk.SessionModeState{CurrentModeId: acpsdk.SessionModeId(o.Current)}
		for _, v := range o.Values {
			st.AvailableModes = append(st.AvailableModes, acpsdk.SessionMode{
				Id: acpsdk.SessionModeId(v.Value), Name: v.Name, Description: optional(v.Description),
			})
		}
		return &st
	}
	return nil
}

func configOptions(set []harness.Option) []acpsdk.SessionConfigOption {
	list := make([]acpsdk.SessionConfigOption, 0, len(set))
	for _, o := range set {
		values := make(acpsdk.SessionConfigSelectOptionsUngrouped, 0, len(o.Values))
		for _, v := range o.Values {
			values = append(values, acpsdk.SessionConfigSelectOption{
				Value: acpsdk.SessionConfigValueId(v.Value), Name: v.Name, Description: optional(v.Description),
			})
		}
		sel := &acpsdk.SessionConfigOptionSelect{
			Id:           acpsdk.SessionConfigId(o.ID),
			Name:         o.Name,
			Description:  optional(o.Description),
			CurrentValue: acpsdk.SessionConfigValueId(o.Current),
			Options:      acpsdk.SessionConfigSelectOptions{Ungrouped: &values},
			Type:         "select",
		}
		if o.Category != "" {
			sel.Category = acpsdk.Ptr(acpsdk.SessionConfigOptionCategory(o.Category))
		}
		list = append(list, acpsdk.SessionConfigOption{Select: sel})
	}
	return list
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
