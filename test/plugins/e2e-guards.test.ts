import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunResult } from "../../src/session/result.ts";
import { withPlugin } from "../support/outside-plugin.ts";
import { argumentsOf, createRunProject, inTurn, linesOf, onlyRun, patience, playRun } from "../support/runs.ts";
import { isAlive, until } from "../support/temp.ts";

// What keeps an outside plugin from harming a run, in whole runs: failures that would repeat for ever, values that nobody could use.

const team = { a: "answer, vote a", b: "answer, vote a" };

describe("a watcher that fails at every event", () => {
  for (const [what, message] of [
    ["with the same words", '"always"'],
    ["with other words each time", "`always ${event.seq}`"],
  ] as const) {
    test.concurrent(
      `${what}: it is told a few times, and the run ends as if there were none`,
      async () => {
        const body = `team.hooks.onEvent.tap("watcher", (event) => { throw new Error(${message}); });`;
        const run = await playRun({ plays: team, ...withPlugin("watcher", body) });
        expect(run.code).toBe(0);
        const told = run.events.filter(({ type }) => type === "plugin.error");
        expect(told.length).toBeGreaterThan(0);
        expect(told.length).toBeLessThanOrEqual(3);
        expect(told[0]).toMatchObject({ plugin: "watcher", hook: "onEvent", message: expect.stringContaining("always") });
      },
      patience,
    );
  }
});

test.concurrent(
  "a step of a plugin that leaves bytes that are not UTF-8 ends nothing: they are in no agent's way",
  async () => {
    const body = `let asked = false;
    team.hooks.onConsensus.tapPromise({ name: "critic", timeLimitSeconds: null }, async () => {
      if (asked) return;
      asked = true;
      const { failure } = await team.runStep({ model: "agent_a", query: "Look", sessionDir: team.run.directory + "/critic", context: [] });
      team.log.info(failure);
    });`;
    const garbled = { when: { session: "critic" }, step: { answer: { text: "x", garble: "not-utf8" as const } } };
    const run = await playRun({ plays: team, script: { rules: [garbled] }, ...withPlugin("critic", body) });
    expect(run.stderr).toContain("critic: garbled: ");
    expect(run.result.decision).toMatchObject({ kind: "consensus", winner: "agent_a" });
  },
  patience,
);

describe("a value that nobody could use names plugin, file and hook", () => {
  for (const [hook, body, told] of [
    ["beforeLaunch", 'team.hooks.beforeLaunch.tap("odd", (request) => { request.query = ""; });', "a launch request that cannot be used"],
    ["beforeLaunch", 'team.hooks.beforeLaunch.tap("odd", (request) => ({ ...request, args: "--fast" }));', "at args"],
    ["onConsensus", 'team.hooks.onConsensus.tap("odd", (d) => { d.verdict = "agent_a"; });', "a verdict that is none"],
    [
      "onConsensus",
      'team.hooks.onConsensus.tap("odd", (d) => { d.verdict = { kind: "forced", reason: "plugin", winner: "agent_z", rule: "x" }; });',
      "a verdict for agent_z, which has no answer",
    ],
    [
      "onConsensus",
      'team.hooks.onConsensus.tap("odd", ({ agents }) => { for (const { ballot } of agents) if (ballot) ballot.standing = "void"; });',
      "a ballot of agent_a that cannot be counted",
    ],
  ] as const) {
    test.concurrent(
      `${hook}: ${told}`,
      async () => {
        const run = await playRun({ plays: team, pluginDecides: true, ...withPlugin("odd", body) });
        expect(run.code).toBe(4);
        expect(run.events.find(({ type }) => type === "plugin.error")).toMatchObject({
          plugin: "odd",
          hook,
          message: expect.stringContaining(told),
          file: expect.stringContaining("odd.ts"),
        });
      },
      patience,
    );
  }

  for (const [title, data] of [
    ["a big number", "{ n: 1n }"],
    ["a circle", "(() => { const data = {}; data.self = data; return data; })()"],
  ] as const) {
    test.concurrent(
      `data that JSON cannot hold (${title}) is a warning, and the result is written`,
      async () => {
        const body = `team.hooks.onFinish.tap("odd", (result) => { result.plugins.odd = ${data}; result.plugins.fine = 1; });`;
        const run = await playRun({ plays: team, ...withPlugin("odd", body, ["--json"]) });
        expect(run.code).toBe(0);
        expect(run.result.plugins).toMatchObject({ fine: 1 });
        expect(run.result.plugins).not.toHaveProperty("odd");
        expect(run.result.warnings).toContainEqual(expect.stringContaining("plugin odd, onFinish: it left data in plugins.odd"));
      },
      patience,
    );
  }

  test.concurrent(
    "checks that are none, and warnings that are no text, are a warning, and the result is written",
    async () => {
      const body = `team.hooks.onSynthesis.tap({ name: "odd", stage: SynthesisStage.check }, ({ result }) => {
        result.checks = [{ file: "a", line: 1n, check: "odd", message: "x" }];
        result.warnings.push(2n);
      });`;
      const run = await playRun({ plays: team, ...withPlugin("odd", body) });
      expect(run.code).toBe(0);
      expect(run.result.checks).toEqual([]);
      expect(run.result.warnings).toContainEqual(expect.stringContaining("plugin odd, onSynthesis: it left "));
      expect(run.result.warnings.every((warning) => typeof warning === "string")).toBe(true);
    },
    patience,
  );

  test.concurrent(
    "onFinish changes nothing but its data",
    async () => {
      const body =
        'team.hooks.onFinish.tap("odd", (result) => { result.decision.winner = "agent_b"; result.answer = ""; result.plugins.odd = 1; });';
      const { code, result } = await playRun({ plays: team, ...withPlugin("odd", body, ["--json"]) });
      expect({ code, winner: result.decision.winner, data: result.plugins.odd }).toEqual({ code: 0, winner: "agent_a", data: 1 });
      expect(result.answer).toBe("An answer, number 1");
    },
    patience,
  );
});

test.concurrent(
  "a long edited query is kept whole beside the step, and begun on one line of the progress",
  async () => {
    const body = 'team.hooks.beforeLaunch.tap("editor", (request) => { request.query += "\\n" + "Be brief, please.\\n".repeat(1000); });';
    const run = await playRun({ plays: team, ...withPlugin("editor", body) }, ({ directory, events, launches }) => {
      const start = events.find((event) => event.type === "step.started");
      expect(start?.query).toHaveLength(1000);
      const sent = launches.find(({ kind }) => kind === "step")?.query;
      expect(sent).toHaveLength(18_010);
      expect(readFileSync(join(directory.root, start?.query_file ?? ""), "utf8")).toBe(sent ?? "");
    });
    expect(run.stderr).toMatch(
      /\] agent_a: started with a query that a plugin edited: Say hello Be brief, .*… \(the whole is in runs\/agent_a\/r1\/query\.txt\)\n/,
    );
    expect(run.stderr).not.toMatch(/^Be brief/m);
  },
  patience,
);

test.concurrent(
  "steps of one model that a plugin runs at the same time each have their own money and directory",
  async () => {
    const body = `let asked = false;
    team.hooks.onConsensus.tapPromise({ name: "critics", timeLimitSeconds: null }, async () => {
      if (asked) return;
      asked = true;
      const critic = (n) => team.runStep({ model: "agent_a", query: "Critic " + n, sessionDir: team.run.directory + "/critic" + n, context: [] });
      const made = await Promise.all([1, 2, 3].map(critic));
      team.log.info(made.map(({ answer }) => answer).join(" "));
    });`;
    const critic = { when: { session: "critic" }, step: { answer: "fine", cost: { usd: 0.5, inputTokens: 5, outputTokens: 5 } } };
    const run = await playRun({ plays: team, script: { rules: [critic] }, ...withPlugin("critics", body) });
    expect(run.stderr).toContain("critics: fine fine fine");
    expect(run.result.cost).toMatchObject({ total_usd: 1.54, known: "all" });
    expect(new Set(run.launches.flatMap(({ kind, cwd }) => (kind === "step" ? [cwd] : []))).size).toBe(7);
  },
  patience,
);

test.concurrent(
  "notes of an action are kept while they leave room for it in the journal, and how many more there were is said",
  async () => {
    const many = "Array.from({ length: 400 }, (_, index) => `finding number ${index}`)";
    const long = "['x'.repeat(5000), 'never']";
    const body = `team.hooks.onAction.tap("notes", (action) => { action.notes = action.kind === "vote" ? ${long} : ${many}; });`;
    const run = await playRun({ plays: team, ...withPlugin("notes", body) });
    expect(run.code).toBe(0);
    const [first, last] = [0, -1].map((place) => run.events.filter(({ type }) => type === "step.finished").at(place));
    const notes = [first, last].map((event) => (event?.type === "step.finished" ? (event.action.notes ?? []) : []));
    expect(notes[0]).toHaveLength(51);
    expect(notes[0]?.slice(-2)).toEqual(["finding number 49", "… (350 more)"]);
    expect(notes[1]).toEqual([`${"x".repeat(2000)}…`, "… (1 more)"]);
  },
  patience,
);

test.concurrent(
  "no step of a plugin gets into the team's session, and a directory with dots in its name is one like any other",
  async () => {
    const body = `let asked = false;
    team.hooks.onConsensus.tapPromise("odd", async () => {
      if (asked) return;
      asked = true;
      for (const place of ["session", "session/agents", "session/..odd", "..odd"]) {
        const step = { model: "agent_a", query: "Look", sessionDir: team.run.directory + "/" + place, context: [] };
        team.log.info(await team.runStep(step).then(({ failure }) => place + " " + (failure ?? "was fine"), () => place + " was refused"));
      }
    });`;
    const answer = { when: { session: "..odd" }, step: { answer: { text: "x", workspace: false } } };
    const { stderr } = await playRun({ plays: team, script: { rules: [answer] }, ...withPlugin("odd", body) });
    const told = [...stderr.matchAll(/odd: (.* was \w+)/g)].map(([, words]) => words);
    expect(told).toEqual(["session was refused", "session/agents was refused", "session/..odd was refused", "..odd was fine"]);
  },
  patience,
);

test.concurrent(
  "without stale-votes a majority for somebody who has no answer is no consensus, and the run ends with the best there is",
  async () => {
    const { code, result } = await playRun({
      plays: { a: "answer, vote agent_z", b: "answer after a, vote agent_z", c: "answer after a, vote b" },
      args: ["--without-plugin", "stale-votes"],
      pluginDecides: true,
    });
    expect(code).toBe(0);
    expect(result.decision).toMatchObject({ kind: "forced", reason: "split_vote", winner: "agent_b" });
  },
  patience,
);

test.concurrent(
  "a skip says why and by whom, and nothing else of the step",
  async () => {
    const body = `team.hooks.beforeLaunch.tap("odd", (request) => {
      if (request.agent === "agent_b") request.skip = { reason: "not now", by: "odd", agent: "agent_a", round: 1.5, seconds: "x" };
    });`;
    const run = await playRun({ plays: team, ...withPlugin("odd", body, ["--max-rounds", "1"]) });
    const skips = run.events.flatMap((event) => (event.type === "step.finished" && event.action.kind === "skipped" ? [event.action] : []));
    expect(skips.length).toBeGreaterThan(0);
    for (const skip of skips) expect(skip).toMatchObject({ agent: "agent_b", round: 1, seconds: 0, reason: "not now", by: "odd" });
  },
  patience,
);

describe("a step that a plugin starts and does not wait for", () => {
  const step = { when: { session: "extra" }, step: { answer: "x", before: { forever: true }, cost: { usd: 0.7, live: [{ usd: 0.5 }] } } };
  const start = 'void team.runStep({ model: "agent_a", query: "Look", sessionDir: team.run.directory + "/extra", context: [] });';

  test.concurrent(
    "at the decision: it does not outlive the run, and nothing comes after the journal's last event",
    async () => {
      // The run waits until the step has started: it might be over before.
      const body = `const { promise: started, resolve } = Promise.withResolvers();
    team.hooks.onEvent.tap("extra", (event) => {
      if (event.type === "decision") ${start}
      if (event.type === "step.started" && event.kind === "plugin") resolve();
    });
    team.hooks.onFinish.tapPromise("extra", () => started);`;
      const run = await playRun({ plays: team, script: { rules: [step] }, ...withPlugin("extra", body) });
      expect(run.code).toBe(0);
      expect(run.events.at(-1)?.type).toBe("run.finished");
      const pids = run.events.flatMap((event) => (event.type === "step.started" ? [event.pid] : []));
      expect(pids).toHaveLength(5);
      expect(pids.filter((pid) => pid !== null && isAlive(pid))).toEqual([]);
      expect(run.events.filter(({ type }) => type === "step.finished")).toHaveLength(5);
    },
    patience,
  );

  test.concurrent(
    "when the run is over: it is not started, and nothing comes after the journal's last event",
    async () => {
      const body = `team.hooks.onEvent.tap("extra", ({ type }) => {
      if (type !== "run.finished") return;
      ${start}
      team.stop({ reason: "plugin", message: "too late" });
    });`;
      const run = await playRun({ plays: team, script: { rules: [step] }, ...withPlugin("extra", body) });
      expect(run.code).toBe(0);
      expect(run.events.at(-1)?.type).toBe("run.finished");
      expect(run.events.filter(({ type }) => type === "step.started")).toHaveLength(4);
      expect(run.launches.filter(({ kind }) => kind === "step")).toHaveLength(4);
    },
    patience,
  );
});

describe("Ctrl-C while a plugin takes its time", () => {
  for (const [hook, winner] of [
    ["beforeLaunch", null],
    ["onAction", "first"],
    ["onConsensus", "first"],
    ["onSynthesis", "agent_a"],
    ["onFinish", "agent_a"],
  ] as const) {
    test.concurrent(
      `${hook} without a time limit: the result is there soon, exit 130`,
      () => interruptedIn(`team.hooks.${hook}.tapPromise({ name: "slow", timeLimitSeconds: null }, () => slow());`, winner),
      patience,
    );
  }
  test.concurrent("apply", () => interruptedIn("await slow();", null), patience);
  test.concurrent("a cleanup", () => interruptedIn("return () => slow();", "agent_a", 0), patience);
});

/**
 * Interrupts a run whose plugin never comes back.
 * @param winner an agent, or `first`: whoever answered first, as nobody had voted
 */
async function interruptedIn(body: string, winner: string | null, code = 130): Promise<void> {
  await inTurn(async () => {
    const plugin = `const slow = async () => { (await import("node:fs")).writeFileSync(process.env.MARK, ""); await new Promise(() => {}); };\n${body}`;
    const spec = { plays: team, ...withPlugin("slow", plugin) };
    await using project = createRunProject(spec);
    project.env.MARK = project.temp.join("fake/slow");
    const run = project.start(argumentsOf(spec));
    await until(() => existsSync(project.env.MARK ?? ""), "the slow plugin", 90);
    await Bun.sleep(200);
    const at = performance.now();
    run.kill("SIGINT");
    const ended = await run.result;
    expect((performance.now() - at) / 1000).toBeLessThan(9);
    expect(ended).toMatchObject({ code, signal: null });
    const result: RunResult = JSON.parse(readFileSync(onlyRun(project).result, "utf8"));
    const answers = linesOf(readFileSync(onlyRun(project).journal, "utf8")).flatMap((event) =>
      event.type === "step.finished" && event.action.kind === "new_answer" ? [event.action.agent] : [],
    );
    expect(result.decision.winner).toBe(winner === "first" ? (answers[0] ?? "nobody") : winner);
    expect(ended.stderr).toMatch(/it did not finish (within 2 s of|before) the signal/);
  });
}
