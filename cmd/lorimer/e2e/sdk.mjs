// Drives an agent with the official client of the protocol and prints what it
// saw, one JSON object a line. usage: node sdk.mjs CWD COMMAND ARGS…
import * as acp from "@agentclientprotocol/sdk";
import { spawn } from "node:child_process";
import fs from "node:fs/promises";
import { Readable, Writable } from "node:stream";

const [cwd, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
const tell = (step, seen) => console.log(JSON.stringify({ step, ...seen }));

let answer = "allow_once"; // to a permission question; "silence" never answers
let asked = () => {};
let running = () => {}; // hears of a tool that begins to run
let updates = [];
const client = acp
	.client({ name: "e2e" })
	.onNotification(acp.methods.client.session.update, ({ params }) => {
		updates.push(params.update);
		if (params.update.status === "in_progress") running();
	})
	.onRequest(acp.methods.client.session.requestPermission, async ({ params, signal }) => {
		asked();
		if (answer === "silence") {
			await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
			return { outcome: { outcome: "cancelled" } };
		}
		const option = params.options.find((o) => o.kind === answer);
		return { outcome: { outcome: "selected", optionId: option.optionId } };
	})
	.onRequest(acp.methods.client.fs.readTextFile, async ({ params }) => ({ content: await fs.readFile(params.path, "utf8") }))
	.onRequest(acp.methods.client.fs.writeTextFile, async ({ params }) => {
		await fs.writeFile(params.path, params.content);
		return {};
	});

await client.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
	const method = acp.methods.agent;
	const prompt = (sessionId, text) => agent.request(method.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
	// Updates of the session come between turns and would make the kinds of one depend on timing.
	const between = ["available_commands_update", "config_option_update", "current_mode_update"];
	const kinds = () => [...new Set(updates.map((u) => u.sessionUpdate))].filter((k) => !between.includes(k)).sort();
	const turn = async (step, session, text) => {
		updates = [];
		const { stopReason } = await prompt(session, text);
		const calls = updates.filter((u) => u.toolCallId).map((u) => u.status).filter(Boolean);
		tell(step, { stopReason, kinds: kinds(), calls });
	};

	const init = await agent.request(method.initialize, {
		protocolVersion: acp.PROTOCOL_VERSION,
		clientInfo: { name: "e2e", version: "1" },
		clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false, session: { notices: {} } },
	});
	tell("initialize", { protocolVersion: init.protocolVersion, agent: init.agentInfo.name });

	const opened = await agent.request(method.session.new, { cwd, mcpServers: [] });
	const session = opened.sessionId;
	tell("new", { modes: opened.modes.availableModes.map((m) => m.id), options: opened.configOptions.map((o) => o.id) });

	await turn("read", session, "read notes.txt");
	await turn("write", session, "write made.txt: made by the client");
	answer = "reject_once";
	await turn("reject", session, "run touch refused.txt");

	answer = "silence";
	updates = [];
	asked = () => agent.notify(method.session.cancel, { sessionId: session });
	tell("cancel at a question", { stopReason: (await prompt(session, "run touch cancelled.txt")).stopReason });
	asked = () => {};

	answer = "allow_once";
	running = () => agent.notify(method.session.cancel, { sessionId: session });
	tell("cancel a command", { stopReason: (await prompt(session, "run sleep 60")).stopReason });
	running = () => {};

	const set = await agent.request(method.session.setConfigOption, { sessionId: session, configId: "mode", value: "auto" });
	tell("set_config_option", { mode: set.configOptions.find((o) => o.id === "mode").currentValue, options: set.configOptions.length });
	await agent.request(method.session.setMode, { sessionId: session, modeId: "ask" });
	await turn("after", session, "stream 5 words");

	for (const [step, name, params] of [
		["unknown method", "session/nothing", {}],
		["unknown session", method.session.prompt, { sessionId: "nothing", prompt: [{ type: "text", text: "x" }] }],
		["unknown mode", method.session.setMode, { sessionId: session, modeId: "nothing" }],
	]) {
		try {
			await agent.request(name, params);
			tell(step, { code: 0 });
		} catch (err) {
			tell(step, { code: err.code });
		}
	}
	await agent.request(method.session.close, { sessionId: session });
	tell("close", {});

	const where = { sessionId: session, cwd, mcpServers: [] };
	const ids = (list) => list.sessions.map((s) => s.sessionId === session);
	const listed = await agent.request(method.session.list, { cwd });
	tell("list", { ids: ids(listed), title: listed.sessions[0].title, dated: !Number.isNaN(Date.parse(listed.sessions[0].updatedAt)) });
	updates = [];
	const loaded = await agent.request(method.session.load, where);
	const calls = updates.filter((u) => u.sessionUpdate === "tool_call").map((u) => u.status);
	tell("load", { kinds: kinds(), calls, same: JSON.stringify(loaded.configOptions) === JSON.stringify(opened.configOptions) });
	const anchor = updates.filter((u) => u.sessionUpdate === "user_message_chunk")[1].messageId;
	await turn("after load", session, "stream 5 words");

	const forked = await agent.request("session/fork", { ...where, _meta: { "lorimer.dev": { messageId: anchor } } });
	updates = [];
	await agent.request(method.session.load, { ...where, sessionId: forked.sessionId });
	tell("fork", { users: new Set(updates.filter((u) => u.sessionUpdate === "user_message_chunk").map((u) => u.messageId)).size });
	await agent.request(method.session.delete, { sessionId: forked.sessionId });

	tell("title", await agent.request("session/set_title", { sessionId: session, title: " Notes\n" }));
	await agent.request("session/archive", { sessionId: session });
	tell("archive", {
		shown: ids(await agent.request(method.session.list, {})),
		archived: ids(await agent.request(method.session.list, { archived: "only" })),
		...(await agent.request("session/status", { sessionId: session })),
	});
	await agent.request("session/unarchive", { sessionId: session });
	updates = [];
	await agent.request(method.session.resume, where);
	tell("resume", { kinds: kinds(), ...(await agent.request("session/status", { sessionId: session })) });
	await agent.request(method.session.delete, { sessionId: session });
	tell("delete", { ids: ids(await agent.request(method.session.list, {})) });
});
child.stdin.end();
tell("exit", await exited);
