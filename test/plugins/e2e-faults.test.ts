import { describe, expect, test } from "bun:test";
import { cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import type { RunResult } from "../../src/session/result.ts";
import { pluginText, withPlugin } from "../support/outside-plugin.ts";
import { argumentsOf, createRunProject, inTurn, linesOf, onlyRun, patience, playRefusal, playRun, type RunSpec } from "../support/runs.ts";
import { endOf } from "../support/story.ts";

// Plugins that fail (design.md, hook table; scenarios.md): plugin, hook and file are named, steps are stopped, what was paid for is kept.

const agree = "answer, vote a";
const team = { a: agree, b: agree };
const thrower = (hook: string, when = "true", kind = "tap") =>
  `team.hooks.${hook}.${kind}("broken", ${kind === "tap" ? "" : "async "}(value) => { if (${when}) throw new TypeError("cannot do it"); });`;

/** A failure is told on stderr, in the journal and in the result, with plugin, hook and file. */
function expectTold(run: { stderr: string; result: RunResult; events: readonly { type: string }[] }, hook: string, detail: RegExp): void {
  expect(run.stderr).toMatch(new RegExp(`plugin broken \\(.*/broken\\.ts\\), ${hook}: `));
  expect(run.stderr).toMatch(detail);
  expect(run.events.filter(({ type }) => type === "plugin.error")[0]).toMatchObject({
    plugin: "broken",
    hook,
    message: expect.stringMatching(detail),
    file: expect.stringMatching(/broken\.ts$/),
  });
  expect(run.result.warnings.some((warning) => warning.startsWith(`plugin broken, ${hook}: `))).toBe(true);
}

describe("a throw that stops the run: exit 4, the best answer is kept", () => {
  const stops: readonly [hook: string, when: string, rounds: number, ends: string][] = [
    ["beforeLaunch", "value.round === 1", 1, "none plugin, exit 4"],
    ["beforeLaunch", "value.round === 2", 2, "forced plugin a, exit 4"],
    ["beforeLaunch", 'value.agent === "agent_b" && value.round === 2', 2, "forced plugin a, exit 4"],
    ["onAction", 'value.agent === "agent_b"', 1, "forced plugin a, exit 4"],
    ["onConsensus", "value.round === 1", 1, "forced plugin a, exit 4"],
  ];
  for (const kind of ["tap", "tapPromise"]) {
    for (const [hook, when, rounds, ends] of stops) {
      test.concurrent(
        `${hook}, ${when}, ${kind}`,
        async () => {
          const spec = {
            plays: { a: "answer, vote a", b: "answer after a, vote a" },
            ...withPlugin("broken", thrower(hook, when, kind)),
            pluginDecides: true,
          };
          const run = await playRun(spec);
          expect({ ends: endOf(run), rounds: run.result.rounds }).toEqual({ ends, rounds });
          expectTold(run, hook, /TypeError: cannot do it/);
          expect(run.result.decision.rule).toContain("broken");
        },
        patience,
      );
    }
  }

  test.concurrent(
    "steps that run meanwhile are stopped, and what they cost counts",
    async () => {
      const hangs = { cost: { live: [{ usd: 0.5, inputTokens: 1, outputTokens: 1, until: { forever: true } }] } };
      const spec = { plays: { a: "answer", b: [hangs] }, ...withPlugin("broken", thrower("onAction")), pluginDecides: true };
      const run = await playRun(spec);
      expect(endOf(run)).toBe("forced plugin a, exit 4");
      expect(run.result.agents[1]?.steps[0]).toMatchObject({ action: "interrupted", usd: 0.5 });
      expect(run.result.cost.total_usd).toBe(0.51);
    },
    patience,
  );

  test.concurrent(
    "beforeLaunch of a retry",
    async () => {
      const spec = {
        plays: { a: "answer", b: "fail server, answer" },
        ...withPlugin("broken", thrower("beforeLaunch", 'value.kind === "retry"')),
        pluginDecides: true,
      };
      const run = await playRun(spec);
      expect(endOf(run)).toMatch(/^(forced plugin a|single only_agent a), exit 4$/);
      expectTold(run, "beforeLaunch", /cannot do it/);
    },
    patience,
  );

  test.concurrent(
    "beforeLaunch of a synthesis: the consensus stands, the winner's answer is delivered, and the exit code tells of the plugin",
    async () => {
      const spec = {
        plays: team,
        ...withPlugin("broken", thrower("beforeLaunch", 'value.kind === "synthesis"'), ["--synthesis", "agent"]),
        pluginDecides: true,
      };
      const run = await playRun(spec);
      expect(endOf(run)).toBe("consensus majority a, exit 4");
      expect(run.result.synthesis).toMatchObject({ kind: "markdown", why_not_agent: expect.stringContaining("cannot do it") });
      expectTold(run, "beforeLaunch", /cannot do it/);
    },
    patience,
  );
});

describe("a throw that is a warning: the run ends as if it had not been", () => {
  for (const kind of ["tap", "tapPromise"]) {
    for (const hook of ["onSynthesis", "onEvent", "onFinish"]) {
      if (hook === "onEvent" && kind === "tapPromise") continue;
      test.concurrent(
        `${hook}, ${kind}`,
        async () => {
          const spec = {
            plays: team,
            ...withPlugin("broken", thrower(hook, hook === "onEvent" ? 'value.type === "ballots"' : "true", kind)),
          };
          const run = await playRun(spec);
          expect(endOf(run)).toBe("consensus majority a, exit 0");
          expectTold(run, hook, /TypeError: cannot do it/);
        },
        patience,
      );
    }
  }

  test.concurrent(
    "onEvent at every event is told, does not go round in circles, and changes nothing",
    async () => {
      const run = await playRun({ plays: team, ...withPlugin("broken", thrower("onEvent")) });
      expect(endOf(run)).toBe("consensus majority a, exit 0");
      expect(run.events.length).toBeLessThan(200);
    },
    patience,
  );

  test.concurrent(
    "a cleanup",
    async () => {
      const run = await playRun({ plays: team, ...withPlugin("broken", 'return () => { throw new Error("cannot tidy up"); };') });
      expect(endOf(run)).toBe("consensus majority a, exit 0");
      expect(run.stderr).toContain("cannot tidy up");
    },
    patience,
  );
});

describe("never returns", () => {
  for (const [hook, ends] of [
    ["beforeLaunch", "none plugin, exit 4"],
    ["onAction", "none plugin, exit 4"],
    ["onConsensus", "forced plugin a, exit 4"],
    ["onSynthesis", "consensus majority a, exit 0"],
    ["onFinish", "consensus majority a, exit 0"],
  ] as const) {
    test.concurrent(
      `${hook}: after its time limit the tap counts as failed`,
      async () => {
        const body = `team.hooks.${hook}.tapPromise({ name: "broken", timeLimitSeconds: 1 }, () => new Promise(() => {}));`;
        const run = await playRun({ plays: { a: agree, b: "answer after a, vote a" }, ...withPlugin("broken", body), pluginDecides: true });
        expect(endOf(run).replace("none plugin", hook === "onAction" ? (endOf(run).split(",")[0] ?? "") : "none plugin")).toBe(
          hook === "onAction" ? endOf(run) : ends,
        );
        expect(run.code).toBe(ends.endsWith("4") ? 4 : 0);
        expectTold(run, hook, /did not finish within 1 s/);
      },
      patience,
    );
  }
});

describe("cannot be started: nothing is launched, exit 3", () => {
  const cases: readonly (readonly [title: string, text: string, says: RegExp])[] = [
    ["throws while loading", 'throw new Error("no such planet");\n', /plugin .*broken\.ts cannot be loaded: no such planet/],
    ["is no valid program", "export default definePlugin({ name: \n", /broken\.ts cannot be loaded: (line \d+: )?/],
    ["imports what is not there", 'import "left-pad";\nexport default {};\n', /broken\.ts cannot be loaded: .*left-pad/],
    ["has no default export", "export const plugin = {};\n", /broken\.ts has no plugin as its default export/],
    ["exports something else", "export default 42;\n", /has no plugin as its default export/],
    ["exits while loading", "process.exit(0);\n", /it called process\.exit\(0\)/],
    [
      "throws in apply",
      pluginText("broken", 'throw new Error("no such planet");'),
      /plugin broken \(.*broken\.ts\) failed to start: no such planet/,
    ],
    ["exits in apply", pluginText("broken", "process.exit(0);"), /failed to start: it called process\.exit\(0\)/],
    [
      "gives tap an async function",
      pluginText("broken", 'team.hooks.onAction.tap("broken", async () => {});'),
      /onAction: it is an async function; register it with tapPromise/,
    ],
    ["taps an event asynchronously", pluginText("broken", 'team.hooks.onEvent.tapPromise("broken", async () => {});'), /failed to start: /],
    ["taps a hook that is not there", pluginText("broken", 'team.hooks.onVictory.tap("broken", () => {});'), /failed to start: /],
  ];
  for (const [title, text, says] of cases) {
    test.concurrent(
      title,
      async () => {
        const { code, stdout, stderr, launches } = await playRefusal({
          plays: team,
          files: { "broken.ts": text },
          args: ["--plugin", "./broken.ts", "--json"],
        });
        expect(stderr.replace(/\s*\n\s*/g, " ")).toMatch(says);
        expect(code).toBe(3);
        expect(launches.filter(({ kind }) => kind === "step")).toEqual([]);
        expect(JSON.parse(stdout)).toMatchObject({ error: { code: "config", hint: expect.stringMatching(/\S/) } });
      },
      patience,
    );
  }
});

describe("ends the program, as far as it can", () => {
  /** In a child of its own: what goes wrong here would end these tests. */
  async function inChild(
    body: string,
    look: (run: { code: number | null; stderr: string; stdout: string; result: RunResult; events: readonly { type: string }[] }) => void,
    more: Partial<RunSpec> = {},
  ): Promise<void> {
    await inTurn(async () => {
      const spec = { plays: { a: agree, b: "answer, vote a" }, ...withPlugin("broken", body, ["--json"]), ...more };
      await using project = createRunProject(spec);
      const ended = await project.cli(argumentsOf(spec));
      const directory = onlyRun(project, ended.stderr);
      if (!(await Bun.file(directory.result).exists())) throw new Error(`there is no result (exit ${ended.code}): ${ended.stderr}`);
      expect(findMarked(cookieVariable, new Set([directory.cookie]))).toEqual([]);
      const events = linesOf(await Bun.file(directory.journal).text());
      look({ ...ended, result: JSON.parse(await Bun.file(directory.result).text()), events });
    });
  }

  test.concurrent(
    "process.exit in a tap that stops the run: exit 4, the answer is kept",
    () =>
      inChild('team.hooks.onConsensus.tap("broken", () => process.exit(0));', (run) => {
        expect(run.code).toBe(4);
        expectTold(run, "onConsensus", /it called process\.exit\(0\)/);
        expect(run.result.answer).not.toBeNull();
        expect(JSON.parse(run.stdout).exit_code).toBe(4);
      }),
    patience,
  );

  test.concurrent(
    "process.exit in a tap that only watches: a warning",
    () =>
      inChild('team.hooks.onEvent.tap("broken", (event) => { if (event.type === "ballots") process.exit(3); });', (run) => {
        expect(run.code).toBe(0);
        expectTold(run, "onEvent", /it called process\.exit\(3\)/);
      }),
    patience,
  );

  test.concurrent(
    "a promise that nobody waits for is rejected: a warning that names the file",
    () =>
      inChild(
        'team.hooks.onEvent.tap("broken", (event) => { if (event.type === "round.started") void Promise.reject(new Error("forgotten")); });',
        (run) => {
          expect(run.code).toBe(0);
          expectTold(run, "background", /forgotten/);
        },
      ),
    patience,
  );

  test.concurrent(
    "a timer throws: a warning that names the file",
    () =>
      inChild('setTimeout(() => { throw new Error("late"); }, 50);', (run) => {
        expect(run.code).toBe(0);
        expectTold(run, "background", /late/);
      }),
    patience,
  );

  test.concurrent(
    "process.exit in a timer: a warning",
    () =>
      inChild("setTimeout(() => { process.exit(9); }, 50);", (run) => {
        expect(run.code).toBe(0);
        expectTold(run, "background", /it called process\.exit\(9\)/);
      }),
    patience,
  );

  test.concurrent(
    "a timer that never ends does not keep the program alive",
    () =>
      inChild("setInterval(() => {}, 1000);", (run) => {
        expect(run.code).toBe(0);
        expect(run.result.exit_code).toBe(0);
      }),
    patience,
  );

  test.concurrent(
    "console.log of a plugin does not get into the result on stdout",
    () =>
      inChild('console.log("chatter"); team.hooks.onFinish.tap("broken", () => { console.log("more chatter"); });', (run) => {
        expect(run.code).toBe(0);
        expect(JSON.parse(run.stdout).exit_code).toBe(0);
      }),
    patience,
  );

  test.concurrent(
    "process.exitCode and process.chdir change nothing",
    () =>
      inChild('process.exitCode = 77; process.chdir("/"); team.hooks.onFinish.tap("broken", () => { process.exitCode = 78; });', (run) => {
        expect(run.code).toBe(0);
        expect(run.result.decision.kind).toBe("consensus");
      }),
    patience,
  );
});
