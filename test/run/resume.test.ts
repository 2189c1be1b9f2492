import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { TeamEvent } from "../../src/session/events.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { pluginText } from "../support/outside-plugin.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, inTurn, linesOf, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { until } from "../support/temp.ts";

// What a resume knows again of the run that it takes up (design.md, "Resume"). Kills at random moments: test/faults/kill-resume.test.ts.

const hangs: FakeStep = { before: { announce: "hangs", forever: true } };

describe("a file that fails every other agent is known again", () => {
  const spec: RunSpec = {
    plays: { a: [{ answer: { text: "x", workspace: false, garble: "not-utf8" }, before: { file: "hangs" } }], b: [hangs] },
  };
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    test.concurrent(
      `after ${signal}: nothing more is launched, and the file is named`,
      () =>
        interrupted(spec, signal, hasFinished("agent_a"), async (project) => {
          const launches = project.launches("step").length;
          const { stderr } = await project.cli(["resume"]);
          const { result } = read(project);
          expect(project.launches("step").length).toBe(launches);
          expect(result.decision.reason).toBe("agents_failed");
          expect(result.decision.rule).toContain("agents/agent_a/001/answer.json is damaged");
          expect(stderr).toContain("agents/agent_a/001/answer.json");
        }),
      patience,
    );
  }
});

test.concurrent(
  "a run that is named by its path goes on in its own project, wherever that is typed",
  () =>
    interrupted({ plays: { a: "answer, vote a", b: [hangs, "answer", "vote a"] } }, "SIGINT", hasFinished("agent_a"), async (project) => {
      const elsewhere = project.temp.join("elsewhere");
      mkdirSync(elsewhere);
      expect((await project.cli(["resume", onlyRun(project).root], { cwd: elsewhere })).code).toBe(0);
      expect(readdirSync(elsewhere)).toEqual([]);
      expect(read(project).result.decision.kind).toBe("consensus");
    }),
  patience,
);

test.concurrent(
  "a resume that cannot begin leaves the result where it is, and the same resume goes on once it can",
  () =>
    inTurn(async () => {
      const spec: RunSpec = {
        plays: { a: "answer, vote a", b: "answer, vote a" },
        args: ["--max-rounds", "1"],
        env: { XDG_CACHE_HOME: "" },
      };
      await using project = createRunProject(spec);
      await project.cli(argumentsOf(spec));
      rmSync(`${project.home}/.cache`, { recursive: true, force: true });
      const script = JSON.parse(readFileSync(project.env.FAKE_MASSGEN_SCRIPT ?? "", "utf8"));
      project.script({ ...script, quickstart: { result: "silent" } });
      expect((await project.cli(["resume", "--max-rounds", "3"])).code).toBe(3);
      expect(read(project).result.decision.reason).toBe("max_rounds");
      project.script(script);
      expect((await project.cli(["resume", "--max-rounds", "3"])).code).toBe(0);
      expect(read(project).result.decision).toMatchObject({ kind: "consensus", winner: "agent_a" });
    }),
  patience,
);

test.concurrent(
  "a resume whose plugin cannot start leaves result, journal and decision as they were",
  () =>
    inTurn(async () => {
      const body = 'team.stop({ reason: "plugin", message: "never" }); throw new Error("no server");';
      const spec: RunSpec = {
        plays: { a: "answer, vote a", b: "answer, vote a" },
        args: ["--max-rounds", "1"],
        files: { "bad.ts": pluginText("bad", body) },
      };
      await using project = createRunProject(spec);
      await project.cli(argumentsOf(spec));
      const { root, journal, result } = onlyRun(project);
      const files = () => [readdirSync(root).sort(), readFileSync(journal, "utf8"), readFileSync(result, "utf8")];
      const [before, launches] = [files(), project.launches("step").length];
      const { code, stderr } = await project.cli(["resume", "--max-rounds", "3", "--plugin", "./bad.ts"]);
      expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining("no server") });
      expect(files()).toEqual(before);
      expect(await project.cli(["resume"])).toMatchObject({ code: 0, stderr: expect.stringContaining("this run is decided") });
      expect(project.launches("step").length).toBe(launches);
      expect((await project.cli(["resume", "--max-rounds", "3"])).code).toBe(0);
      expect(read(project).result.decision).toMatchObject({ kind: "consensus", winner: "agent_a" });
    }),
  patience,
);

test.concurrent(
  "what a plugin says while a resume starts it comes after run.resumed",
  () =>
    interrupted({ plays: { a: "answer", b: [hangs] } }, "SIGINT", hasFinished("agent_a"), async (project) => {
      const body = 'team.stop({ reason: "plugin", message: "enough" });';
      writeFileSync(`${project.directory}/enough.ts`, pluginText("enough", body));
      const before = read(project).events.length;
      expect((await project.cli(["resume", "--plugin", "./enough.ts"])).code).toBe(4);
      const { events, result } = read(project);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      const types = events.slice(before).map(({ type }) => type);
      expect(types.filter((type) => type === "run.resumed" || type === "stop")).toEqual(["run.resumed", "stop"]);
      expect(result.decision).toMatchObject({ kind: "forced", reason: "plugin", winner: "agent_a" });
    }),
  patience,
);

test.concurrent(
  "a synthesis by a model that is journaled and there is not paid for again when result.json is made anew",
  () =>
    inTurn(async () => {
      const synthesis = { answer: { text: "The merged text", files: { "merged.txt": "m" } } };
      const spec: RunSpec = {
        plays: { a: "answer, vote a", b: "answer, vote a" },
        args: ["--synthesis", "agent"],
        script: { rules: [{ when: { session: "synthesis/session" }, step: synthesis }] },
      };
      await using project = createRunProject(spec);
      await project.cli(argumentsOf(spec));
      const { result: path, finalAnswer, deliverable } = onlyRun(project);
      const [launches, before, document] = [project.launches("step").length, read(project).result, readFileSync(finalAnswer, "utf8")];
      writeFileSync(path, "{");
      expect((await project.cli(["resume"])).code).toBe(0);
      expect(project.launches("step").length).toBe(launches);
      const { result } = read(project);
      expect(result).toMatchObject({ decision: before.decision, cost: before.cost, synthesis: before.synthesis });
      expect(result.warnings).toContain("result.json is made anew; what the checks found in the files is in final_answer.md");
      expect(readFileSync(finalAnswer, "utf8")).toBe(document);
      expect(readdirSync(deliverable)).toEqual(["merged.txt"]);
    }),
  patience,
);

test.concurrent(
  "a result.json that somebody edited cannot have another file printed",
  () =>
    inTurn(async () => {
      const spec: RunSpec = { plays: { a: "answer four, vote a", b: "answer, vote a" } };
      await using project = createRunProject(spec);
      await project.cli(argumentsOf(spec));
      const { result: path } = onlyRun(project);
      const { result } = read(project);
      const secret = project.temp.write("home/secret", "not for you");
      writeFileSync(path, JSON.stringify({ ...result, synthesis: { ...result.synthesis, path: secret } }));
      const { code, stdout } = await project.cli(["resume"]);
      expect([code, stdout]).toEqual([0, "four\n"]);
    }),
  patience,
);

test.concurrent(
  "retries that were used up before are not granted anew",
  () =>
    interrupted(
      { plays: { a: ["fail server", hangs, "fail server", "answer"], b: ["answer"] } },
      "SIGINT",
      (events) => hasFinished("agent_b")(events) && hasFinished("agent_a")(events),
      async (project) => {
        await project.cli(["resume"]);
        const { agents } = read(project).result;
        expect(agents[0]).toMatchObject({ status: "out", steps: [{ action: "failed" }, { action: "interrupted" }, { action: "failed" }] });
        expect(agents[0]?.steps).toHaveLength(3);
      },
    ),
  patience,
);

test.concurrent(
  "the files of another winner of before are gone from the deliverable",
  () =>
    interrupted(
      {
        plays: {
          a: [{ answer: { text: "A", files: { "wrong.html": "<p>a</p>" } } }, "vote b"],
          b: [hangs, "answer", "vote b"],
        },
      },
      "SIGINT",
      hasFinished("agent_a"),
      async (project) => {
        const { deliverable } = onlyRun(project);
        expect(readdirSync(deliverable)).toEqual(["wrong.html"]);
        expect((await project.cli(["resume"])).code).toBe(0);
        expect(read(project).result).toMatchObject({ decision: { winner: "agent_b" }, synthesis: { deliverable: null } });
        expect(existsSync(deliverable)).toBe(false);
      },
    ),
  patience,
);

describe("prices", () => {
  const cost = { usd: 0, inputTokens: 1_000_000, outputTokens: 0 };
  const unpriced = [
    { answer: { text: "x", workspace: false }, cost },
    { vote: "agent_a", cost },
  ];
  const spec: RunSpec = { plays: { a: unpriced, b: unpriced }, args: ["--cost-budget", "10"] };

  test.concurrent(
    "that were missing for the budget and are added since then let the run go on, and count for the steps before",
    () =>
      inTurn(async () => {
        await using project = createRunProject(spec);
        await project.cli(argumentsOf(spec));
        expect(read(project).result).toMatchObject({ decision: { reason: "cost_budget" }, cost: { total_usd: null } });
        const { stderr } = await project.cli(["resume"]);
        expect(stderr).toContain("to go on, add the missing price to mg-team.yaml, or pass --allow-unpriced");
        writeFileSync(
          `${project.directory}/mg-team.yaml`,
          "prices: { model-a: { input: 1, output: 1 }, model-b: { input: 2, output: 1 } }\n",
        );
        expect((await project.cli(["resume"])).code).toBe(0);
        expect(read(project).result).toMatchObject({ decision: { kind: "consensus" }, cost: { total_usd: 6, known: "all" } });
      }),
    patience,
  );

  test.concurrent(
    "make nothing free that was never reported",
    () =>
      interrupted(
        {
          plays: { a: "answer, vote a", b: [{ ...hangs, cost: { absent: true } }, "answer", "vote a"] },
          yaml: "prices: { model-b: { input: 2, output: 1 } }\n",
        },
        "SIGINT",
        hasFinished("agent_a"),
        async (project) => {
          expect(read(project).result.cost).toMatchObject({ total_usd: 0.01, known: "partial" });
          expect((await project.cli(["resume"])).code).toBe(0);
          expect(read(project).result.cost).toMatchObject({ total_usd: 0.04, known: "partial" });
        },
      ),
    patience,
  );
});

test.concurrent(
  "a result.json that is none is said, and made anew out of the journal, without another step",
  () =>
    inTurn(async () => {
      const spec = { plays: { a: "answer, vote a", b: "answer, vote a" } };
      await using project = createRunProject(spec);
      await project.cli(argumentsOf(spec));
      const launches = project.launches("step").length;
      for (const text of ["{}", "{", '{"version": 2}', "[]"]) {
        writeFileSync(onlyRun(project).result, text);
        const { code, stderr } = await project.cli(["resume"]);
        expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("result.json cannot be used") });
        expect(read(project).result).toMatchObject({ decision: { kind: "consensus", winner: "agent_a" }, cost: { total_usd: 0.04 } });
      }
      expect(project.launches("step").length).toBe(launches);
    }),
  patience,
);

// --- internal ---

/** Starts a run, sends a signal once the journal says so, and waits for the end. */
async function interrupted(
  spec: RunSpec,
  signal: NodeJS.Signals,
  when: (events: readonly TeamEvent[]) => boolean,
  then: (project: TestProject) => Promise<void>,
): Promise<void> {
  await inTurn(async () => {
    await using project = createRunProject(spec);
    const run = project.start(argumentsOf(spec));
    await Promise.race([project.untilAnnounced("hangs"), run.result]);
    await until(() => when(read(project).events), "the moment of the signal");
    run.kill(signal);
    await run.result;
    await then(project);
  });
}

function hasFinished(agent: string): (events: readonly TeamEvent[]) => boolean {
  return (events) => events.some((event) => event.type === "step.finished" && event.action.agent === agent);
}

function read(project: TestProject): { readonly events: readonly TeamEvent[]; readonly result: RunResult } {
  const directory = onlyRun(project);
  const events = linesOf<TeamEvent>(readFileSync(directory.journal, "utf8").replace(/[^\n]*$/, ""));
  return {
    events,
    get result() {
      return JSON.parse(readFileSync(directory.result, "utf8")) as RunResult;
    },
  };
}
