import { describe, expect, test } from "bun:test";
import type { EventBody } from "../../../src/session/events.ts";
import type { RunResult } from "../../../src/session/result.ts";
import { applyEvent, emptyState } from "../../../src/session/state.ts";
import { changesOf, dissentOf } from "../../../src/view/report/story.ts";
import { timelineOf } from "../../../src/view/timeline.ts";
import { envelope, roundStarted, started, stepFinished } from "../../support/events.ts";

/** What agent_a does, round by round: `answer`, or whom it votes for. */
function changes(...deeds: readonly string[]) {
  const bodies: EventBody[] = [started("abc")];
  deeds.forEach((deed, index) => {
    const round = index + 1;
    bodies.push(roundStarted(round, "a"));
    bodies.push(
      stepFinished("a", deed === "answer" ? { answer: round } : deed === "" ? { failed: "crash" } : { vote: deed, step: round }, {
        round,
        retry: deed === "",
      }),
    );
  });
  const events = bodies.map((body, index) => envelope(body, index + 1));
  const state = emptyState();
  for (const event of events) applyEvent(state, event);
  return changesOf(timelineOf(state, events)).map(({ kind, round, from, to }) => `${round}: ${kind} ${from}→${to}`);
}

describe("who changed their mind", () => {
  test.each([
    [["answer", "answer"], []],
    [["answer", "agent_a"], []],
    [["agent_b", "agent_b"], []],
    [["answer", "agent_b"], ["2: yield agent_a→agent_b"]],
    [
      ["answer", "agent_b", "agent_c"],
      ["2: yield agent_a→agent_b", "3: vote agent_b→agent_c"],
    ],
    [
      ["agent_b", "answer", "agent_b"],
      ["2: answer agent_b→agent_a", "3: yield agent_a→agent_b"],
    ],
    [["agent_b", "", "agent_c"], ["3: vote agent_b→agent_c"]],
    [[], []],
  ])("%j: %j", (deeds, expected) => {
    expect(changes(...deeds)).toEqual(expected);
  });
});

describe("dissent", () => {
  const ballot = {
    voter: "agent_a",
    target: "agent_b",
    step: 1,
    round: 1,
    standing: "valid",
    why: "",
    self: false,
    reason: "better",
  } as const;
  const dissent = (winner: string | null, ballots: RunResult["decision"]["ballots"]) =>
    dissentOf({ decision: { winner, ballots } } as RunResult).map(({ voter }) => voter);

  test("is a valid vote for another than the winner", () => {
    expect(dissent("agent_c", [ballot, { ...ballot, voter: "agent_b", target: "agent_c" }])).toEqual(["agent_a"]);
  });

  test("is none where the vote did not count, or nobody was chosen", () => {
    expect(dissent("agent_c", [{ ...ballot, standing: "stale" }])).toEqual([]);
    expect(dissent(null, [ballot])).toEqual([]);
  });
});
