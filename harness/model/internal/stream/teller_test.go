package stream_test

import (
	"errors"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

func TestTeller(t *testing.T) {
	own := &model.Error{Kind: model.Invalid}
	var heard []model.Event
	tell := stream.Teller{Sink: func(e model.Event) error {
		if heard = append(heard, e); len(heard) > 1 {
			return own
		}
		return nil
	}}
	before := &model.Error{}
	tell.Complete(before, "req_1")
	if before.Partial || before.RequestID != "req_1" {
		t.Errorf("an error before the first event = %+v", before)
	}
	if err := tell.Tell(model.Text("a")); err != nil {
		t.Fatal(err)
	}
	after := &model.Error{RequestID: "req_0"}
	tell.Complete(after, "req_1")
	if !after.Partial || after.RequestID != "req_0" {
		t.Errorf("an error after the first event = %+v", after)
	}
	err := tell.Tell(model.Text("b"))
	if got := stream.Own(err); got != error(own) || err == error(own) {
		t.Errorf("Tell = %v, want the error of the sink, marked", err)
	}
	tell.Complete(own, "req_1")
	if *own != (model.Error{Kind: model.Invalid}) {
		t.Errorf("the error of the sink became %+v", own)
	}
	if _, ok := tell.Failure(own); ok {
		t.Error("the error of the sink counts as one of the provider")
	}
	if e, ok := tell.Failure(after); !ok || e != after {
		t.Errorf("Failure = %v, %v, want the error of the provider", e, ok)
	}
	if other := errors.New("x"); stream.Own(other) != other {
		t.Error("Own changed an error that is nobody's")
	}
}
