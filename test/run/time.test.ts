import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { type KeptRun, patience, playRun } from "../support/runs.ts";
import { endOf, roundsOf, type Story, tell } from "../support/story.ts";

// --timeout and --step-timeout (design.md, core loop 4f and 6), at every moment at which they can strike.

const agree = "answer, vote a";
const hangs: FakeStep = { before: { forever: true } };
const limit = (seconds: number) => ["--timeout", String(seconds)];
const stopOf = ({ events }: Pick<KeptRun, "events">) => events.find((event) => event.type === "stop");

describe("in a round", () => {
  tell([
    {
      title: "one agent fails at once, one never ends: the rest finish, the hung one is stopped, and an answer is delivered",
      plays: { a: [hangs], b: "fail auth", c: "answer" },
      args: limit(2),
      rounds: ["a interrupted, b failed(auth), c answered"],
      ends: "forced timeout c, exit 0",
      rule: /^The time limit of 2 s is reached; agent_c is the only agent with an answer\.$/,
      look: (run) => {
        expect(stopOf(run)).toMatchObject({ reason: "timeout", message: "the time limit of 2 s is reached", stopped: ["agent_a"] });
        expect(run.events.filter(({ type }) => type === "limit.reached").length).toBe(1);
        expect(run.result.limits).toMatchObject({ timeoutSeconds: 2, reached: "timeout" });
        expect(run.stderr).toContain("stopping: the time limit of 2 s is reached");
      },
    },
    {
      title: "with answers but no vote the first answer wins",
      plays: { a: ["answer after b", hangs], b: ["answer", hangs] },
      args: limit(3),
      rounds: ["a answered, b answered", "a interrupted, b interrupted"],
      ends: "forced timeout b, exit 0",
      rule: /there were no votes to count, and agent_b answered first/,
    },
    {
      title: "with a valid vote the vote decides",
      plays: { a: ["answer", "vote b"], b: ["answer after a", hangs] },
      args: limit(3),
      rounds: ["a answered, b answered", "a voted b, b interrupted"],
      ends: "forced timeout b, exit 0",
      ballots: "a→b valid",
    },
    {
      title: "with a stale vote only, that one decides",
      plays: { a: ["answer", "vote b", hangs], b: ["answer after a", "answer after a", hangs] },
      args: limit(4),
      rounds: ["a answered, b answered", "a voted b, b answered", "a interrupted, b interrupted"],
      ends: "forced timeout b, exit 0",
      ballots: "a→b stale",
    },
    {
      title: "without any answer there is none: exit 5",
      plays: { a: [hangs], b: [hangs] },
      args: limit(1),
      rounds: ["a interrupted, b interrupted"],
      ends: "none timeout, exit 5",
      look: ({ stderr, result }) => {
        expect(stderr).toContain("no answer: The time limit of 1 s is reached; no agent has submitted an answer.");
        expect(result.synthesis).toMatchObject({ kind: "none", path: null });
      },
    },
    {
      title: "an answer that landed before the stop counts, though its step had not ended",
      plays: { a: [{ answer: { text: "landed", workspace: false }, after: { forever: true } }], b: [hangs] },
      args: limit(2),
      rounds: ["a answered, b interrupted"],
      ends: "forced timeout a, exit 0",
      look: ({ result }) => expect(result.answer).toBe("landed"),
    },
    {
      title: "a consensus that is complete by then wins, though a voter's step had not ended",
      plays: { a: agree, b: ["answer", { vote: "agent_a", after: { forever: true } }] },
      args: limit(3),
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: (run) => {
        expect(stopOf(run)).toMatchObject({ reason: "timeout" });
        expect(run.result.limits.reached).toBeNull();
      },
    },
    {
      title: "an answer that lands while the steps are being stopped counts too",
      plays: { a: "answer, vote a", b: [{ before: { forever: true }, process: { exitOnTerm: 0 } }] },
      args: limit(2),
      rounds: ["a answered, b interrupted"],
      ends: "forced timeout a, exit 0",
    },
    {
      title: "a step that ignores TERM is killed, and the answer is delivered",
      plays: { a: "answer", b: [{ before: { forever: true }, process: { ignoreTerm: true } }] },
      args: limit(1),
      rounds: ["a answered, b interrupted"],
      ends: "forced timeout a, exit 0",
    },
    {
      title: "under --strict the exit code says that there was no consensus",
      plays: { a: "answer", b: [hangs] },
      args: [...limit(2), "--strict"],
      ends: "forced timeout a, exit 6",
    },
    {
      title: "the steps of a stopped round use up no round, and cost what they had reported",
      plays: { a: "answer", b: [{ cost: { live: [{ usd: 0.125, inputTokens: 5, outputTokens: 5, until: { forever: true } }] } }] },
      args: limit(2),
      ends: "forced timeout a, exit 0",
      look: ({ result }) => {
        expect(result.cost.by_agent.agent_b).toMatchObject({ usd: 0.125, known: "all" });
        expect(result.agents[1]).toMatchObject({
          status: "live",
          failure: null,
          steps: [{ action: "interrupted", class: null, step: null }],
        });
      },
    },
  ]);
});

describe("at a barrier", () => {
  // Keeps the program busy until the time is over, so that no timer strikes before the barrier.
  const busy = (condition: string) => `import { definePlugin } from "mg-team";
export default definePlugin({
  name: "busy",
  apply(team) {
    team.hooks.onAction.tap("busy", (action) => {
      if (${condition}) while (team.elapsedSeconds < team.run.limits.timeoutSeconds);
    });
  },
});
`;
  const barrier = (round: number): Pick<Story, "files" | "args"> => ({
    files: { "busy.ts": busy(`action.agent === "agent_b" && action.round === ${round}`) },
    args: ["--plugin", "./busy.ts", "--timeout", "1"],
  });
  tell([
    {
      ...barrier(1),
      title: "nothing more is launched, and nothing has to be stopped",
      plays: { a: "answer", b: "answer after a" },
      rounds: ["a answered, b answered"],
      ends: "forced timeout a, exit 0",
      look: (run) => {
        expect(stopOf(run)).toBeUndefined();
        expect(run.events.filter(({ type }) => type === "limit.reached").length).toBe(1);
        expect(run.result.limits.reached).toBe("timeout");
      },
    },
    {
      ...barrier(2),
      title: "a consensus that the barrier finds wins over the time that is over",
      plays: { a: agree, b: "answer, vote a after a" },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      args: ["--plugin", "./busy.ts", "--timeout", "3"],
      look: ({ result }) => expect(result.limits.reached).toBeNull(),
    },
  ]);
});

describe("at the very moment the last step ends", () => {
  for (const seconds of [0.6, 0.8, 0.9, 1, 1.1, 1.2]) {
    test.concurrent(
      `there is one result, never two (the last step takes about ${seconds} s of 1 s)`,
      async () => {
        const answer = { answer: { text: "x", workspace: false }, before: { seconds } };
        const run = await playRun({ plays: { a: ["answer", hangs], b: [answer, hangs] }, args: limit(1) });
        expect(endOf(run)).toMatch(/^forced timeout [ab], exit 0$/);
        expect(roundsOf(run.result)[0]).toMatch(/^a (answered|interrupted), b (answered|interrupted)$/);
      },
      patience,
    );
  }
});

describe("--step-timeout", () => {
  tell([
    {
      title: "ends one step as failed, and the others go on",
      plays: { a: [hangs], b: "answer, vote b", c: "answer, vote b" },
      args: ["--step-timeout", "1"],
      rounds: ["a failed(timeout), b answered, c answered", "b voted b, c voted b"],
      ends: "consensus majority b, exit 0",
      look: ({ result }) => expect(result.limits).toMatchObject({ stepTimeoutSeconds: 1, reached: null }),
    },
    {
      title: "what landed before counts as an action, not as a failure",
      plays: { a: [{ answer: { text: "landed", workspace: false }, after: { forever: true } }, "vote a"], b: agree },
      args: ["--step-timeout", "1"],
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "is for each step, not for all of them together",
      plays: {
        a: [
          { before: { seconds: 0.7 }, answer: { text: "x", workspace: false } },
          { before: { seconds: 0.7 }, vote: "agent_a" },
        ],
        b: agree,
      },
      args: ["--step-timeout", "3"],
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "step_timeout of mg-team.yaml counts",
      plays: { a: [hangs], b: "answer" },
      yaml: "step_timeout: 1s\n",
      rounds: ["a failed(timeout), b answered"],
      ends: "single only_agent b, exit 0",
    },
  ]);
});

describe("silence", () => {
  tell([
    {
      title: "a step that says nothing for a while at its start is not called hung",
      plays: { a: [{ startup: { seconds: 2.5 }, answer: { text: "slow", workspace: false } }, "vote a"], b: agree },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ stderr, result }) => {
        expect(stderr).not.toMatch(/hung|stuck/);
        expect(result.warnings.filter((warning) => warning.includes("agent_a"))).toEqual([]);
      },
    },
  ]);
});

describe("during synthesis", () => {
  // Not at the same time as others: the clock of this whole process is moved.
  test(
    "the winner's answer is delivered, and the cause is said",
    async () => {
      const { now } = systemClock;
      let ahead = 0;
      systemClock.now = () => now() + ahead;
      try {
        const synthesis: FakeStep = { before: { announce: "synthesis-hangs", forever: true } };
        const spec = {
          plays: { a: agree, b: agree },
          script: { rules: [{ when: { session: "synthesis/session" }, step: synthesis }] },
          args: ["--synthesis", "agent", "--timeout", "100"],
        };
        const run = await playRun(
          {
            ...spec,
            onEvent(event) {
              if (event.type === "step.progress" && event.round === 0 && event.phase === "thinking") ahead = 99;
            },
          },
          ({ result }) => {
            expect(readFileSync(result.synthesis.path ?? "", "utf8")).toContain("An answer, number 1");
          },
        );
        expect(endOf(run)).toBe("consensus majority a, exit 0");
        const { synthesis: made, limits, cost } = run.result;
        expect(made).toMatchObject({
          kind: "markdown",
          why_not_agent: "the synthesis step brought no answer (the time limit of 100 s is reached)",
        });
        expect(limits.reached).toBeNull();
        expect(cost.known).toBe("partial");
        expect(run.stderr).toContain("the time limit of 100 s is reached");
      } finally {
        systemClock.now = now;
      }
    },
    patience,
  );

  tell([
    {
      title: "with less than half a minute left there is none, and the document says why",
      plays: { a: agree, b: agree },
      args: ["--synthesis", "agent", "--timeout", "20"],
      ends: "consensus majority a, exit 0",
      look: ({ result }) => {
        expect(result.synthesis.kind).toBe("markdown");
        expect(result.synthesis.why_not_agent).toMatch(/^only \d+(\.\d)?s of the time limit was left$/);
      },
    },
  ]);
});
