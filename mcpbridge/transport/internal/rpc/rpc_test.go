package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

func TestNumber(t *testing.T) {
	tests := []struct {
		id   string
		want uint64
	}{
		{"7", 7}, {`"7"`, 7}, {"7.0", 7}, {`"7.00"`, 7},
		{"7.5", 0}, {"-7", 0}, {`"a"`, 0}, {"null", 0}, {"", 0}, {"1e3", 0}, {"99999999999999999999", 0},
	}
	for _, tt := range tests {
		if got := (rpc.Frame{ID: json.RawMessage(tt.id)}).Number(); got != tt.want {
			t.Errorf("number of %s = %d, want %d", tt.id, got, tt.want)
		}
	}
}

func TestOutcome(t *testing.T) {
	tests := []struct{ frame, want string }{
		{`{"id":1,"result":{"a":[9007199254740993]}}`, `{"a":[9007199254740993]}`},
		{`{"id":1,"result":null}`, `null`},
		{`{"id":1,"result":{},"error":null}`, `{}`},
		{`{"id":1,"error":{"code":-32601,"message":"no"}}`, `no (-32601)`},
		{`{"id":1,"error":{"code":-32601.0,"message":"no"},"result":{}}`, `no (-32601)`},
		{`{"id":1,"error":{"code":"E1","message":"no"}}`, `{"code":"E1","message":"no"} (-32603)`},
		{`{"id":1,"error":{"message":{"text":"no"}}}`, `{"text":"no"} (-32603)`},
		{`{"id":1,"error":{}}`, `the server answered with an error (-32603)`},
		{`{"id":1,"error":"plain"}`, `plain (-32603)`},
		{`{"id":1,"error":7}`, `7 (-32603)`},
		{`{"jsonrpc":2.0,"id":1,"result":{}}`, `{}`},
		{`{"jsonrpc":"2.0","id":1}`, `the answer has neither a result nor an error (-32603)`},
	}
	for _, tt := range tests {
		var f rpc.Frame
		if err := json.Unmarshal([]byte(tt.frame), &f); err != nil {
			t.Fatal(err)
		}
		result, err := f.Outcome()
		got := string(result)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("outcome of %s = %s, want %s", tt.frame, got, tt.want)
		}
	}
}

func TestEncodeFault(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{errors.New("it broke"), `{"code":-32603,"message":"it broke"}`},
		{fmt.Errorf("wrapped: %w", &transport.Error{Code: 5, Message: "five", Data: json.RawMessage(`[5]`)}), `{"code":5,"message":"five","data":[5]}`},
		{&transport.Error{Code: 5, Message: "five", Data: json.RawMessage(`{`)}, `{"code":5,"message":"five"}`},
	}
	for _, tt := range tests {
		if got := string(rpc.EncodeFault(tt.err)); got != tt.want {
			t.Errorf("EncodeFault(%v) = %s, want %s", tt.err, got, tt.want)
		}
	}
}

func TestMessage(t *testing.T) {
	tests := []struct{ got, want string }{
		{string(rpc.Message(rpc.ID(7), "tools/call", "params", json.RawMessage(`{"a":1}`))), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":1}}`},
		{string(rpc.Message(nil, "note", "params", nil)), `{"jsonrpc":"2.0","method":"note"}`},
		{string(rpc.Message(json.RawMessage(`"a\"b"`), "", "result", json.RawMessage(`{}`))), `{"jsonrpc":"2.0","id":"a\"b","result":{}}`},
		{string(rpc.Abandoned(8)), `{"requestId":8,"reason":"nobody waits for it"}`},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("message = %s, want %s", tt.got, tt.want)
		}
	}
}

func TestCancelled(t *testing.T) {
	for params, want := range map[string]string{`{"requestId":"a"}`: `"a"`, `{"requestId":7,"reason":"x"}`: "7", `{}`: "", `[`: "", "": ""} {
		if got := rpc.Cancelled(json.RawMessage(params)); got != want {
			t.Errorf("Cancelled(%s) = %s, want %s", params, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	got, err := rpc.OneLine(json.RawMessage("{\r\n \"a\": \"b\\n\"\n}"))
	if want := `{"a":"b\n"}`; err != nil || string(got) != want {
		t.Errorf("OneLine() = %s, %v, want %s", got, err, want)
	}
	for _, bad := range []string{"", "{", "{} {}", "{\n"} {
		if got, err := rpc.OneLine(json.RawMessage(bad)); err == nil {
			t.Errorf("OneLine(%q) = %q, want an error", bad, got)
		}
	}
}
