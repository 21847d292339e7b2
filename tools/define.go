package tools

import (
	"context"
	"encoding/json"
)

// Define returns a tool whose input arrives as an In, decoded from JSON by the
// exact names of its fields. Members that In does not have are ignored; whether
// they are allowed is for the schema to say. A nil plan is the empty [Plan].
func Define[In any](info Info, plan func(context.Context, In) (Plan, error), run func(context.Context, In, Call) (Result, error)) Tool {
	return &defined[In]{info: info, plan: plan, run: run}
}

type defined[In any] struct {
	info Info
	plan func(context.Context, In) (Plan, error)
	run  func(context.Context, In, Call) (Result, error)
}

func (d *defined[In]) Info() Info { return d.info }

func (d *defined[In]) Plan(ctx context.Context, in json.RawMessage) (Plan, error) {
	if d.plan == nil {
		return Plan{}, nil
	}
	v, err := decode[In](d.info.Name, in)
	if err != nil {
		return Plan{}, err
	}
	return d.plan(ctx, v)
}

func (d *defined[In]) Run(ctx context.Context, call Call) (Result, error) {
	v, err := decode[In](d.info.Name, call.Input)
	if err != nil {
		return Result{}, err
	}
	return d.run(ctx, v, call)
}
