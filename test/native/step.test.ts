import { describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createCostReader } from "../../src/engine/massgen/cost.ts";
import { readSession } from "../../src/native/peers.ts";
import { type StepCost, unknownCost } from "../../src/types.ts";
import { createSession, type StepOptions, type StepOutcome, type TestSession } from "./support.ts";
import { type Act, type SeenRequest, startWireServer } from "./wire/server.ts";
import { wires } from "./wire/wire.ts";

// Several steps each, on machines that have other things to do.
setDefaultTimeout(60_000);

const [wire] = wires;
if (wire === undefined) throw new Error("no wire");

const call = (name: string, args: Readonly<Record<string, unknown>>) => ({ name, arguments: args });
const answer = (content: string): Act => ({ calls: [call("new_answer", { content })] });
const vote = (label: string): Act => ({ calls: [call("vote", { agent_id: label, reason: "good" })] });

type Acts = Parameters<typeof startWireServer>[1];
type Outcome = StepOutcome & { readonly requests: readonly SeenRequest[] };

async function step(session: TestSession, acts: Acts, options: Partial<StepOptions> = {}): Promise<Outcome> {
  await using server = startWireServer(wire as NonNullable<typeof wire>, acts);
  const outcome = await session.step({ type: "openai", baseUrl: server.baseUrl, ...options });
  return { ...outcome, requests: server.requests };
}

const glob = (cwd: string, pattern: string) => globSync(pattern, { cwd }).length > 0;
const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");
const events = (stdout: string) => linesOf(stdout).map((line): { event_type: string; data: Record<string, unknown> } => JSON.parse(line));

/** What the model was told in its last request. */
const lastWords = ({ requests }: Outcome) => JSON.stringify(((requests.at(-1)?.body.input ?? []) as unknown[]).slice(-4));

describe("the contract (massgen.md)", () => {
  test("status lines come in MassGen's order: on stderr beside events, else on stdout", async () => {
    await using session = createSession();
    const [one, two] = [await step(session, [answer("Four")]), await step(session, [answer("4")], { streamEvents: false })];
    for (const text of [one.stderr, two.stdout]) {
      const lines = linesOf(text);
      expect(lines.map((line) => line.split(" ", 1)[0])).toEqual(["LOG_DIR:", "STATUS:", "SESSION_DIR:", "ACTION:", "STATUS:"]);
      expect(lines[1]).toBe(`${lines[0]?.replace("LOG_DIR", "STATUS")}/turn_1/attempt_1/status.json`);
      expect(lines.slice(2)).toEqual([
        `SESSION_DIR: ${session.path}`,
        "ACTION: new_answer",
        `STATUS: ${session.path}/agents/agent_a/last_action.json`,
      ]);
    }
    expect(two.stderr).toBe("");
    expect(events(one.stdout).map(({ event_type }) => event_type)).toEqual(["round_start", "tool_start", "answer_submitted", "round_end"]);
  });

  test("event lines have MassGen's fields, tell of tools, and stay short whatever the model writes", async () => {
    await using session = createSession();
    const long = "x".repeat(200_000);
    const { stdout } = await step(session, [
      { text: "Thinking.", calls: [call("write_file", { path: "a.txt", content: long })] },
      answer(long),
    ]);
    const [first] = events(stdout);
    expect(Object.keys(first ?? {})).toEqual(["timestamp", "event_type", "agent_id", "round_number", "data"]);
    expect(events(stdout).filter(({ event_type }) => event_type === "tool_complete")[0]?.data).toMatchObject({
      tool_name: "write_file",
      is_error: false,
    });
    for (const line of linesOf(stdout)) expect(line.length).toBeLessThan(8192);
  });

  test("cost is kept where MassGen keeps it, while the step runs and at its end", async () => {
    await using session = createSession();
    let attempt = "";
    let status = "";
    const look = (): Act => {
      const [log] = readdirSync(session.temp.join("run_agent_a/.massgen/massgen_logs"));
      attempt = session.temp.join("run_agent_a/.massgen/massgen_logs", log ?? "", "turn_1/attempt_1");
      status = readFileSync(join(attempt, "status.json"), "utf8");
      return answer("Four");
    };
    await step(session, [{ calls: [call("list_files", {})] }, look], { config: "price: { input: 3, output: 15 }\n" });
    expect(JSON.parse(status).costs).toEqual({
      total_input_tokens: 1000,
      total_output_tokens: 100,
      total_estimated_cost: 0.0045,
      priced: true,
      open_request: true,
    });
    expect(JSON.parse(readFileSync(join(attempt, "metrics_summary.json"), "utf8")).totals).toEqual({
      input_tokens: 2000,
      output_tokens: 200,
      estimated_cost: 0.009,
      priced: true,
    });
    expect(session.read("agent_a/last_action.json")?.cost).toEqual({ input_tokens: 2000, output_tokens: 200, estimated_cost: 0.009 });
  });

  test("an unknown price is left out of last_action.json, and 0 with tokens elsewhere, as MassGen has it; what is free is said to be", async () => {
    for (const [config, usd] of [
      ["", null],
      ["price: { input: 0, output: 0 }\n", 0],
    ] as const) {
      await using session = createSession();
      await step(session, [answer("Four")], { config });
      const shown = usd === null ? {} : { estimated_cost: usd };
      expect(session.read("agent_a/last_action.json")?.cost).toEqual({ input_tokens: 1000, output_tokens: 100, ...shown });
      const read = createCostReader(session.temp.join("run_agent_a"), "agent_a", null).readLast();
      expect(read).toEqual({ usd, inputTokens: 1000, outputTokens: 100 });
    }
  });

  test("a request under way is written down: a step that is killed over it has cost more than it counted", async () => {
    await using session = createSession();
    const seen: (StepCost | null)[] = [];
    const look = (): Act => {
      const reader = createCostReader(session.temp.join("run_agent_a"), "agent_a", null);
      seen.push(reader.read(), reader.readLast());
      return seen.length > 2 ? answer("Four") : { calls: [call("list_files", {})] };
    };
    await step(session, [look, look], { config: "price: { input: 3, output: 15 }\n" });
    const [before, killedBefore, between, killedBetween] = seen;
    expect([before, killedBefore]).toEqual([{ usd: 0, inputTokens: 0, outputTokens: 0 }, unknownCost]);
    expect(between).toEqual({ usd: 0.0045, inputTokens: 1000, outputTokens: 100 });
    expect(killedBetween).toEqual({ usd: 0.0045, inputTokens: 1000, outputTokens: 100, incomplete: true });
    const last = createCostReader(session.temp.join("run_agent_a"), "agent_a", null).readLast();
    expect(last).toEqual({ usd: 0.009, inputTokens: 2000, outputTokens: 200 });
  });

  test("the next step of an agent has the next number, and last_action.json tells of it", async () => {
    await using session = createSession();
    session.answer("agent_a", 7, "Old");
    await step(session, [answer("New")]);
    expect(session.files()).toContain("agent_a/008/answer.json");
    expect(session.read("agent_a/last_action.json")).toMatchObject({
      agent_id: "agent_a",
      action: "new_answer",
      answer_text: "New",
      vote_target: null,
      step_number: 8,
      workspace_path: null,
    });
  });

  test("the session directory may be missing, and the criteria and the context reach the model", async () => {
    await using session = createSession();
    const docs = session.temp.join("docs");
    mkdirSync(docs);
    const { code, requests } = await step(session, [answer("Four")], {
      criteria: JSON.stringify([{ text: "Every claim has a source", category: "primary", anti_patterns: ["hearsay"] }]),
      config: `orchestrator:\n  context_paths: [{ path: ${docs}, permission: read }]\n`,
    });
    expect(code).toBe(0);
    expect(requests[0]?.text).toContain("(primary) Every claim has a source. Faults: hearsay.");
    expect(requests[0]?.text).toContain(`${docs} (read only)`);
  });

  test("what is wrong with config, criteria, key or task ends in exit 1, before anything is sent", async () => {
    await using session = createSession();
    const cases: readonly [Partial<StepOptions>, string, string][] = [
      [{ type: "azure_openai" }, "config", "the native engine has no backend of type"],
      [{ type: "opena" }, "config", "Did you mean openai?"],
      [{ backend: "      api_key: ${NO_SUCH_VARIABLE}\n" }, "config", "NO_SUCH_VARIABLE, which is not set"],
      [{ criteria: "[]" }, "config", "there are no criteria in it"],
      [{ query: " \n" }, "config", "a step needs a task"],
      [{ agent: "../x" }, "config", "cannot be the name of a directory"],
    ];
    for (const [options, failureClass, words] of cases) {
      const outcome = await step(session, [answer("Four")], options);
      expect(outcome).toMatchObject({ code: 1, failureClass });
      expect(outcome.message).toContain(words);
      expect(outcome.requests).toEqual([]);
    }
  });

  test("without a key there is a server of one's own, or a failure that names the variable", async () => {
    await using session = createSession();
    expect((await step(session, [answer("Four")], { env: {} })).code).toBe(0);
    const outcome = await session.step({ type: "claude", baseUrl: "", env: {} });
    expect(outcome).toMatchObject({ code: 1, failureClass: "auth", message: "there is no API key for claude/m: set ANTHROPIC_API_KEY" });
  });
});

describe("what a voter has seen", () => {
  test("is what there was at its start: a peer that answers meanwhile is not in seen_steps", async () => {
    await using session = createSession();
    session.answer("agent_b", 1, "Four");
    const meanwhile = (): Act => {
      session.answer("agent_b", 2, "Five");
      session.answer("agent_c", 1, "Six");
      return vote("agent1");
    };
    const { requests } = await step(session, [meanwhile]);
    expect(session.read("agent_a/001/vote.json")).toMatchObject({ target: "agent_b", seen_steps: { agent_b: 1 } });
    expect(requests[0]?.text).not.toContain("Five");
  });

  test("is what it was shown, also when a peer answers while it reads", async () => {
    await using session = createSession();
    session.answer("agent_b", 1, "old");
    session.answer("agent_c", 1, "\n");
    const { candidates, seenSteps } = readSession(session.path, (items) => {
      session.answer("agent_b", 2, "new");
      session.answer("agent_c", 2, "new");
      session.answer("agent_d", 1, "new");
      return items;
    });
    expect(candidates.map(({ agent, step, text }) => [agent, step, text])).toEqual([["agent_b", 1, "old"]]);
    expect(seenSteps).toEqual({ agent_b: 1, agent_c: 1 });
  });

  test("are each agent's newest answers, its own among them, and no votes", async () => {
    await using session = createSession();
    session.answer("agent_a", 1, "Mine");
    session.answer("agent_b", 1, "Older");
    session.answer("agent_b", 3, "Newer");
    session.vote("agent_c", 1, "agent_b");
    const { requests } = await step(session, [vote("agent1")]);
    expect(requests[0]?.text).toContain("Mine");
    expect(requests[0]?.text).toContain("Newer");
    expect(requests[0]?.text).not.toContain("Older");
    expect(session.read("agent_a/002/vote.json")?.seen_steps).toEqual({ agent_a: 1, agent_b: 3 });
  });

  test("leaves out an agent whose newest answer is blank, but counts it as seen", async () => {
    await using session = createSession();
    session.answer("agent_b", 1, "Four");
    session.answer("agent_c", 1, "Five");
    session.answer("agent_c", 2, " ");
    const { requests } = await step(session, [vote("agent1")]);
    expect(requests[0]?.text).not.toContain("Five");
    expect(session.read("agent_a/001/vote.json")).toMatchObject({ target: "agent_b", seen_steps: { agent_b: 1, agent_c: 2 } });
  });

  test("files that nobody can read keep no native agent from working", async () => {
    await using session = createSession();
    session.temp.write("session/agents/agent_b/001/answer.json", new Uint8Array([0x7b, 0xe9, 0x7d]));
    session.temp.write("session/agents/agent_c/001/answer.json", '{"answer": ["a"]}');
    session.answer("agent_d", 1, "Four");
    expect((await step(session, [vote("agent1")])).code).toBe(0);
    expect(session.read("agent_a/001/vote.json")?.target).toBe("agent_d");
  });

  test("is offered under labels that are dealt anew, and there is no vote while nobody has answered", async () => {
    await using session = createSession();
    const tools = ({ body }: SeenRequest) =>
      body.tools as { name: string; parameters: { properties: { agent_id?: { enum: string[] } } } }[];
    const first = await step(session, [answer("Four")], { agent: "agent_b" });
    expect(tools(first.requests[0] as SeenRequest).map(({ name }) => name)).not.toContain("vote");
    for (const agent of ["agent_c", "agent_d", "agent_e"]) session.answer(agent, 1, `Answer of ${agent}`);
    const orders = new Set<string>();
    for (let round = 0; round < 12 && orders.size < 2; round++) {
      const { requests } = await step(session, [vote("agent1")]);
      const offered = tools(requests[0] as SeenRequest).find(({ name }) => name === "vote");
      expect(offered?.parameters.properties.agent_id?.enum).toEqual(["agent1", "agent2", "agent3", "agent4"]);
      orders.add([...(requests[0]?.text ?? "").matchAll(/Answer of (\w+)/g)].map(([, agent]) => agent).join());
    }
    expect(orders.size).toBe(2);
  });
});

describe("what a model does wrong it is told, and may try again", () => {
  test("a blank answer is refused", async () => {
    await using session = createSession();
    const outcome = await step(session, [answer(" \u200b\n"), answer("Four")]);
    expect(outcome.code).toBe(0);
    expect(lastWords(outcome)).toContain("the answer is blank");
    expect(session.files().filter((path) => path.endsWith("answer.json"))).toEqual(["agent_a/001/answer.json"]);
  });

  test("and again, until it has been refused too often", async () => {
    await using session = createSession();
    const outcome = await step(session, [answer("")]);
    expect(outcome).toMatchObject({ code: 2, failureClass: "empty" });
    expect(outcome.requests.length).toBeLessThan(10);
    expect(session.files()).toEqual([]);
  });

  test("a vote for nobody, for a name that it cannot know, or for everybody", async () => {
    await using session = createSession();
    session.answer("agent_b", 1, "Four");
    for (const wrong of ["agent2", "agent_b", "", "agent1.2", "constructor"]) {
      const outcome = await step(session, [vote(wrong), vote(" Agent1 ")]);
      expect(outcome.code).toBe(0);
      expect(lastWords(outcome)).toContain("is none of the answers; agent_id must be agent1");
    }
    expect(session.read("agent_a/005/vote.json")?.target).toBe("agent_b");
  });

  test("an answer and a vote, or two votes, in one reply", async () => {
    await using session = createSession();
    session.answer("agent_b", 1, "Four");
    const both: Act = { calls: [call("new_answer", { content: "Five" }), call("vote", { agent_id: "agent1", reason: "" })] };
    const outcome = await step(session, [both, vote("agent1")]);
    expect(outcome.code).toBe(0);
    expect(lastWords(outcome)).toContain("call exactly one of new_answer and vote");
    expect(session.files().filter((path) => path.startsWith("agent_a"))).toEqual(["agent_a/001/vote.json", "agent_a/last_action.json"]);
  });

  test("an answer beside a file that could not be written", async () => {
    await using session = createSession();
    const outcome = await step(session, [
      { calls: [call("write_file", { path: "../x", content: "" }), call("new_answer", { content: "See x" })] },
      answer("Four"),
    ]);
    expect(lastWords(outcome)).toContain("another call of the same reply failed, so nothing was submitted");
    expect(session.read("agent_a/001/answer.json")?.answer).toBe("Four");
  });

  test("tools that do not exist, and arguments that are no JSON", async () => {
    await using session = createSession();
    const outcome = await step(session, [{ calls: [call("run_command", { command: "ls" })] }, answer("Four")]);
    expect(outcome.code).toBe(0);
    expect(lastWords(outcome)).toContain("run_command");
  });

  test("words without a call, which nobody sees; a model that only talks brings no action", async () => {
    await using session = createSession();
    const outcome = await step(session, [{ text: "The answer is four." }, answer("Four")]);
    expect(lastWords(outcome)).toContain("call new_answer or vote");
    const talker = await step(session, [{ text: "The answer is four." }]);
    expect(talker).toMatchObject({ code: 2, failureClass: "no_action" });
    expect(talker.requests.map(({ body }) => body.tool_choice)).toEqual(["auto", "auto", "required", "required"]);
  });
});

describe("limits have names", () => {
  const busy: Act = { calls: [call("list_files", {})] };

  test("the results of one reply: what goes beyond is not run, and can be asked for again", async () => {
    await using session = createSession();
    session.answer("agent_b", 1, "See it", { "big.txt": "0123456789".repeat(50_000) });
    const reads = Array.from({ length: 60 }, (_, index) => call("read_file", { path: "@agent1/big.txt", offset: index }));
    const { code, requests } = await step(session, [
      { calls: [...reads, call("write_file", { path: "a", content: "b" })] },
      { calls: [call("read_file", { path: "@agent1/big.txt", length: 10 })] },
      vote("agent1"),
    ]);
    expect(code).toBe(0);
    expect(requests[1]?.text.length).toBeLessThan(300_000);
    expect(requests[1]?.text.match(/this call was not run/g)?.length).toBe(56);
    expect(requests[2]?.text.length).toBeLessThan(301_000);
    expect(session.files()).toContain("agent_a/001/vote.json");
  });

  test("turns: near the end only an answer or a vote is left to do", async () => {
    await using session = createSession();
    const outcome = await step(session, [busy], { limits: { turns: 6 } });
    expect(outcome).toMatchObject({ code: 2, failureClass: "no_action", message: "no answer and no vote in 6 turns (limits: turns)" });
    const offered = outcome.requests.map(({ body }) => (body.tools as { name: string }[]).map(({ name }) => name));
    expect(offered[0]).toContain("write_file");
    expect(offered[5]).toEqual(["new_answer"]);
    expect(lastWords(outcome)).toContain("You are near the limit of this step: 1 reply left");
  });

  test("output_tokens", async () => {
    await using session = createSession();
    const outcome = await step(session, [busy], { limits: { output_tokens: 250 } });
    expect(outcome).toMatchObject({ code: 2, message: "no answer and no vote in 300 tokens of output (limits: output_tokens)" });
  });

  test("seconds", async () => {
    await using session = createSession();
    const outcome = await step(session, [{ hang: true }], { limits: { seconds: 0.2 } });
    expect(outcome).toMatchObject({ code: 3, failureClass: "timeout" });
    expect(outcome.message).toContain("limits: seconds");
    expect(session.files()).toEqual([]);
  });
});

describe("a step appears whole or not at all", () => {
  test("one that is ended from outside writes nothing and exits 4", async () => {
    await using session = createSession();
    let stop: (cause: string) => void = () => {};
    const end = (): Act => {
      stop("SIGTERM");
      return answer("Four");
    };
    const outcome = await step(session, [{ calls: [call("write_file", { path: "a", content: "b" })] }, end], {
      stopper: (callback) => {
        stop = callback;
      },
    });
    expect(outcome).toMatchObject({ code: 4, failureClass: "killed", message: "ended by SIGTERM" });
    expect(session.files()).toEqual([]);
  });

  test("one that has decided is not stopped any more: what was paid for is delivered, with its files", async () => {
    for (const when of [".massgen/**/metrics_summary.json", ".massgen/workspaces/*/a/b.txt"]) {
      await using session = createSession();
      let stop: ((cause: string) => void) | null = null;
      const date = () => {
        if (stop !== null && existsSync(session.temp.join("run_agent_a")) && glob(session.temp.join("run_agent_a"), when)) {
          stop("SIGTERM");
          stop = null;
        }
        return Date.now();
      };
      const stopper: StepOptions["stopper"] = (callback) => {
        stop = callback;
      };
      const reply = { calls: [call("write_file", { path: "a/b.txt", content: "b" }), call("new_answer", { content: "See a/b.txt" })] };
      const outcome = await step(session, [reply], { stopper, date });
      expect([when, stop]).toEqual([when, null]);
      expect(outcome).toMatchObject({ code: 0 });
      expect(session.files()).toEqual(["agent_a/001/answer.json", "agent_a/001/workspace/a/b.txt", "agent_a/last_action.json"]);
    }
  });

  test("files of every depth are published, also to another file system, and can be read by other users", async () => {
    const deep = `${"d/".repeat(80)}deep.txt`;
    for (const elsewhere of [null, "/dev/shm"]) {
      if (elsewhere !== null && !existsSync(elsewhere)) continue;
      await using session = createSession();
      const home = elsewhere === null ? null : mkdtempSync(join(elsewhere, "mg-team-test-"));
      if (home !== null) symlinkSync(home, session.path);
      try {
        const files = [call("write_file", { path: deep, content: "x" }), call("write_file", { path: "run.sh", content: "#!/bin/sh\n" })];
        const outcome = await step(session, [{ calls: [...files, call("new_answer", { content: "See it" })] }]);
        expect(outcome).toMatchObject({ code: 0 });
        const workspace = join(session.path, "agents/agent_a/001/workspace");
        expect(statSync(join(workspace, deep)).mode & 0o777).toBe(0o644);
        expect(statSync(join(workspace, "run.sh")).mode & 0o777).toBe(0o755);
        expect(statSync(join(workspace, "d")).mode & 0o777).toBe(0o755);
        expect(statSync(workspace).mode & 0o777).toBe(0o755);
      } finally {
        if (home !== null) rmSync(home, { recursive: true });
      }
    }
  });

  test("its directory has another name until it is finished, and nothing of it stays", async () => {
    await using session = createSession();
    const home = join(session.path, "agents/agent_a");
    mkdirSync(join(home, ".step.999999999.0123456789ab.tmp"), { recursive: true });
    writeFileSync(join(home, ".step.999999999.0123456789ab.tmp/answer.json"), "{");
    await step(session, [answer("Four")]);
    expect(readdirSync(home).sort()).toEqual(["001", "last_action.json"]);
  });

  test("what happened stays so when last_action.json cannot be written: that is said, and the step succeeds", async () => {
    await using session = createSession();
    mkdirSync(join(session.path, "agents/agent_a/last_action.json/x"), { recursive: true });
    const outcome = await step(session, [answer("Four")]);
    expect(outcome).toMatchObject({ code: 0 });
    expect(outcome.stderr).toMatch(/mg-team step: cannot write .*last_action\.json: .*\n[\s\S]*ACTION: new_answer/);
    expect(session.files()).toEqual(["agent_a/001/answer.json"]);
  });

  test("a session that cannot be written is said, and costs are kept", async () => {
    await using session = createSession();
    session.temp.write("session/agents", "a file in the place of a directory");
    const outcome = await step(session, [answer("Four")]);
    expect(outcome).toMatchObject({ code: 2, failureClass: "crash" });
    expect(outcome.message).toContain("cannot write the step into");
    const [log] = readdirSync(session.temp.join("run_agent_a/.massgen/massgen_logs"));
    expect(existsSync(session.temp.join("run_agent_a/.massgen/massgen_logs", log ?? "", "turn_1/attempt_1/metrics_summary.json"))).toBe(
      true,
    );
  });

  test("half a character in an answer, which no peer could send, is replaced", async () => {
    await using session = createSession();
    await step(session, [answer("Four \ud83d")]);
    expect(session.read("agent_a/001/answer.json")?.answer).toBe("Four \ufffd");
  });
});

test("a key never appears in what a step prints, even when the provider repeats it", async () => {
  await using session = createSession();
  const key = "sk-very-secret-key-000000000000";
  const outcome = await step(session, [{ fail: "key" }], { env: { OPENAI_API_KEY: key }, backend: "" });
  expect(outcome.stdout + outcome.stderr).not.toContain(key);
});

test("a server of one's own that is not there is named at once", async () => {
  await using session = createSession();
  const port = await freePort();
  const outcome = await session.step({ type: "ollama", baseUrl: `http://127.0.0.1:${port}` });
  expect(outcome).toMatchObject({ code: 2, failureClass: "model", waits: [] });
  expect(outcome.message).toBe(`nobody answers at http://127.0.0.1:${port}/v1; is the server running?`);
  expect((await session.step({ type: "openai", baseUrl: `http://127.0.0.1:${port}/v1`, limits: { attempts: 2 } })).waits).toEqual([1]);
});

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
  const { port } = server;
  await server.stop(true);
  return port ?? 0;
}
