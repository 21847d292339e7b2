package client

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"
)

// supplied returns q with what a server of the stateless era wants before it gives a
// result. Without questions it wants to be asked again later.
func (p *peer) supplied(ctx context.Context, q query, o object, round int) (query, error) {
	questions, _ := fields(o["inputRequests"])
	state := o["requestState"]
	if len(questions) == 0 {
		if none(state) {
			return q, errors.New("the server wants input and does not say which")
		}
		if err := p.pause(ctx, time.Duration(round+1)*250*time.Millisecond); err != nil {
			return q, err
		}
	}
	answers, err := p.answers(ctx, questions)
	if err != nil {
		return q, err
	}
	q.params = maps.Clone(q.params)
	delete(q.params, "requestState")
	delete(q.params, "inputResponses")
	if len(answers) > 0 {
		q.params["inputResponses"] = answers
	}
	if !none(state) {
		q.params["requestState"] = state
	}
	return q, nil
}

// answers answers the questions of a server, one after the other: the user is asked
// most of them.
func (p *peer) answers(ctx context.Context, questions object) (map[string]json.RawMessage, error) {
	answers := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(questions)) {
		o, _ := fields(questions[key])
		method, _ := text(o["method"])
		reply, err := p.answer(ctx, method, o["params"])
		if err != nil {
			return nil, &UnansweredError{method, err}
		}
		answers[key] = reply
	}
	return answers, nil
}
