import { expect, test } from "bun:test";
import type { ModelScripts } from "./script.ts";
import { type ModelServer, startModelServer } from "./server.ts";

const voteTool = (ids: readonly string[]) => ({
  type: "function",
  name: "vote",
  parameters: { properties: { agent_id: { type: "string", enum: ids } } },
});
const workflowTools = [{ type: "function", name: "new_answer", parameters: {} }, voteTool(["agent1", "agent2"])];
const conversation = "<CURRENT ANSWERS from the agents>\n<agent1.1> five <end of agent1.1>\n<agent2.1> four <end of agent2.1>";

async function post(server: ModelServer, path: string, body: Readonly<Record<string, unknown>>, key = "k") {
  const headers = { authorization: `Bearer ${key}` };
  return fetch(`${server.baseUrl}${path}`, { method: "POST", headers, body: JSON.stringify({ model: "m", stream: true, ...body }) });
}

async function respond(scripts: ModelScripts, input: string, tools: readonly unknown[] = workflowTools): Promise<string> {
  await using server = startModelServer(scripts);
  return (await post(server, "/responses", { input: [{ role: "user", content: input }], tools })).text();
}

test("a model goes through its turns, and the last one repeats", async () => {
  await using server = startModelServer({ m: [{ answer: "four" }, { vote: "agent_b" }] });
  for (const _ of [1, 2, 3]) await (await post(server, "/responses", { input: "Hi", tools: workflowTools })).text();
  expect(server.requests.map((request) => request.turn)).toEqual([{ answer: "four" }, { vote: "agent_b" }, { vote: "agent_b" }]);
  expect(server.requests[0]).toMatchObject({ model: "m", key: "k", voteEnum: ["agent1", "agent2"], text: "\nHi\n" });
});

test("a script may belong to a key", async () => {
  await using server = startModelServer({ m: [{ text: "by model" }], "key:other": [{ text: "by key" }] });
  expect(await (await post(server, "/responses", { tools: workflowTools }, "other")).text()).toContain("by key");
});

test("requests without workflow tools use up no turn", async () => {
  await using server = startModelServer({ m: [{ answer: "four" }] });
  await (await post(server, "/responses", { input: "Summarise" })).text();
  await (await post(server, "/responses", { input: "Hi", tools: workflowTools })).text();
  expect(server.requests.map((request) => request.turn)).toEqual([null, { answer: "four" }]);
});

test("an obedient model votes for the label of the answer that it prefers", async () => {
  expect(await respond({ m: [{ vote: { preferring: "four" } }] }, conversation)).toContain('\\"agent_id\\":\\"agent2\\"');
});

test("an obedient model takes what the enum offers when its favourite is not in it", async () => {
  const text = await respond({ m: [{ vote: { preferring: "four" } }] }, "<agent_b> four <end of agent_b>", [voteTool(["agent1"])]);
  expect(text).toContain('\\"agent_id\\":\\"agent1\\"');
});

test("a disobedient model votes for the id that it is told", async () => {
  expect(await respond({ m: [{ vote: "agent_b" }] }, conversation)).toContain('\\"agent_id\\":\\"agent_b\\"');
});

test("chat completions stream the same turns, with usage", async () => {
  await using server = startModelServer({ m: [{ answer: "four", usage: { input: 7, output: 3 } }] });
  const tools = [{ type: "function", function: { name: "new_answer", parameters: {} } }];
  const text = await (await post(server, "/chat/completions", { messages: [], tools })).text();
  expect(text).toContain('"name":"new_answer"');
  expect(text).toContain('"prompt_tokens":7,"completion_tokens":3');
  expect(text).toEndWith("data: [DONE]\n\n");
});

const fileTools = ["mcp__filesystem__write_file", "mcp__filesystem__read_text_file"].map((name) => ({
  type: "function",
  name,
  parameters: {},
}));

test("files are read where the conversation says they are, and what was read can be written", async () => {
  await using server = startModelServer({
    m: [{ read: [{ at: "files in (\\S+)", name: "/a.txt" }] }, { write: { "b.txt": "{{1}} and {{2}}" } }],
  });
  const tools = [...workflowTools, ...fileTools];
  const ask = async (input: unknown) => (await post(server, "/responses", { input, tools })).text();
  const task = { role: "user", content: "its files in /some/place" };
  expect(await ask([task])).toContain('\\"path\\":\\"/some/place/a.txt\\"');
  const read = { type: "function_call_output", call_id: "1", output: "what a.txt says" };
  expect(await ask([task, read])).toContain('\\"content\\":\\"what a.txt says and (nothing)\\"');
});

test("a turn whose file tool is not there yet waits for it", async () => {
  await using server = startModelServer({ m: [{ write: { "a.txt": "A" } }, { answer: "four" }] });
  for (const more of [[], fileTools, []]) await (await post(server, "/responses", { tools: [...workflowTools, ...more] })).text();
  expect(server.requests.map(({ turn }) => Object.keys(turn ?? {}))).toEqual([["write"], ["write"], ["answer"]]);
});

test("a turn whose file call brought an error is played again", async () => {
  await using server = startModelServer({ m: [{ write: { "a.txt": "A" } }, { answer: "four" }] });
  const tools = [...workflowTools, ...fileTools];
  for (const output of [null, "Error: Tool call timed out after 30 seconds", "Successfully wrote to a.txt"]) {
    const input = output === null ? [] : [{ type: "function_call_output", call_id: "1", output }];
    await (await post(server, "/responses", { tools, input })).text();
  }
  expect(server.requests.map(({ turn }) => Object.keys(turn ?? {}))).toEqual([["write"], ["write"], ["answer"]]);
});

test("a refused request has the status and body of a provider's error", async () => {
  await using server = startModelServer({ m: [{ status: 429 }] });
  const response = await post(server, "/responses", { tools: workflowTools });
  expect(response.status).toBe(429);
  expect(await response.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
});

test("a cut stream ends without its last event", async () => {
  const text = await respond({ m: [{ answer: "four", cut: true }] }, "Hi");
  expect(text).toContain("response.function_call_arguments.done");
  expect(text).not.toContain("response.completed");
});

test("a turn that is held goes on when it is released", async () => {
  await using server = startModelServer({ m: [{ answer: "four", hold: "gate" }] });
  const response = post(server, "/responses", { tools: workflowTools });
  await server.held("gate");
  server.release("gate");
  expect(await (await response).text()).toContain("four");
});
