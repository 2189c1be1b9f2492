import { describe, expect } from "bun:test";
import type { TeamEvent } from "../../src/session/events.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
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

/** `+a` for a start, `-a` for an end. */
function orderOf(events: readonly TeamEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === "step.started") return [`+${event.agent.at(-1)}`];
    return event.type === "step.finished" ? [`-${event.action.agent.at(-1)}`] : [];
  });
}
