// Holds conversations with the clients of the vendors and prints what they make of
// the answers, one JSON object a conversation. It reads a list of them from the
// standard input: [{name, protocol, url, model, say, result}].
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { ContentFilterFinishReasonError, LengthFinishReasonError } from "openai/error";

const path = { type: "object", properties: { path: { type: "string" } } };
const names = ["grep", "read"];

// chat holds a conversation in chat completions.
async function chat({ url, model, say, result }, tell) {
	const client = new OpenAI({ baseURL: url, apiKey: "sk-test-123456", maxRetries: 0 });
	const tools = names.map((name) => ({ type: "function", function: { name, description: name, parameters: path } }));
	const messages = [{ role: "user", content: say }];
	for (;;) {
		const stream = client.chat.completions.stream({ model, messages, tools, stream_options: { include_usage: true } });
		const { choices, usage } = await whole(stream, () => stream.finalChatCompletion());
		const { message, finish_reason } = choices[0];
		const calls = message.tool_calls ?? [];
		tell({
			text: message.content ?? "",
			refusal: message.refusal ?? "",
			calls: calls.map((c) => ({ id: c.id ?? "", name: c.function.name, args: c.function.arguments })),
			stop: finish_reason,
			usage: usage && {
				input: usage.prompt_tokens,
				output: usage.completion_tokens,
				read: usage.prompt_tokens_details?.cached_tokens ?? 0,
				write: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
				reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
			},
		});
		if (calls.length === 0) return;
		messages.push({
			role: "assistant",
			content: message.content ?? null,
			tool_calls: calls.map(({ id, function: f }) => ({ id, type: "function", function: { name: f.name, arguments: f.arguments } })),
		});
		for (const c of calls) messages.push({ role: "tool", tool_call_id: c.id, content: result });
	}
}

// whole returns the completion even where the client throws for its reason to end.
async function whole(stream, final) {
	try {
		return await final();
	} catch (err) {
		if (!(err instanceof LengthFinishReasonError || err instanceof ContentFilterFinishReasonError)) throw err;
		return stream.currentChatCompletionSnapshot;
	}
}

// responses holds a conversation in Responses.
async function responses({ url, model, say, result }, tell) {
	const client = new OpenAI({ baseURL: url, apiKey: "sk-test-123456", maxRetries: 0 });
	const tools = names.map((name) => ({ type: "function", name, description: name, parameters: path, strict: false }));
	const input = [{ role: "user", content: say }];
	for (;;) {
		const stream = client.responses.stream({ model, input, tools, store: false, include: ["reasoning.encrypted_content"] });
		const { output, usage, status, incomplete_details } = await stream.finalResponse();
		const of = (type) => output.filter((item) => item.type === type);
		const content = of("message").flatMap((m) => m.content);
		const calls = of("function_call");
		tell({
			text: content.map((c) => c.text ?? "").join(""),
			refusal: content.map((c) => c.refusal ?? "").join(""),
			think: of("reasoning").flatMap((r) => r.summary).map((s) => s.text).join(""),
			calls: calls.map((c) => ({ id: c.call_id, name: c.name, args: c.arguments })),
			stop: incomplete_details?.reason ?? status,
			usage: usage && {
				input: usage.input_tokens,
				output: usage.output_tokens,
				read: usage.input_tokens_details.cached_tokens,
				write: usage.input_tokens_details.cache_write_tokens,
				reasoning: usage.output_tokens_details.reasoning_tokens,
			},
		});
		if (calls.length === 0) return;
		for (const { parsed_arguments, ...item } of output) {
			for (const part of item.content ?? []) delete part.parsed;
			input.push(item);
		}
		for (const c of calls) input.push({ type: "function_call_output", call_id: c.call_id, output: result });
	}
}

// messages holds a conversation with Anthropic's client.
async function messages({ url, model, say, result }, tell) {
	const client = new Anthropic({ baseURL: url, apiKey: "sk-ant-123456", maxRetries: 0 });
	const tools = names.map((name) => ({ name, description: name, input_schema: path }));
	const history = [{ role: "user", content: say }];
	for (;;) {
		const stream = client.messages.stream({ model, max_tokens: 4096, messages: history, tools });
		const { content, stop_reason, usage } = await stream.finalMessage();
		const of = (type) => content.filter((b) => b.type === type);
		const calls = of("tool_use");
		const read = usage?.cache_read_input_tokens ?? 0;
		const write = usage?.cache_creation_input_tokens ?? 0;
		tell({
			text: of("text").map((b) => b.text).join(""),
			think: of("thinking").map((b) => b.thinking).join(""),
			redacted: of("redacted_thinking").length,
			calls: calls.map((b) => ({ id: b.id, name: b.name, args: JSON.stringify(b.input) })),
			stop: stop_reason,
			usage: usage?.input_tokens && {
				input: usage.input_tokens + read + write,
				output: usage.output_tokens,
				read,
				write,
				reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
			},
		});
		if (calls.length === 0) return;
		const known = ["text", "thinking", "redacted_thinking", "tool_use"];
		history.push({ role: "assistant", content: content.filter((b) => known.includes(b.type)) });
		history.push({ role: "user", content: calls.map((b) => ({ type: "tool_result", tool_use_id: b.id, content: result })) });
	}
}

const hold = { "openai-chat": chat, "openai-responses": responses, anthropic: messages };
let input = "";
for await (const piece of process.stdin) input += piece;
for (const talk of JSON.parse(input)) {
	const answers = [];
	let error = "";
	try {
		await hold[talk.protocol](talk, (answer) => answers.push(answer));
	} catch (err) {
		error = String(err.message ?? err);
	}
	console.log(JSON.stringify({ name: talk.name, answers, error }));
}
