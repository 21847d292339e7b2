package langchain_test

import (
	"fmt"
	"strings"
)

// A content is what the pieces of an answer are.
type content string

const (
	texts     content = "text"
	thoughts  content = "reasoning"
	arguments content = "arguments"
)

// word is a piece, as long as those of real models are.
const word = "some word"

// A wire writes an answer of n pieces as a protocol does: the events, to be framed.
type wire func(c content, n int) []string

// repeat returns format with the numbers from 0 to n-1 in it.
func repeat(n int, format string) []string {
	var out []string
	for i := range n {
		if strings.Contains(format, "%d") {
			out = append(out, fmt.Sprintf(format, i))
			continue
		}
		out = append(out, format)
	}
	return out
}

// events frames data as server-sent events, with the name of its type where it has
// one.
func events(data []string) string {
	var b strings.Builder
	for _, d := range data {
		if rest, ok := strings.CutPrefix(d, `{"type":"`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			b.WriteString("event: " + name + "\n")
		}
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// lines frames data as lines.
func lines(data []string) string { return strings.Join(data, "\n") + "\n" }

func chatWire(c content, n int) []string {
	chunk := func(delta, finish string) string {
		return `{"id":"chatcmpl-9a8b7c6d5e4f","object":"chat.completion.chunk","created":1790000000,"model":"m1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":` +
			delta + `,"logprobs":null,"finish_reason":` + finish + `}]}`
	}
	out := []string{chunk(`{"role":"assistant","content":""}`, "null")}
	finish := `"stop"`
	switch c {
	case texts:
		out = append(out, repeat(n, chunk(`{"content":"`+word+`"}`, "null"))...)
	case thoughts:
		out = append(out, repeat(n, chunk(`{"reasoning_content":"`+word+`"}`, "null"))...)
		out = append(out, chunk(`{"content":"."}`, "null"))
	case arguments:
		call := func(args string) string {
			return chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"`+args+`"}}]}`, "null")
		}
		out = append(out, chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write","arguments":""}}]}`, "null"), call(`{\"path\":\"`))
		out = append(out, repeat(n, call(word))...)
		out = append(out, call(`\"}`))
		finish = `"tool_calls"`
	}
	return append(out, chunk(`{}`, finish), "[DONE]")
}

func responsesWire(c content, n int) []string {
	start := `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m1","output":[]}}`
	item, delta := "", ""
	const at = `"sequence_number":%d,"item_id":"item_1","output_index":0,`
	switch c {
	case texts:
		item = `{"id":"item_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"@","annotations":[]}]}`
		delta = `{"type":"response.output_text.delta",` + at + `"content_index":0,"delta":"` + word + `","logprobs":[],"obfuscation":"x1y2z3"}`
	case thoughts:
		item = `{"id":"item_1","type":"reasoning","summary":[{"type":"summary_text","text":"@"}],"encrypted_content":"c2VhbGVk"}`
		delta = `{"type":"response.reasoning_summary_text.delta",` + at + `"summary_index":0,"delta":"` + word + `","obfuscation":"x1y2z3"}`
	case arguments:
		item = `{"id":"item_1","type":"function_call","status":"completed","call_id":"call_1","name":"write","arguments":"{\"path\":\"@\"}"}`
		delta = `{"type":"response.function_call_arguments.delta",` + at + `"delta":"` + word + `","obfuscation":"x1y2z3"}`
	}
	whole := strings.Replace(item, "@", strings.Repeat(word, n), 1)
	begun := map[content]string{
		texts:     `{"id":"item_1","type":"message","status":"in_progress","role":"assistant","content":[]}`,
		thoughts:  `{"id":"item_1","type":"reasoning","summary":[]}`,
		arguments: `{"id":"item_1","type":"function_call","status":"in_progress","call_id":"call_1","name":"write","arguments":""}`,
	}[c]
	out := []string{start, `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":` + begun + `}`}
	args := func(s string) string {
		return `{"type":"response.function_call_arguments.delta","sequence_number":2,"item_id":"item_1","output_index":0,"delta":"` + s + `"}`
	}
	if c == arguments {
		out = append(out, args(`{\"path\":\"`))
	}
	out = append(out, repeat(n, delta)...)
	if c == arguments {
		out = append(out, args(`\"}`))
	}
	output := whole
	if c == thoughts { // which alone are no answer
		done := `{"id":"item_2","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":".","annotations":[]}]}`
		out = append(out, `{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":`+whole+`}`,
			`{"type":"response.output_item.added","sequence_number":4,"output_index":1,"item":{"id":"item_2","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
			`{"type":"response.output_text.delta","sequence_number":5,"item_id":"item_2","output_index":1,"content_index":0,"delta":"."}`,
			`{"type":"response.output_item.done","sequence_number":6,"output_index":1,"item":`+done+`}`)
		output += "," + done
	} else {
		out = append(out, `{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":`+whole+`}`)
	}
	return append(out, `{"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","status":"completed","model":"m1","output":[`+
		output+`],"usage":{"input_tokens":9,"output_tokens":9,"total_tokens":18}}}`)
}

func anthropicWire(c content, n int) []string {
	out := []string{`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}`}
	block := func(i int, begin string, deltas ...string) {
		out = append(out, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, begin))
		for _, d := range deltas {
			out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
		}
		out = append(out, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
	}
	stop := "end_turn"
	switch c {
	case texts:
		block(0, `{"type":"text","text":""}`, repeat(n, `{"type":"text_delta","text":"`+word+`"}`)...)
	case thoughts:
		block(0, `{"type":"thinking","thinking":"","signature":""}`,
			append(repeat(n, `{"type":"thinking_delta","thinking":"`+word+`"}`), `{"type":"signature_delta","signature":"c2VhbGVk"}`)...)
		block(1, `{"type":"text","text":""}`, `{"type":"text_delta","text":"."}`)
	case arguments:
		args := func(s string) string { return `{"type":"input_json_delta","partial_json":"` + s + `"}` }
		deltas := append([]string{args(`{\"path\":\"`)}, repeat(n, args(word))...)
		block(0, `{"type":"tool_use","id":"toolu_1","name":"write","input":{}}`, append(deltas, args(`\"}`))...)
		stop = "tool_use"
	}
	return append(out, `{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`)
}

func geminiWire(c content, n int) []string {
	chunk := func(part, finish string) string {
		return `{"candidates":[{"content":{"parts":[` + part + `],"role":"model"},"index":0` + finish +
			`}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":9,"totalTokenCount":18,"promptTokensDetails":[{"modality":"TEXT","tokenCount":9}]},"modelVersion":"m1","responseId":"r1"}`
	}
	last := chunk(`{"text":"."}`, `,"finishReason":"STOP"`)
	switch c {
	case thoughts:
		return append(repeat(n, chunk(`{"text":"`+word+`","thought":true}`, "")), last)
	case arguments:
		return append(repeat(n, chunk(`{"functionCall":{"name":"write","args":{"path":"`+word+`"}},"thoughtSignature":"c2VhbGVk"}`, "")), last)
	}
	return append(repeat(n, chunk(`{"text":"`+word+`"}`, "")), last)
}

func ollamaWire(c content, n int) []string {
	line := func(message string) string {
		return `{"model":"m1","created_at":"2026-11-30T10:11:12.123456789Z","message":{"role":"assistant",` + message + `},"done":false}`
	}
	last := `{"model":"m1","created_at":"2026-11-30T10:11:12.123456789Z","message":{"role":"assistant","content":"."},"done":true,"done_reason":"stop","total_duration":1,"prompt_eval_count":9,"eval_count":9}`
	switch c {
	case thoughts:
		return append(repeat(n, line(`"content":"","thinking":"`+word+`"`)), last)
	case arguments:
		return append(repeat(n, line(`"content":"","tool_calls":[{"id":"call_%d","function":{"name":"write","arguments":{"path":"`+word+`"}}}]`)), last)
	}
	return append(repeat(n, line(`"content":"`+word+`"`)), last)
}
