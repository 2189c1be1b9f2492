import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { TeamEvent } from "../../src/session/events.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { type KeptRun, pastEveryLimit, patience, playRun } from "../support/runs.ts";
import { endOf, type Story, tell } from "../support/story.ts";
import { isAlive } from "../support/temp.ts";

// --timeout and --step-timeout (design.md, core loop 4f and 6), at every moment at which they can strike. Each run has a clock of its own, which
// jumps when `timeIsUp` has come to pass: how busy the machine is plays no part.

const agree = "answer, vote a";
/** A step that never ends; "a-hangs" appears when it is under way. */
const hangs = (letter: string): FakeStep => ({ before: { announce: `${letter}-hangs`, forever: true } });
const landed = { text: "landed", workspace: false };
const limit = ["--timeout", "1000"];
const stopOf = ({ events }: Pick<KeptRun, "events">) => events.find((event) => event.type === "stop");

describe("in a round", () => {
  tell([
    {
      title: "while failed steps wait for their next try: the result and the summary say what they had failed of",
      plays: { a: [{ fail: { exit: 2, stderr: "ERROR - Error code: 429 - rate limit exceeded" } }], b: [hangs("b")] },
      timeIsUp: ["b-hangs", "finished-agent_a-1"],
      args: limit,
      rounds: ["a failed(quota), b interrupted"],
      ends: "none timeout, exit 5",
      look: ({ result, stderr }) => {
        expect(result.agents[0]).toMatchObject({ status: "live", failure: { class: "quota", message: expect.stringContaining("429") } });
        expect(result.agents[1]).toMatchObject({ status: "live", failure: null });
        expect(stderr).toMatch(/\n {2}agent_a \(grok\/model-a\), quota: .*429/);
      },
    },
    {
      title: "one agent fails at once, one never ends: the rest finish, the hung one is stopped, and an answer is delivered",
      plays: { a: [hangs("a")], b: "fail auth", c: "answer" },
      timeIsUp: ["a-hangs", "finished-agent_b-1", "finished-agent_c-1"],
      args: limit,
      rounds: ["a interrupted, b failed(auth), c answered"],
      ends: "forced timeout c, exit 0",
      rule: /^The time limit of 1000 s is reached; agent_c is the only agent with an answer\.$/,
      look: (run) => {
        expect(stopOf(run)).toMatchObject({ reason: "timeout", message: "the time limit of 1000 s is reached", stopped: ["agent_a"] });
        expect(run.events.filter(({ type }) => type === "limit.reached").length).toBe(1);
        expect(run.result.limits).toMatchObject({ timeout_seconds: 1000, reached: "timeout" });
        expect(run.stderr).toContain("stopping: the time limit of 1000 s is reached");
      },
    },
    {
      title: "with answers but no vote the first answer wins",
      plays: { a: ["answer after b", hangs("a")], b: ["answer", hangs("b")] },
      timeIsUp: ["a-hangs", "b-hangs"],
      args: limit,
      rounds: ["a answered, b answered", "a interrupted, b interrupted"],
      ends: "forced timeout b, exit 0",
      rule: /there were no votes to count, and agent_b answered first/,
    },
    {
      title: "with a valid vote the vote decides",
      plays: { a: ["answer", "vote b"], b: ["answer after a", hangs("b")] },
      timeIsUp: ["b-hangs", "finished-agent_a-2"],
      args: limit,
      rounds: ["a answered, b answered", "a voted b, b interrupted"],
      ends: "forced timeout b, exit 0",
      ballots: "a→b valid",
    },
    {
      title: "with a stale vote only, that one decides",
      plays: { a: ["answer", "vote b", hangs("a")], b: ["answer after a", "answer after a", hangs("b")] },
      timeIsUp: ["a-hangs", "b-hangs"],
      args: limit,
      rounds: ["a answered, b answered", "a voted b, b answered", "a interrupted, b interrupted"],
      ends: "forced timeout b, exit 0",
      ballots: "a→b stale",
    },
    {
      title: "without any answer there is none: exit 5",
      plays: { a: [hangs("a")], b: [hangs("b")] },
      timeIsUp: ["a-hangs", "b-hangs"],
      args: limit,
      rounds: ["a interrupted, b interrupted"],
      ends: "none timeout, exit 5",
      look: ({ stderr, result }) => {
        expect(stderr).toContain("no answer: The time limit of 1000 s is reached; no agent has submitted an answer.");
        expect(result.synthesis).toMatchObject({ kind: "none", path: null });
      },
    },
    {
      title: "an answer that landed before the stop counts, though its step had not ended",
      plays: { a: [{ answer: landed, after: { announce: "a-landed", forever: true } }], b: [hangs("b")] },
      timeIsUp: ["a-landed", "b-hangs"],
      args: limit,
      rounds: ["a answered, b interrupted"],
      ends: "forced timeout a, exit 0",
      look: ({ result }) => expect(result.answer).toBe("landed"),
    },
    {
      title: "a consensus that is complete by then wins, though a voter's step had not ended",
      plays: { a: agree, b: ["answer", { vote: "agent_a", after: { announce: "b-landed", forever: true } }] },
      timeIsUp: ["b-landed", "finished-agent_a-2"],
      args: limit,
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
      look: (run) => {
        expect(stopOf(run)).toMatchObject({ reason: "timeout" });
        expect(run.result.limits.reached).toBeNull();
      },
    },
    {
      title: "a step that ends with exit 0 when it is stopped, and wrote nothing, is interrupted",
      plays: { a: "answer", b: [{ ...hangs("b"), process: { exitOnTerm: 0 } }] },
      timeIsUp: ["b-hangs", "finished-agent_a-1"],
      args: limit,
      rounds: ["a answered, b interrupted"],
      ends: "forced timeout a, exit 0",
    },
    {
      title: "a step that ignores TERM is killed, and the answer is delivered",
      plays: { a: "answer", b: [{ ...hangs("b"), process: { ignoreTerm: true } }] },
      timeIsUp: ["b-hangs", "finished-agent_a-1"],
      args: limit,
      rounds: ["a answered, b interrupted"],
      ends: "forced timeout a, exit 0",
    },
    {
      title: "grandchildren that ignore TERM, in sessions of their own, are gone too",
      plays: {
        a: "answer",
        b: [{ ...hangs("b"), process: { grandchildren: [{ ignoreTerm: true, ownSession: true, holdOutput: true }] } }],
      },
      timeIsUp: ["b-hangs", "finished-agent_a-1"],
      args: limit,
      ends: "forced timeout a, exit 0",
      look: ({ launches }) => {
        const [pid = 0] = launches.flatMap(({ grandchildren }) => grandchildren);
        expect(pid).toBeGreaterThan(1);
        expect(isAlive(pid)).toBe(false);
      },
    },
    {
      title: "under --strict the exit code says that there was no consensus",
      plays: { a: "answer", b: [hangs("b")] },
      timeIsUp: ["b-hangs", "finished-agent_a-1"],
      args: [...limit, "--strict"],
      ends: "forced timeout a, exit 6",
    },
    {
      title: "the steps of a stopped round use up no round, and cost what they had reported",
      plays: {
        a: "answer",
        b: [{ cost: { live: [{ usd: 0.125, inputTokens: 5, outputTokens: 5, until: { announce: "b-hangs", forever: true } }] } }],
      },
      timeIsUp: ["b-hangs", "finished-agent_a-1"],
      args: limit,
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
    {
      title: "timeout of mg-team.yaml counts",
      plays: { a: "answer", b: [hangs("b")] },
      yaml: "timeout: 20m\n",
      timeIsUp: ["b-hangs", "finished-agent_a-1"],
      ends: "forced timeout a, exit 0",
      look: ({ result }) => expect(result.limits.timeout_seconds).toBe(1200),
    },
  ]);
});

describe("at the very moment that something happens, there is one result and never two", () => {
  const isLast = (event: TeamEvent) => event.type === "step.finished" && event.action.agent === "agent_b";
  const moments: readonly (readonly [title: string, when: (event: TeamEvent) => boolean, ends: RegExp])[] = [
    ["the first step starts", ({ type }) => type === "step.started", /^(none timeout, exit 5|forced timeout [ab], exit 0)$/],
    ["the first step ends", ({ type }) => type === "step.finished", /^forced timeout [ab], exit 0$/],
    ["the last step of a round ends", (event) => isLast(event), /^forced timeout a, exit 0$/],
    ["a round is counted", ({ type }) => type === "ballots", /^forced timeout a, exit 0$/],
    ["the next round starts", (event) => event.type === "round.started" && event.round === 2, /^forced timeout a, exit 0$/],
    [
      "the last vote is cast",
      (event) => isLast(event) && event.type === "step.finished" && event.action.kind === "vote",
      /^consensus majority a, exit 0$/,
    ],
    ["it is decided", ({ type }) => type === "decision", /^consensus majority a, exit 0$/],
    ["the document is begun", ({ type }) => type === "synthesis.started", /^consensus majority a, exit 0$/],
    ["the document is done", ({ type }) => type === "synthesis.finished", /^consensus majority a, exit 0$/],
  ];
  for (const [title, when, ends] of moments) {
    test.concurrent(
      title,
      async () => {
        let over = false;
        const run = await playRun({
          plays: { a: agree, b: "answer after a, vote a after a" },
          args: limit,
          onEvent(event, { skip }) {
            if (!over && when(event)) skip(pastEveryLimit);
            over ||= when(event);
          },
        });
        expect(over).toBe(true);
        expect(endOf(run)).toMatch(ends);
        expect(run.events.filter(({ type }) => type === "limit.reached").length).toBeLessThanOrEqual(1);
      },
      patience,
    );
  }
});

test.concurrent(
  "a signal that overtakes the stop at the limit is journaled too: nobody waits for the stubborn step, and the exit code has its reason",
  async () => {
    const { code, events, result } = await playRun({
      plays: { a: [hangs("a")], b: "answer" },
      timeIsUp: ["a-hangs", "finished-agent_b-1"],
      args: limit,
      onEvent(event, { kill }) {
        if (event.type === "stop" && event.reason === "timeout") kill("SIGTERM");
      },
    });
    const stops = events.flatMap((event) => (event.type === "stop" ? [event.reason] : []));
    expect({ code, stops, winner: result.decision.winner }).toEqual({ code: 143, stops: ["timeout", "interrupted"], winner: "agent_b" });
  },
  patience,
);

describe("once it is over", () => {
  /** The clock of the limit ticks on meanwhile. */
  const slowDocument = `import { definePlugin } from "mg-team";
export default definePlugin({
  name: "slow",
  apply(team) {
    team.hooks.onSynthesis.tapPromise("slow", () => new Promise((resolve) => setTimeout(resolve, 700)));
  },
});
`;
  tell([
    {
      title: "it is told once, however long the document takes",
      plays: { a: "answer", b: [hangs("b")] },
      files: { "slow.ts": slowDocument },
      timeIsUp: ["b-hangs", "finished-agent_a-1"],
      args: [...limit, "--plugin", "./slow.ts"],
      ends: "forced timeout a, exit 0",
      look: ({ events }) => {
        expect(events.filter(({ type }) => type === "limit.reached").length).toBe(1);
        expect(events.filter(({ type }) => type === "stop").length).toBe(1);
      },
    },
  ]);
});

describe("at a barrier", () => {
  // The clock jumps in the same turn in which the last step ends, so that no timer strikes before the barrier.
  const barrier = (round: number): Pick<Story, "onEvent" | "args"> => ({
    args: limit,
    onEvent(event, { skip }) {
      if (event.type === "step.finished" && event.action.agent === "agent_b" && event.action.round === round) skip(pastEveryLimit);
    },
  });
  tell([
    {
      ...barrier(1),
      title: "nothing more is launched, and nothing has to be stopped",
      plays: { a: "answer", b: "answer after a" },
      rounds: ["a answered, b answered"],
      ends: "forced timeout a, exit 0",
      look: (run) => {
        expect(stopOf(run)?.stopped ?? []).toEqual([]);
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
      look: ({ result }) => expect(result.limits.reached).toBeNull(),
    },
  ]);
});

describe("--step-timeout", () => {
  tell([
    {
      title: "ends one step as failed, and the others go on",
      plays: { a: [hangs("a")], b: "answer, vote b", c: "answer, vote b" },
      timeIsUp: ["a-hangs", "finished-agent_b-1", "finished-agent_c-1"],
      args: ["--step-timeout", "600", "--timeout", "200000"],
      rounds: ["a failed(timeout), b answered, c answered", "b voted b, c voted b"],
      ends: "consensus majority b, exit 0",
      look: ({ result }) => {
        expect(result.limits).toMatchObject({ step_timeout_seconds: 600, reached: null });
        expect(result.agents[0]?.failure?.message).toBe("stopped: it did not act within its 600 s");
      },
    },
    {
      title: "what landed before counts as an action, not as a failure",
      plays: { a: [{ answer: landed, after: { announce: "a-landed", forever: true } }, "vote a"], b: agree },
      timeIsUp: ["a-landed", "finished-agent_b-1"],
      args: ["--step-timeout", "600", "--timeout", "200000"],
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "is for each step, not for all of them together",
      plays: { a: agree, b: agree },
      args: ["--step-timeout", "600", "--timeout", "200000"],
      onEvent(event, { skip }) {
        if (event.type === "step.started" && event.agent === "agent_a") skip(400);
      },
      rounds: ["a answered, b answered", "a voted a, b voted a"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "step_timeout of mg-team.yaml counts",
      plays: { a: [hangs("a")], b: "answer" },
      yaml: "step_timeout: 10m\ntimeout: 100h\n",
      timeIsUp: ["a-hangs", "finished-agent_b-1"],
      rounds: ["a failed(timeout), b answered"],
      ends: "single only_agent b, exit 0",
    },
  ]);
});

describe("silence", () => {
  test.concurrent(
    "a step that says nothing for 40 s at its start, then works, is not called hung; a heartbeat tells who is waited for",
    async () => {
      const slow: FakeStep = { startup: { file: "go" }, answer: { text: "slow", workspace: false } };
      const run = await playRun({
        plays: { a: [slow, "vote a"], b: agree },
        onEvent(event, { project, skip }) {
          if (event.type !== "step.finished" || event.action.agent !== "agent_b" || event.action.round !== 1) return;
          // After the line that this event is worth: a heartbeat comes after a silence.
          setTimeout(() => skip(40), 50);
          setTimeout(() => project.signal("go"), 2500);
        },
      });
      expect(endOf(run)).toBe("consensus majority a, exit 0");
      expect(run.stderr).toMatch(/\] waiting for agent_a \(starting, 4\ds\); \$0\.01 so far/);
      expect(run.stderr).not.toMatch(/hung|stuck/);
    },
    patience,
  );
});

describe("during synthesis", () => {
  const synthesis: FakeStep = { before: { announce: "synthesis-hangs", forever: true } };
  tell([
    {
      title: "the winner's answer is delivered, and the cause is said",
      plays: { a: agree, b: agree },
      script: { rules: [{ when: { session: "synthesis/session" }, step: synthesis }] },
      timeIsUp: ["synthesis-hangs"],
      args: ["--synthesis", "agent", ...limit],
      ends: "consensus majority a, exit 0",
      look: ({ result, stderr }) => {
        expect(readFileSync(result.synthesis.path ?? "", "utf8")).toContain("An answer, number 1");
        expect(result.synthesis).toMatchObject({
          kind: "markdown",
          why_not_agent: "the synthesis step brought no answer (the time limit of 1000 s is reached)",
        });
        expect(result.limits.reached).toBeNull();
        expect(result.cost.known).toBe("partial");
        expect(stderr).toContain("the time limit of 1000 s is reached");
      },
    },
    {
      title: "with less than half a minute left there is none, and the document says why",
      plays: { a: agree, b: agree },
      args: ["--synthesis", "agent", ...limit],
      onEvent(event, { skip }) {
        if (event.type === "decision") skip(1000 - event.elapsed - 25);
      },
      ends: "consensus majority a, exit 0",
      look: ({ result }) => {
        expect(result.synthesis.kind).toBe("markdown");
        expect(result.synthesis.why_not_agent).toMatch(/^only \d+(\.\d)?s of the time limit was left$/);
      },
    },
  ]);
});
