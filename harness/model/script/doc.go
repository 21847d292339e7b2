// Package script is a model that says what a file tells it to (R-CMD-03).
//
// The file is JSON Lines; each line is an answer and the requests it fits:
//
//	{"match": {"kind": "main", "session": "s1", "contains": "hello"},
//	 "think": ["hm"], "text": ["Hel", "lo."], "delay_ms": 20,
//	 "tools": [{"name": "read", "args": {"path": "a.txt"}}],
//	 "usage": {"input": 100, "output": 7, "cache_read": 64}, "stop": "stop",
//	 "error": {"status": 503, "retryable": true}, "fail_build": 1, "repeat": 2}
//
// A request gets the first line that fits it and is not used up. A line is used
// up after one answer, after N with "repeat": N, never with "repeat": true.
//
//   - kind is "main" where it is left out; "*" fits every kind.
//   - contains looks at the text of the last message, tool results included.
//   - text and think are the pieces in which the answer arrives, thoughts first;
//     a single string is one piece. delay_ms passes before each piece and each
//     call of a tool.
//   - args is an object, or a string that arrives as it is, valid JSON or not.
//     A call may have an "id"; without one the calls of a script count up.
//   - stop is stop, tool_calls, length, context, refusal or pause; without it the
//     answer ends with tool_calls if it has tools, else with stop.
//   - error fails the request after the pieces of the line, if it has any. It
//     may add "kind" (a kind of [model.Error]), "message", and "retry_after" in
//     seconds. Status 0 is a broken connection.
//   - fail_build makes [Script.Open] fail once, or as often as it says, when the
//     lines before it that answer main requests are used up.
//
// A key that is not listed is an error with its line.
package script
