import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeScript } from "../../fixtures/fake-massgen/script.ts";
import { isAlive, untilExists } from "../../support/temp.ts";
import { agentA, bench, secret } from "./support.ts";

describe("a step", () => {
  test("that answers is reported with its cost, phases and logs", async () => {
    await using b = bench({ agents: { agent_a: [{ answer: { text: "42", files: { "a.txt": "x" } } }] } });
    b.temp.write("session/agents/agent_b/003/answer.json", '{"answer": "earlier"}');
    const spec = b.spec();
    const phases: string[] = [];
    const step = b.engine.start(spec, { onProgress: ({ phase }) => phases.push(phase) });
    expect(step.pid).toBeGreaterThan(0);
    expect(step.launchedWith).toEqual({ answers: { agent_b: 3 }, blank: [] });
    const report = await step.report;
    expect(report).toMatchObject({ action: { kind: "new_answer", step: 1 }, failure: null, stopCause: null, poison: null });
    expect(report.cost).toEqual({ usd: 0.01, inputTokens: 1000, outputTokens: 100 });
    expect(report.seconds).toBeGreaterThan(0);
    expect([phases[0], phases.at(-1)]).toEqual(["starting", "answered"]);
    expect(phases).toContain("thinking");
    expect(existsSync(join(spec.runDir, "stderr.log"))).toBe(true);
    expect(b.warnings).toEqual([]);
  });

  test("that votes is reported with the vote as it is on disk", async () => {
    await using b = bench({ agents: { agent_a: [{ vote: { target: "agent_b", reason: "better", seenSteps: { agent_b: 9 } } }] } });
    expect((await b.run()).report.action).toEqual({
      kind: "vote",
      step: 1,
      target: "agent_b",
      reason: "better",
      seenSteps: { agent_b: 9 },
    });
  });

  test.each(["-5 + 3", "--help", '@types/node\n"$(x)" `y` \\ é 👍'])("is given the query %j byte for byte", async (query) => {
    await using b = bench({});
    await b.run({ query });
    const [launch] = b.launches();
    expect(Buffer.from(launch?.argvBase64.at(-1) ?? "", "base64").toString()).toBe(query);
    expect(launch?.query).toBe(query);
    expect(launch?.cwd).toBe(b.temp.join("runs/1"));
    expect(launch?.env).toMatchObject({ XAI_API_KEY: secret, MG_TEAM_COOKIE: "test-cookie", PYTHONUTF8: "1" });
  });

  test.each([2, 1, 3, -9])("that acted counts, though its process ended with %i", async (exit) => {
    await using b = bench({ agents: { agent_a: [{ answer: "42", exit }] } });
    expect((await b.run()).report).toMatchObject({ action: { kind: "new_answer", step: 1 }, failure: null });
  });

  test("tells what it costs while it runs, and warns of a report that is none", async () => {
    await using b = bench({
      agents: { agent_a: [{ answer: "42", cost: { usd: "much", live: [{ usd: 0.5, inputTokens: 5, until: { file: "go" } }] } }] },
    });
    const costs: (number | null)[] = [];
    const step = b.engine.start(b.spec(), {
      onCost: ({ usd }) => {
        costs.push(usd);
        b.temp.write("go", "");
      },
    });
    const report = await step.report;
    expect(costs[0]).toBe(0.5);
    expect(report.cost).toEqual({ usd: null, inputTokens: 1000, outputTokens: 100 });
    expect(b.warnings).toEqual(['agent_a: its reported cost is "much", no amount of dollars; it counts as unknown']);
  });

  test("that reports no cost has spent something unknown", async () => {
    await using b = bench({ agents: { agent_a: [{ answer: "42", cost: { absent: true } }] } });
    expect((await b.run()).report.cost.usd).toBeNull();
    expect(b.warnings).toEqual(["agent_a: the step reported no cost; it counts as unknown"]);
  });

  test("that acted for nothing, as its report says, has spent something unknown", async () => {
    await using b = bench({ agents: { agent_a: [{ answer: "42", cost: { usd: 0, inputTokens: 0, outputTokens: 0 } }, { fail: "auth" }] } });
    expect((await b.run()).report.cost.usd).toBeNull();
    expect((await b.run()).report.cost.usd).toBe(0);
  });

  test("of a model without a price takes the price of the config", async () => {
    const script = { agents: { agent_a: [{ answer: "42", cost: { usd: 0, inputTokens: 1_000_000, outputTokens: 0 } }] } };
    await using b = bench(script, { prices: { "grok-x": { input: 2, output: 0 } } });
    expect((await b.run()).report.cost).toEqual({ usd: 2, inputTokens: 1_000_000, outputTokens: 0 });
  });
});

describe("a step that fails", () => {
  test.each([
    ["auth", "auth"],
    ["quota", "quota"],
    ["server", "model"],
    ["model", "model"],
    ["no-key", "auth"],
    ["no-action", "no_action"],
    ["invalid-agent", "no_action"],
    ["timeout", "timeout"],
    ["config", "config"],
    ["traceback", "config"],
  ] as const)("for %s has class %s", async (fail, kind) => {
    await using b = bench({ agents: { agent_a: [{ fail }] } });
    const { report, phases } = await b.run();
    expect(report).toMatchObject({ action: null, failure: { class: kind }, poison: null });
    expect(phases.at(-1)).toBe("failed");
    expect(readFileSync(report.failure?.log ?? "", "utf8")).not.toBe("");
  });

  test.each([
    ["not-utf8", true],
    ["array", true],
    ["cut", false],
    ["empty", false],
    ["bom", false],
  ] as const)("with a garbled answer (%s) names the file; a danger to peers: %p", async (garble, fatal) => {
    await using b = bench({ agents: { agent_a: [{ answer: { text: "a long answer", garble } }] } });
    const { report } = await b.run();
    const file = join(b.session, "agents/agent_a/001/answer.json");
    expect(report).toMatchObject({ action: null, failure: { class: "garbled", log: file }, poison: fatal ? file : null });
  });

  test("with an answer of spaces is empty", async () => {
    await using b = bench({ agents: { agent_a: [{ answer: " \n\t" }] } });
    expect((await b.run()).report).toMatchObject({ action: null, failure: { class: "empty" } });
  });

  test("by doing nothing with exit 0 does not repeat the last success", async () => {
    await using b = bench({ agents: { agent_a: [{ answer: "42" }, { nothing: true }] } });
    expect((await b.run()).report.action).not.toBeNull();
    expect((await b.run()).report).toMatchObject({ action: null, failure: { class: "no_action" } });
  });

  test("by being killed from outside is named so", async () => {
    await using b = bench({ agents: { agent_a: [{ nothing: true, exit: -9 }] } });
    expect((await b.run()).report).toMatchObject({
      failure: { class: "killed", message: expect.stringContaining("memory") },
      stopCause: null,
    });
  });

  test("shows no key, neither in its message nor in its logs", async () => {
    await using b = bench({
      agents: { agent_a: [{ process: { printEnv: ["XAI_API_KEY"] }, fail: { stderr: `x | ERROR    | Error code: 401 - bad ${secret}` } }] },
    });
    const { report } = await b.run();
    expect(report.failure?.message).toContain("[redacted]");
    for (const name of ["stdout.log", "stderr.log"]) expect(readFileSync(b.temp.join("runs/1", name), "utf8")).not.toContain(secret);
  });
});

describe("a step that cannot start", () => {
  test("for want of the program is a failure of the config, and costs nothing", async () => {
    await using b = bench({}, { install: { argv: ["/nowhere/massgen"], version: "?", flags: new Set(), source: "test" } });
    const step = b.engine.start(b.spec(), {});
    expect(step.pid).toBe(0);
    await step.stop("ended");
    expect(await step.report).toMatchObject({
      action: null,
      failure: { class: "config", message: "program not found: /nowhere/massgen" },
      cost: { usd: 0 },
    });
  });

  test("for a query that no command line carries says so", async () => {
    await using b = bench({});
    expect((await b.run({ query: "a\0b" })).report.failure).toMatchObject({ class: "config", message: expect.stringContaining("NUL") });
    expect((await b.run({ query: "x".repeat(200_000) })).report.failure).toMatchObject({
      class: "config",
      message: expect.stringContaining("too long"),
    });
  });

  test("because its MassGen is too old tells what to do", async () => {
    await using b = bench({});
    const { report } = await b.run({ criteriaPath: b.temp.write("criteria.json", "[]") });
    expect(report.failure).toMatchObject({
      class: "config",
      message: expect.stringMatching(/has no --eval-criteria; Install a newer MassGen/),
    });
  });

  test("because its directory cannot be made is a failure, not a throw", async () => {
    await using b = bench({});
    const file = b.temp.write("file", "");
    const { report } = await b.run({ runDir: join(file, "run") });
    expect(report).toMatchObject({ failure: { class: "crash" }, cost: { usd: 0 } });
  });
});

describe("a stop", () => {
  test("after the step's own time ends it, with all it started", async () => {
    await using b = bench({ agents: { agent_a: [{ before: { forever: true }, process: { grandchildren: [{ ownSession: true }] } }] } });
    const { report } = await b.run({ timeoutSeconds: 40 });
    expect(report).toMatchObject({
      action: null,
      failure: { class: "timeout", message: "stopped: it did not act within its 40 s" },
      stopCause: "step_timeout",
      cost: { usd: null },
    });
    const [launch] = b.launches();
    for (const pid of [launch?.pid ?? 0, ...(launch?.grandchildren ?? [])]) expect(isAlive(pid)).toBe(false);
  });

  test("is told by its first cause, and what landed before it counts", async () => {
    await using b = bench({ agents: { agent_a: [{ answer: "42", after: { forever: true, announce: "landed" } }] } });
    const step = b.engine.start(b.spec(), {});
    await untilExists(b.temp.join("landed"));
    await Promise.all([step.stop("cost_budget"), step.stop("interrupted", { now: true })]);
    expect(await step.report).toMatchObject({ action: { kind: "new_answer", step: 1 }, failure: null, stopCause: "cost_budget" });
  });

  test("in mid-answer is no fault of the agent", async () => {
    const program = `mkdir -p "$3/agents/agent_a/001"; printf '{"answer": "half' > "$3/agents/agent_a/001/answer.json"; echo > "$3/../landed"; exec sleep 600\n`;
    await using b = bench({}, { program });
    const step = b.engine.start(b.spec(), {});
    await untilExists(b.temp.join("landed"));
    await step.stop("timeout", { now: true });
    expect(await step.report).toMatchObject({ action: null, failure: { class: "timeout" }, stopCause: "timeout", poison: null });
  });
});

describe("the repair of the ballot", () => {
  const saying = (line: string): FakeScript => ({ agents: { agent_a: [{ vote: "agent_b", output: [{ text: `${line}\n` }] }] } });
  const ballotFix = { env: { PYTHONPATH: "/repair" } };

  test("is given to steps, and a step that it reached says nothing more", async () => {
    await using b = bench(saying("mg-team ballot: applied"), { ballotFix });
    const { report } = await b.run();
    expect(report.ballot).toBe("applied");
    expect(b.launches()[0]?.env.PYTHONPATH).toBe("/repair");
    expect(b.engine.info.ballot_fix).toBe("on");
    expect(b.warnings).toEqual([]);
  });

  test("that did not know the code, or was not read, is a warning, once", async () => {
    await using unknown = bench(saying("mg-team ballot: unexpected code: no tracker"), { ballotFix });
    await using silent = bench(saying("nothing"), { ballotFix });
    const shown = [];
    for (const b of [unknown, silent, unknown, silent]) shown.push((await b.run()).report.ballot);
    expect(shown).toEqual(["unexpected", "silent", "unexpected", "silent"]);
    expect(unknown.warnings).toEqual([expect.stringContaining("(no tracker), so votes may miss their targets")]);
    expect(silent.warnings).toEqual([expect.stringMatching(/was not read.*so votes may miss their targets/)]);
  });

  test("is not missed in a step that failed before it could show", async () => {
    await using b = bench({ agents: { agent_a: [{ fail: "auth" }] } }, { ballotFix });
    expect((await b.run()).report.ballot).toBeUndefined();
    expect(b.warnings).toEqual([]);
  });

  test("that is not in place is not missed", async () => {
    await using b = bench(saying("nothing"));
    const { report } = await b.run();
    expect([b.engine.info.ballot_fix, b.warnings, report.ballot]).toEqual(["off", [], undefined]);
  });
});

test("a step whose end nobody saw counts for what it left, and never as free", async () => {
  await using b = bench({});
  b.temp.write("session/agents/agent_a/002/answer.json", '{"answer": "42"}');
  const lost = { agent: agentA, sessionDir: b.session, runDir: b.temp.join("runs/lost") };
  expect(b.engine.recover({ ...lost, after: 1 })).toMatchObject({
    action: { kind: "new_answer", step: 2 },
    failure: null,
    cost: { usd: null },
  });
  expect(b.engine.recover({ ...lost, after: 2 })).toMatchObject({ action: null, stopCause: "interrupted", cost: { usd: null } });
});

test("a program that is no MassGen is told by its exit and its last words", async () => {
  await using b = bench({}, { program: "echo 'something odd' >&2; exit 9\n" });
  expect((await b.run()).report.failure).toMatchObject({ class: "crash", message: "something odd (exit 9)" });
});
