import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { selfCommand } from "../../../src/commands/self.ts";
import { agentsOf, createModelNames, type Model } from "../../../src/config/models.ts";
import type { StepReport, StepSpec } from "../../../src/engine/engine.ts";
import { noCost } from "../../../src/engine/massgen/step-report.ts";
import { createMixedEngine } from "../../../src/engine/mixed.ts";
import { createNativeEngine, type NativeEngineOptions } from "../../../src/engine/native/engine.ts";
import type { StepPhase } from "../../../src/session/events.ts";
import type { StepCost } from "../../../src/types.ts";
import { createSession, keys, type TestSession } from "../../native/support.ts";
import { type Act, startWireServer } from "../../native/wire/server.ts";
import { wires } from "../../native/wire/wire.ts";

const openai = wires[0];
if (openai === undefined) throw new Error("no wire");

const call = (name: string, args: Readonly<Record<string, unknown>>): Act => ({ calls: [{ name, arguments: args }] });
const agents = (...words: string[]) =>
  agentsOf(words.map((word) => createModelNames().find(word)).filter((model): model is Model => model !== null));

function engineOf(more: Partial<NativeEngineOptions> = {}) {
  const env = { PATH: "/usr/bin:/bin", HOME: "/nowhere", ...keys };
  return createNativeEngine({ program: selfCommand(), version: "1.2.3", env, redact: (text) => text, cookie: "c".repeat(32), ...more });
}

function specOf(session: TestSession, more: Partial<StepSpec> = {}): StepSpec {
  const [agent] = agents("openai/gpt-5.4");
  if (agent === undefined) throw new Error("no agent");
  return {
    agent,
    query: "What is 2+2?",
    sessionDir: session.path,
    configPath: session.temp.join("configs/agent_a_step.yaml"),
    criteriaPath: null,
    runDir: session.temp.join("runs/agent_a/r1"),
    args: [],
    env: {},
    timeoutSeconds: null,
    ...more,
  };
}

/** A whole step in a process of its own. */
async function run(acts: Parameters<typeof startWireServer>[1], more: Partial<StepSpec> = {}, options: Partial<NativeEngineOptions> = {}) {
  const session = createSession();
  const server = startWireServer(openai as NonNullable<typeof openai>, acts);
  const env = { PATH: "/usr/bin:/bin", HOME: session.temp.path, ...keys, OPENAI_BASE_URL: server.baseUrl };
  const engine = engineOf({ env, ...options });
  const spec = specOf(session, more);
  await engine.writeConfig(spec.agent, spec.configPath, { docker: false, context: [], runDir: session.temp.join("config") });
  const phases: StepPhase[] = [];
  const costs: StepCost[] = [];
  const running = engine.start(spec, { onProgress: ({ phase }) => phases.push(phase), onCost: (cost) => costs.push(cost) });
  return {
    session,
    server,
    running,
    phases,
    costs,
    spec,
    engine,
    async [Symbol.asyncDispose]() {
      await running.stop("ended", { now: true });
      await server[Symbol.asyncDispose]();
      await session[Symbol.asyncDispose]();
    },
  };
}

describe("the command of a native step", () => {
  test("is mg-team itself, with the query as its last word, and without what changes Bun", async () => {
    await using session = createSession();
    const env = {
      PATH: "/bin",
      BUN_BE_BUN: "1",
      BUN_OPTIONS: "--x",
      BUN_CONFIG_VERBOSE_FETCH: "curl",
      CLAUDECODE: "1",
      OPENAI_API_KEY: "k",
    };
    const engine = engineOf({ program: ["/opt/mg-team"], env });
    const query = "--help \n'$(x)' @types/node";
    const command = engine.command(specOf(session, { query, criteriaPath: "/c.json", args: ["--automation"], env: { MORE: "1" } }));
    expect(command.argv).toEqual([
      "/opt/mg-team",
      "step",
      "--session-dir",
      session.path,
      "--config",
      session.temp.join("configs/agent_a_step.yaml"),
      "--eval-criteria",
      "/c.json",
      "--stream-events",
      "--automation",
      "--",
      query,
    ]);
    expect(command.env).toEqual({ PATH: "/bin", OPENAI_API_KEY: "k", PYTHONUNBUFFERED: "1", MORE: "1" });
    expect(engine.info).toEqual({ name: "native", version: "1.2.3", ballot_fix: "off" });
  });

  test("from a checkout is Bun with the source, which reads neither .env nor bunfig.toml of the directory", () => {
    const [bun, ...rest] = selfCommand();
    expect(bun).toBe(process.execPath);
    expect(rest.slice(0, 2)).toEqual(["--no-env-file", "--config=/dev/null"]);
    expect(existsSync(rest.at(-1) ?? "")).toBe(true);
  });
});

describe("the config of a native step", () => {
  test("has MassGen's form, the context, and the price that the user gave", async () => {
    await using session = createSession();
    const engine = engineOf({ prices: { "gpt-5.4": { input: 1, output: 2 } } });
    const { agent, configPath } = specOf(session);
    await engine.writeConfig(agent, configPath, { docker: true, context: [{ path: "/data", permission: "write" }], runDir: "/x" });
    expect(parse(readFileSync(configPath, "utf8"))).toEqual({
      agents: [{ id: "agent_a", backend: { type: "openai", model: "gpt-5.4" } }],
      orchestrator: { context_paths: [{ path: "/data", permission: "write" }] },
      price: { input: 1, output: 2 },
    });
  });

  test("may be the user's own, of a supported type; one that only MassGen runs is refused with what to type", async () => {
    await using session = createSession();
    const own = session.temp.write(
      "mine.yaml",
      "agent: { id: x, backend: { type: vllm, model: m, base_url: 'http://127.0.0.1:1/v1', cwd: ws } }\n",
    );
    const other = session.temp.write("other.yaml", "agent: { backend: { type: azure_openai, model: m } }\n");
    const said: string[] = [];
    const engine = engineOf({ warn: (message) => said.push(message) });
    const { agent, configPath } = specOf(session);
    const options = { docker: false, context: [], runDir: "/x" };
    await engine.writeConfig({ ...agent, config: own }, configPath, options);
    expect(parse(readFileSync(configPath, "utf8")).agents[0]).toMatchObject({ id: "agent_a", backend: { type: "vllm" } });
    expect(said.join()).toContain("runs vllm/m, while the team lists it as openai/gpt-5.4");
    expect(engine.writeConfig({ ...agent, config: other }, configPath, options)).rejects.toMatchObject({
      code: "config",
      hint: expect.stringContaining("--engine massgen"),
    });
  });
});

describe("a step in a process of its own", () => {
  test("answers; phases, cost and workspace are read like those of MassGen", async () => {
    await using step = await run([call("write_file", { path: "a.txt", content: "b" }), call("new_answer", { content: "See a.txt" })]);
    const report = await step.running.report;
    expect(report).toMatchObject({ action: { kind: "new_answer", step: 1 }, failure: null, stopCause: null, poison: null });
    expect(report.cost).toEqual({ usd: 0.008, inputTokens: 2000, outputTokens: 200 });
    expect(step.phases).toEqual(["starting", "thinking", "tool", "thinking", "tool", "answered"]);
    expect(existsSync(join(step.session.path, "agents/agent_a/001/workspace/a.txt"))).toBe(true);
    const lost = { agent: step.spec.agent, sessionDir: step.session.path, runDir: step.spec.runDir, after: 0 };
    expect(step.engine.recover(lost)).toMatchObject({ action: { step: 1 }, cost: report.cost });
  }, 20_000);

  test("fails with the class and the words of its cause", async () => {
    const cases: readonly [Act, Partial<StepReport["failure"]>][] = [
      [{ fail: "key" }, { class: "auth", message: "401: Incorrect API key provided: sk-wrong.; check OPENAI_API_KEY" }],
      [
        { fail: "quota", headers: { "retry-after": "90" } },
        { class: "quota", retryAfterSeconds: 90 },
      ],
      [{ fail: "context" }, { class: "model" }],
      [{ refuse: true }, { class: "model", message: "the provider refused to answer this (content filter)" }],
    ];
    for (const [act, expected] of cases) {
      await using step = await run([act]);
      const { action, failure } = await step.running.report;
      expect(action).toBeNull();
      expect(failure).toMatchObject(expected as object);
    }
  }, 30_000);

  test("that asked no model costs nothing, whatever it failed over; the cost of a request that was stopped is unknown", async () => {
    await using keyless = await run([{ fail: "key" }], {}, { env: { PATH: "/usr/bin:/bin", HOME: "/nowhere" } });
    const report = await keyless.running.report;
    expect(report).toMatchObject({ failure: { class: "auth" }, cost: noCost });
    const lost = { agent: keyless.spec.agent, sessionDir: keyless.session.path, runDir: keyless.spec.runDir, after: 0 };
    expect(keyless.engine.recover(lost).cost).toEqual(noCost);
    await using stopped = await run([call("list_files", {}), { hang: true }]);
    while (stopped.server.requests.length < 2) await Bun.sleep(10);
    await stopped.running.stop("ended", { now: true });
    expect((await stopped.running.report).cost).toEqual({ usd: 0.004, inputTokens: 1000, outputTokens: 100, incomplete: true });
  }, 20_000);

  test("that is stopped is gone at once, with nothing written", async () => {
    await using step = await run([{ hang: true }]);
    while (step.server.requests.length === 0) await Bun.sleep(10);
    await step.running.stop("timeout");
    const report = await step.running.report;
    expect(report).toMatchObject({ action: null, stopCause: "timeout", failure: { class: "timeout" } });
    expect(readFileSync(join(step.spec.runDir, "exit.json"), "utf8")).toContain('"code":4');
    expect(step.session.files()).toEqual([]);
  }, 20_000);
});

test("in a mixed team each agent is run by its own engine, and the run has the name of the main one", async () => {
  await using session = createSession();
  const [one, two] = [engineOf({ program: ["/one"] }), engineOf({ program: ["/two"], version: "2" })];
  const mixed = createMixedEngine(one, ({ engine }) => (engine === "native" ? two : one));
  const [first, second] = agents("openai/gpt-5.4", "native:openai/gpt-5.4");
  if (!first || !second) throw new Error("no agents");
  expect(mixed.command(specOf(session, { agent: first })).argv[0]).toBe("/one");
  expect(mixed.command(specOf(session, { agent: second })).argv[0]).toBe("/two");
  expect(mixed.info.version).toBe("1.2.3");
  mkdirSync(session.temp.join("configs"), { recursive: true });
  await mixed.writeConfig(second, session.temp.join("configs/b.yaml"), { docker: false, context: [], runDir: "/x" });
  expect(parse(readFileSync(session.temp.join("configs/b.yaml"), "utf8")).agents[0].backend).toEqual({ type: "openai", model: "gpt-5.4" });
});
