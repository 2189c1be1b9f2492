import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import type { TeamDirectory } from "../../src/session/directory.ts";
import type { TeamEvent } from "../../src/session/events.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import type { CliResult, CliRun } from "../support/cli.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, inTurn, linesOf, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { until } from "../support/temp.ts";

// Signals reach the program itself, as a child. On each: forced result first, exit code 128+n, and nothing of ours alive (reliability.md).

const hangs: FakeStep = { before: { announce: "hangs", forever: true } };
const stubborn: FakeStep = { ...hangs, process: { ignoreTerm: true } };
const agree = "answer, vote a";

interface Killed extends CliResult {
  readonly result: RunResult | null;
  readonly events: readonly TeamEvent[];
  /** Seconds from the first signal to the end. */
  readonly seconds: number;
  /** Seconds from the first signal to a whole result.json; null without. */
  readonly resultAfter: number | null;
  readonly directory: TeamDirectory;
}

/** Starts the CLI, waits until a step hangs, and does something to it. */
async function killed(
  spec: RunSpec,
  act: (run: CliRun, project: TestProject) => Promise<void>,
  look: (killed: Killed) => void | Promise<void>,
): Promise<void> {
  await inTurn(async () => {
    await using project = createRunProject(spec);
    const run = project.start(argumentsOf(spec));
    const started = await Promise.race([project.untilAnnounced("hangs").then(() => true), run.result.then(() => false)]);
    if (!started) throw new Error(`it ended too early: ${(await run.result).stderr}`);
    await untilQuiet(project, spec);
    const at = performance.now();
    let resultAfter: number | null = null;
    const directory = onlyRun(project);
    const watcher = setInterval(() => {
      if (existsSync(directory.result)) resultAfter ??= (performance.now() - at) / 1000;
    }, 20);
    await act(run, project);
    const ended = await run.result;
    clearInterval(watcher);
    const seconds = (performance.now() - at) / 1000;
    expect(findMarked(cookieVariable, new Set([directory.cookie]))).toEqual([]);
    const result: RunResult | null = existsSync(directory.result) ? JSON.parse(readFileSync(directory.result, "utf8")) : null;
    const events = linesOf(readFileSync(directory.journal, "utf8"));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    await look({ ...ended, result, events, seconds, resultAfter, directory });
  });
}

/** All of the round are started, and those that do not hang have ended their step. */
async function untilQuiet(project: TestProject, { plays = {} }: RunSpec): Promise<void> {
  const busy = Math.max(1, Object.values(plays).filter((play) => typeof play !== "string").length);
  const journal = onlyRun(project).journal;
  const isQuiet = () => {
    const events = existsSync(journal) ? linesOf<TeamEvent>(readFileSync(journal, "utf8").replace(/[^\n]*$/, "")) : [];
    const round = events.findLast((event) => event.type === "round.started");
    const started = events.filter((event) => event.type === "step.started");
    const ended = events.filter(({ type }) => type === "step.finished").length;
    const here = started.filter((step) => step.round === round?.round || step.round === 0);
    return here.length >= (round?.agents.length ?? 1) && started.length - ended === busy;
  };
  await until(isQuiet, "the other steps' end");
}

const signals = [
  ["SIGINT", 130, "interrupted by Ctrl-C"],
  ["SIGTERM", 143, "ended by SIGTERM"],
  ["SIGHUP", 129, "ended by SIGHUP"],
] as const;

describe("in the middle of a round", () => {
  for (const [signal, code, message] of signals) {
    test.concurrent(
      `${signal} forces a result, prints the answer, ends every process and exits ${code}`,
      () =>
        killed(
          { plays: { a: [hangs], b: "answer the best there is" }, args: ["--json"] },
          async (run) => run.kill(signal),
          (run) => {
            expect(run).toMatchObject({ code, signal: null });
            expect(run.seconds).toBeLessThan(7);
            expect(run.result).toMatchObject({
              exit_code: code,
              answer: "the best there is",
              decision: { kind: "forced", reason: "interrupted", winner: "agent_b" },
            });
            expect(run.stdout).toBe(readFileSync(run.directory.result, "utf8"));
            expect(readFileSync(run.directory.finalAnswer, "utf8")).toContain("the best there is");
            expect(run.events.find(({ type }) => type === "stop")).toMatchObject({ reason: "interrupted", message, stopped: ["agent_a"] });
            expect(run.events.at(-1)).toMatchObject({ type: "run.finished", exit_code: code });
            expect(run.events.filter(({ type }) => type === "decision").length).toBe(1);
            expect(run.stderr).toContain(`stopping: ${message}`);
          },
        ),
      patience,
    );

    test.concurrent(
      `${signal} without any answer: exits ${code}, and says how to go on`,
      () =>
        killed(
          { plays: { a: [hangs], b: [hangs] } },
          async (run) => run.kill(signal),
          (run) => {
            expect(run.code).toBe(code);
            expect(run.stdout).toBe(readFileSync(run.directory.journal, "utf8"));
            expect(run.result).toMatchObject({ answer: null, decision: { kind: "none", reason: "interrupted" } });
            expect(run.stderr).toContain(`go on with: mg-team resume ${run.directory.id}`);
          },
        ),
      patience,
    );
  }

  test.concurrent(
    "the result is on disk before a stubborn step has ended",
    () =>
      killed(
        { plays: { a: [stubborn], b: "answer" } },
        async (run) => run.kill("SIGINT"),
        (run) => {
          expect(run.code).toBe(130);
          expect(run.resultAfter).toBeLessThan(3);
          expect(run.seconds).toBeGreaterThan(4.5);
          expect(run.result?.decision).toMatchObject({ kind: "forced", winner: "agent_b" });
        },
      ),
    patience,
  );

  for (const second of ["SIGINT", "SIGTERM"] as const) {
    test.concurrent(
      `SIGINT, then ${second}: the stubborn step is killed at once, and the exit code is that of the first`,
      () =>
        killed(
          { plays: { a: [stubborn], b: "answer" } },
          async (run) => {
            run.kill("SIGINT");
            await until(() => run.output.stderr.includes("stopping: "), "the stop");
            run.kill(second);
          },
          (run) => {
            expect(run.code).toBe(130);
            expect(run.seconds).toBeLessThan(4);
            expect(run.result).toMatchObject({ exit_code: 130, decision: { winner: "agent_b" } });
          },
        ),
      patience,
    );
  }

  test.concurrent(
    "SIGINT with votes: the valid ones decide; a consensus that is complete is one, and still exits 130",
    () =>
      killed(
        { plays: { a: agree, b: ["answer", { vote: "agent_a", after: { announce: "hangs", forever: true } }] } },
        async (run) => run.kill("SIGINT"),
        (run) => {
          expect(run.code).toBe(130);
          expect(run.result?.decision.winner).toBe("agent_a");
        },
      ),
    patience,
  );

  for (const [signal, code] of signals) {
    test.concurrent(
      `${signal}: grandchildren that ignore TERM, in sessions of their own, are gone too`,
      () => {
        const grandchildren = [{ ignoreTerm: true, ownSession: true, holdOutput: true }, { ignoreTerm: true }];
        return killed(
          { plays: { a: [{ ...hangs, process: { grandchildren } }], b: "answer" } },
          async (run) => run.kill(signal),
          (run) => {
            expect(run.code).toBe(code);
            expect(run.result?.decision.winner).toBe("agent_b");
          },
        );
      },
      patience,
    );
  }

  test.concurrent(
    "costs that steps had reported by then are in the result",
    () =>
      killed(
        {
          plays: {
            a: [{ cost: { live: [{ usd: 0.75, inputTokens: 5, outputTokens: 5, until: { announce: "hangs", forever: true } }] } }],
            b: "answer",
          },
        },
        async (run) => run.kill("SIGINT"),
        ({ result, stderr }) => {
          expect(result?.cost).toMatchObject({ total_usd: 0.76, known: "all" });
          expect(stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: $0.76");
        },
      ),
    patience,
  );
});

describe("elsewhere", () => {
  for (const [signal, code] of signals) {
    test.concurrent(
      `${signal} during synthesis: the winner's answer is delivered, and the exit code is ${code}`,
      () =>
        killed(
          {
            plays: { a: agree, b: agree },
            script: { rules: [{ when: { session: "synthesis/session" }, step: hangs }] },
            args: ["--synthesis", "agent", "--json"],
          },
          async (run) => run.kill(signal),
          (run) => {
            expect(run.code).toBe(code);
            expect(run.result).toMatchObject({
              exit_code: code,
              decision: { kind: "consensus", winner: "agent_a" },
              synthesis: { kind: "markdown" },
            });
            expect(run.result?.synthesis.why_not_agent).toContain(signal === "SIGINT" ? "Ctrl-C" : signal);
            expect(run.stdout).toBe(readFileSync(run.directory.result, "utf8"));
            expect(run.seconds).toBeLessThan(7);
          },
        ),
      patience,
    );

    test.concurrent(
      `${signal} while a config is made: nothing to keep, exit ${code}, nothing left`,
      () =>
        inTurn(async () => {
          const spec = {
            plays: { a: agree, b: agree },
            script: { quickstart: { wait: { announce: "hangs", forever: true } } },
            env: { XDG_CACHE_HOME: "" },
          };
          await using project = createRunProject(spec);
          const run = project.start(argumentsOf(spec));
          await project.untilAnnounced("hangs");
          run.kill(signal);
          expect(await run.result).toMatchObject({ code, signal: null });
          const cookies = new Set([onlyRun(project).cookie]);
          await until(() => findMarked(cookieVariable, cookies).length === 0, "the end of all processes", 7);
        }),
      patience,
    );
  }

  test.concurrent(
    "a fault of ours in mid-round ends the program as one, and nothing is left alive",
    () =>
      inTurn(async () => {
        const spec = { plays: { a: [hangs], b: [hangs] } };
        await using project = createRunProject(spec);
        const go = project.temp.join("fake/go");
        const fault = `const { existsSync } = require("node:fs"); const timer = setInterval(() => { if (!existsSync(${JSON.stringify(go)})) return; clearInterval(timer); throw new Error("a fault of ours"); }, 20);`;
        const preload = project.temp.write("fault.cjs", fault);
        const run = project.start(argumentsOf(spec), { env: { BUN_OPTIONS: `--preload=${preload}` } });
        await project.untilAnnounced("hangs");
        project.signal("go");
        const { code, stderr } = await run.result;
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("internal error: a fault of ours") });
        expect(stderr).not.toContain("process.exit");
        const cookies = new Set([onlyRun(project).cookie]);
        await until(() => findMarked(cookieVariable, cookies).length === 0, "the end of all processes", 7);
      }),
    patience,
  );

  test.concurrent(
    "under nohup a hang-up changes nothing",
    () =>
      inTurn(async () => {
        const spec = { plays: { a: ["answer", { vote: "agent_a", before: { announce: "hangs", file: "go" } }] as const, b: agree } };
        await using project = createRunProject(spec);
        const run = project.start(argumentsOf(spec), { wrapper: ["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh"] });
        await project.untilAnnounced("hangs");
        run.kill("SIGHUP");
        project.signal("go");
        expect(await run.result).toMatchObject({ code: 0, signal: null });
      }),
    patience,
  );
});
