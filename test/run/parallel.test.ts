import { describe, expect } from "bun:test";
import type { TeamEvent } from "../../src/session/events.ts";
import type { FakeCost, FakeStep } from "../fixtures/fake-massgen/script.ts";
import { withPlugin } from "../support/outside-plugin.ts";
import { agentId } from "../support/plays.ts";
import { tell } from "../support/story.ts";

// Core loop 1 (design.md): steps of a round start together, or `--max-parallel` at a time. checkRun watches that never more of them run.

describe("all at once", () => {
  /** Ends only when the last of the others, and so all of them, has been launched. */
  const withAll = (letter: string, others: string): FakeStep => {
    const rest = [...others].filter((other) => other !== letter);
    const [first = "", last = ""] = [rest.at(0), rest.at(-1)];
    const launch = (other: string) => ({ launch: { agent: agentId(other), number: 1 } });
    return { answer: { text: "x", workspace: false }, startup: launch(last), before: launch(first) };
  };
  const all = Object.fromEntries([..."abcde"].map((letter) => [letter, [withAll(letter, "abcde"), "vote a"]]));
  tell([
    { title: "five steps of a round run at the same time", plays: all, ends: "consensus majority a, exit 0" },
    {
      title: "--max-parallel above the number of agents changes nothing",
      plays: all,
      args: ["--max-parallel", "9"],
      ends: "consensus majority a, exit 0",
    },
    {
      title: "no step sees what another of its round has not landed yet: all are launched with the same answers",
      plays: all,
      ends: "consensus majority a, exit 0",
      look: ({ events }) => {
        const starts = events.flatMap((event) => (event.type === "step.started" && event.round === 1 ? [event.launched_with] : []));
        expect(starts).toEqual(Array.from({ length: 5 }, () => ({ answers: {}, blank: [] })));
      },
    },
  ]);
});

describe("a few at a time", () => {
  const agree = "answer, vote a";
  tell([
    {
      title: "--max-parallel 1: one after the other, in the order of the team",
      plays: { a: agree, b: agree, c: agree },
      args: ["--max-parallel", "1"],
      ends: "consensus majority a, exit 0",
      rounds: ["a answered, b answered, c answered", "a voted a, b voted a, c voted a"],
      look: ({ events, launches }) => {
        expect(orderOf(events)).toEqual(["+a", "-a", "+b", "-b", "+c", "-c", "+a", "-a", "+b", "-b", "+c", "-c"]);
        expect(launches.flatMap(({ kind, agent }) => (kind === "step" ? [agent?.at(-1)] : []))).toEqual([..."abcabc"]);
      },
    },
    {
      title: "--max-parallel 2: two run, and the next one starts when either has ended",
      plays: { a: ["answer after b", "vote a"], b: ["answer", "vote a"], c: ["answer after a", "vote a"] },
      args: ["--max-parallel", "2"],
      ends: "consensus majority a, exit 0",
      look: ({ events }) => expect(orderOf(events).slice(0, 6)).toEqual(["+a", "+b", "-b", "+c", "-a", "-c"]),
    },
    {
      title: "a step that starts later in the round knows the answers that landed before",
      plays: { a: agree, b: "vote a", c: "vote a" },
      args: ["--max-parallel", "1"],
      rounds: ["a answered, b voted a, c voted a", "a voted a"],
      ends: "consensus majority a, exit 0",
      look: ({ events }) => {
        const starts = events.flatMap((event) => (event.type === "step.started" && event.round === 1 ? [event.launched_with.answers] : []));
        expect(starts).toEqual([{}, { agent_a: 1 }, { agent_a: 1 }]);
      },
    },
    {
      title: "a retry keeps its turn",
      plays: { a: "fail server, answer, vote a", b: agree },
      args: ["--max-parallel", "1"],
      ends: "consensus majority a, exit 0",
      look: ({ events }) => expect(orderOf(events).slice(0, 6)).toEqual(["+a", "-a", "+a", "-a", "+b", "-b"]),
    },
    {
      title: "an agent that waits for a quota leaves its turn to the others",
      plays: { a: "fail quota, answer, vote a", b: agree },
      args: ["--max-parallel", "1"],
      ends: "consensus majority a, exit 0",
      look: ({ events }) => expect(orderOf(events).slice(0, 6)).toEqual(["+a", "-a", "+b", "-b", "+a", "-a"]),
    },
    {
      title: "who waits for a turn when the time is over is not started",
      plays: { a: [{ before: { announce: "a-hangs", forever: true } }], b: "answer", c: "answer" },
      timeIsUp: ["a-hangs"],
      args: ["--max-parallel", "1", "--timeout", "1000"],
      rounds: ["a interrupted"],
      ends: "none timeout, exit 5",
      look: ({ launches }) => expect(launches.filter(({ kind }) => kind === "step").length).toBe(1),
    },
    {
      title: "max_parallel of mg-team.yaml counts",
      plays: { a: agree, b: agree },
      yaml: "max_parallel: 1\n",
      ends: "consensus majority a, exit 0",
      look: ({ events }) => expect(orderOf(events).slice(0, 4)).toEqual(["+a", "-a", "+b", "-b"]),
    },
  ]);
});

describe("who waits for a place is not launched any more", () => {
  const answer = (cost: FakeCost): FakeStep => ({ answer: { text: "x", workspace: false }, cost });
  const dear = answer({ usd: 1 });
  const unpriced = answer({ usd: 0, inputTokens: 1000, outputTokens: 100 });
  const args = (parallel: number, ...more: string[]) => ["--cost-budget", "1", "--max-parallel", String(parallel), ...more];
  const stopsOf = (events: readonly TeamEvent[]) => events.flatMap((event) => (event.type === "stop" ? [event] : []));
  tell([
    {
      title: "once the budget is used up, and that is journaled",
      plays: { a: [dear], b: [dear], c: [dear] },
      args: args(1),
      rounds: ["a answered"],
      ends: "forced cost_budget a, exit 0",
      rule: /^The budget of \$1\.00 is used up \(\$1\.00 spent\); /,
      look: ({ result, events }) => {
        expect(result.cost.total_usd).toBe(1);
        expect(stopsOf(events)).toMatchObject([{ reason: "cost_budget", stopped: [] }]);
      },
    },
    {
      title: "nor is a step that waits for a quota: the run ends with the last step that runs",
      plays: {
        a: [{ fail: { exit: 2, stderr: "Error code: 429 - Rate limit reached. Please try again in 250s" } }, dear],
        b: [{ fail: "server", cost: { usd: 0, inputTokens: 1000, outputTokens: 100 }, before: { file: "finished-agent_a-1" } }],
        c: [{ answer: { text: "x", workspace: false }, cost: { usd: 0.1 }, before: { file: "finished-agent_b-1" } }],
      },
      args: ["--cost-budget", "1"],
      ends: "forced cost_budget c, exit 0",
      look: ({ result, events }) => {
        expect(result.duration_seconds).toBeLessThan(200);
        expect(stopsOf(events)).toMatchObject([{ reason: "cost_budget", stopped: [] }]);
      },
    },
    {
      title: "once a price is missing",
      plays: { a: [unpriced], b: [unpriced], c: [unpriced] },
      args: args(1),
      rounds: ["a answered"],
      ends: "forced cost_budget a, exit 0",
      rule: /^The price of model-a is unknown, /,
    },
    {
      title: "but what runs is paid for and may finish",
      plays: { a: [dear], b: [{ ...answer({ usd: 0 }), before: { file: "finished-agent_a-1" } }], c: ["answer"] },
      args: args(2),
      rounds: ["a answered, b answered"],
      ends: "forced cost_budget a, exit 0",
      look: ({ events }) => expect(orderOf(events)).toEqual(["+a", "+b", "-a", "-b"]),
    },
    {
      title: "but what runs is stopped when it comes to exceed the budget",
      plays: {
        a: [dear],
        b: [
          {
            before: { file: "finished-agent_a-1" },
            cost: { live: [{ usd: 0.5, inputTokens: 9, outputTokens: 9, until: { forever: true } }] },
          },
        ],
        c: ["answer"],
      },
      args: args(2),
      rounds: ["a answered, b interrupted"],
      ends: "forced cost_budget a, exit 0",
      rule: /^The budget of \$1\.00 is exceeded \(\$1\.50 spent\); /,
    },
    {
      title: "and a retry that cannot be paid stops nobody who runs",
      plays: {
        a: [{ fail: "server", cost: { usd: 1 } }],
        b: [{ ...answer({ usd: 0 }), before: { file: "finished-agent_a-1", seconds: 1 } }],
      },
      args: args(2),
      rounds: ["a failed(model), b answered"],
      ends: "forced cost_budget b, exit 0",
      look: ({ result }) => expect(result.agents[0]?.status).toBe("live"),
    },
    {
      title: "when a plugin asks for that",
      plays: { a: "answer", b: "answer after a", c: "answer" },
      ...withPlugin(
        "enough",
        `team.hooks.onEvent.tap("enough", ({ type }) => {
          if (type === "step.finished") team.stop({ reason: "plugin", message: "enough" }, { finishRunning: true });
        });`,
        ["--max-parallel", "2"],
      ),
      rounds: ["a answered, b answered"],
      ends: "forced plugin a, exit 4",
    },
  ]);
});

/** `+a` for a start, `-a` for an end. */
function orderOf(events: readonly TeamEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === "step.started") return [`+${event.agent.at(-1)}`];
    return event.type === "step.finished" ? [`-${event.action.agent.at(-1)}`] : [];
  });
}
