// Command mcpstub is the MCP server that tests drive (R-CMD-09): a good one by
// default, and by its flags one that is wrong in a way that servers have been. It is
// written without a library of the protocol, so that it can be wrong.
//
// It speaks on standard input and output, or with -http and -sse at an address of which
// it tells the URL in its first line of output, as {"url": "http://…"}. With -revision 2026-07-28 it has no
// handshake. It ends when its input does; calls that run have 300 ms then.
//
// # Flags
//
//	-mode NAME[,NAME…]  misbehaviours, see below; may be given again
//	-log FILE           appends a line of JSON for each event: "start" (args, env, dir,
//	                    start: its number), "message" (message, or text if it is no
//	                    JSON), "cancelled" (id), "grandchild" (child), "signal" (signal),
//	                    "end" (code, why); each with event, pid and time
//	-state FILE         counts the starts, a byte for each
//	-fail-starts N      the first N starts end with exit code 1 before they read
//	-bad-starts N       the modes hold for the first N starts alone
//	-scenario FILE      {"tools": […], "results": {"NAME": …}}: the tools in place of the
//	                    usual ones, and the raw results of tools
//	-tools N            so many more tools, tool_1 and on, which return their arguments
//	-tool NAME          one more of those; may be given again
//	-name X             the name that the server tells
//	-instructions TEXT  its instructions
//	-delay D            sleeps before it reads; with a slow mode, what that takes
//	-revision R         the newest revision of the protocol; default 2025-11-25
//	-http ADDR          serves streamable HTTP, on an address such as 127.0.0.1:0
//	-sse ADDR           serves HTTP with server-sent events of 2024-11-05
//	-token T            with http-401: the credential; default secret-token
//	-count N            with modes of HTTP that have an N; default 1
//	-redirect URL       with http-redirect: where to
//
// # Tools
//
//	echo {text}                 the text
//	add {a, b}                  the sum (read-only)
//	env {}                      the environment, sorted, a variable a line
//	sleep {ms}                  progress ten times; hears a cancellation
//	image {}                    a PNG of one point (read-only)
//	big {bytes}                 so many bytes of numbered lines (read-only)
//	die {code}                  ends the process inside the call; 3 by default
//	ask {message, url}          elicits a name, or a visit; returns the answer as JSON
//	sample {prompt}             has the client's model answer; returns the answer as JSON
//	roots {}                    the client's roots as JSON (read-only)
//	fail {text}                 an error of the tool
//	kinds {}                    a block of every kind and of an unknown one (read-only)
//	structured {}               structured content, and the same as text (read-only)
//	change {tools, fail}        with mode listchange: replaces the other tools by those,
//	                            fails later lists if fail, and tells of it
//	task {ms, text, fail}       with mode tasks: can only be called as a task
//
// The prompt greet {name, tone}; the resources memo://1 and memo://picture, and the
// template memo://{n} for n of 1 to 999.
//
// # Modes of the process
//
//	die-at-start        exits with 1 and a reason on standard error
//	die-in-init         exits with 2 at the first request
//	die-in-list         exits with 5 at tools/list
//	die-idle            exits with 7 shortly after the beginning (300 ms, or -delay)
//	die-midcall         exits with 3 at tools/call
//	half-line           exits with 4 in the middle of the answer to tools/call
//	grandchild          has a child that holds its standard output and error
//	grandchild-die      the same, and exits with 0 shortly after the beginning
//	launcher            has a child that serves, and exits with 0
//	sleeper             does nothing for ten minutes
//	never-exit          ignores the end of its input
//	ignore-term         ignores that and SIGTERM
//	stop-reading        reads nothing after the first tools/list
//	close-stdout        closes its output shortly after the beginning and lives on
//	stderr-flood-start  writes 20 MB to standard error at its start
//	stderr-flood        writes 50 MB to standard error in each call
//
// # Modes of the lines
//
//	junk                lines that are no messages, before and between
//	junk-flood          200,000 of them at the start
//	glued               every other message has text in front
//	pretty              messages take several lines
//	batch               each message comes in an array, behind a notification
//	crlf, bom           line ends and a beginning like those of Windows
//	split               messages come in two pieces
//	infinite-line       600 MB without a line end, shortly after the start
//	big                 20 MB of result
//
// # Modes of the messages
//
//	string-id           the id of an answer is a text
//	float-id            or a number with a fraction
//	null-id             the first request gets an error without an id
//	null-id-call        tools/call does
//	wrong-id            before each answer comes one to what nobody asked
//	dup                 each answer comes three times
//	no-jsonrpc          answers lack "jsonrpc"
//	error-string        the error of tools/call is a text
//	error-null          answers have a result and null as error
//	notif-flood         100,000 notifications before the answer to tools/call
//	ping-first          pings before the first answer
//	ping-wait           pings, and waits for the answer, in each call
//	elicit              asks for three things in a call, one unknown, and does not wait
//	ask-flood           asks for the roots 2000 times in a call, and does not wait
//	answer-cancelled    answers what was cancelled
//	never-init          never answers
//	never               never answers tools/call
//	slow                answers it after 2 s, or -delay
//	slow-init           answers the first request after 8 s, or -delay
//
// # Modes of the beginning
//
//	crash-on-discover   exits with 1 at server/discover
//	silent-discover     never answers it
//	discover-empty      answers it with {}
//	discover-zero       answers it with the error 0
//	dual                with -revision 2026-07-28: knows the handshake too
//	future-version      tells a revision that does not exist yet
//	odd-version         tells one that never was
//
// # Modes of lists and results
//
//	no-tools            has none, and says so
//	list-hang           never answers tools/list
//	list-error          answers it with an error
//	fail-list           does so from the second time on
//	cursor-loop         every page has another behind it
//	cursor-same         every page has itself behind it
//	pages               five tools a page
//	listchange          has the tool change
//	late-tools          has one more tool, late, shortly after the beginning
//	change-storm        tells of a change 200 times, shortly after the beginning
//	tools:VARIANT       a list that is a little off, see variants.json
//	result:VARIANT      a result that is, of every tool
//	tasks               has the tool task
//	ask-twice           with 2026-07-28: ask wants a second answer
//	no-meta             with 2026-07-28: results lack what every result has
//
// # Modes of HTTP
//
//	http-401            wants Authorization: Bearer and the -token
//	http-403            refuses every request
//	http-429            answers the first N requests with that, and Retry-After: 1 or -delay
//	http-503            answers the first N with that
//	http-redirect       redirects every request to -redirect (307)
//	http-drop-session   forgets a session at the call after the N-th
//	http-cut            breaks the stream of the first N calls before the answer
//	http-no-get         has no stream of its own (405)
//	http-stream         answers every request with a stream
//	listen              tells changes to those who have asked for a stream of them alone
package main
