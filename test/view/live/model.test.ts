import { describe, expect, test } from "bun:test";
import type { EventBody } from "../../../src/session/events.ts";
import { agentRows } from "../../../src/view/agent-row.ts";
import { liveModel } from "../../../src/view/live/model.ts";
import { phraseOf } from "../../../src/view/phrases.ts";
import { roundStarted, started, stepCost, stepFinished, stepStarted } from "../../support/events.ts";
import { noLimits } from "../../support/team.ts";
import { watched } from "../../support/views.ts";

function progress(
  letter: string,
  phase: "thinking" | "tool" | "answered" | "voted",
  more: { tool?: string; text?: string; try?: number; round?: number } = {},
): EventBody {
  const { round = 1, try: attempt = 1, ...rest } = more;
  return { type: "step.progress", agent: `agent_${letter}`, round, try: attempt, phase, ...rest };
}

/** What the rows say after events, by letter. */
function phrases(bodies: Parameters<typeof watched>[0], elapsed = 100): Record<string, string> {
  const { state, activity } = watched(bodies);
  return Object.fromEntries(agentRows(state, activity, elapsed).map((row) => [row.id.slice(-1), phraseOf(row)]));
}

const begun = [started("ab"), roundStarted(1, "ab"), stepStarted("a"), stepStarted("b")];
const seen = { agent_a: 1, agent_b: 1 };
const launchedWith = { answers: seen, blank: [] };

describe("what an agent is at", () => {
  test("before its first step it waits", () => {
    expect(phrases([started("ab")])).toEqual({ a: "waiting", b: "waiting" });
  });

  test("a step starts, thinks, uses a tool, and is about to end", () => {
    expect(phrases(begun).a).toBe("starting");
    expect(phrases([...begun, progress("a", "thinking")]).a).toBe("thinking");
    expect(phrases([...begun, progress("a", "tool", { tool: "write_file" })]).a).toBe("using write_file");
    expect(phrases([...begun, progress("a", "tool", { tool: "write_file" }), progress("a", "thinking")]).a).toBe("thinking");
    expect(phrases([...begun, progress("a", "answered")]).a).toBe("answered");
    expect(phrases([...begun, progress("a", "voted")]).a).toBe("has voted");
  });

  test("at its end it has answered, or voted for somebody", () => {
    const ends = [
      ...begun,
      stepFinished("a", { answer: 1 }),
      stepFinished("b", { vote: "agent_b", step: 1, seen: { agent_a: 1 } }, { launchedWith: { answers: { agent_a: 1 }, blank: [] } }),
    ];
    expect(phrases(ends).a).toBe("answered");
    const voted = [
      ...begun,
      stepFinished("a", { answer: 1 }),
      stepFinished("b", { answer: 1 }),
      roundStarted(2, "ab"),
      stepFinished("a", { vote: "agent_b", step: 2, seen }, { round: 2, launchedWith }),
    ];
    expect(phrases(voted).a).toBe("voted for agent_b");
  });

  test("a vote is stale from the moment that somebody answers, before any barrier", () => {
    const bodies = [
      ...begun,
      stepFinished("a", { answer: 1 }),
      stepFinished("b", { answer: 1 }),
      roundStarted(2, "ab"),
      stepFinished("a", { vote: "agent_b", step: 2, seen }, { round: 2, launchedWith }),
      stepFinished("b", { answer: 2 }, { round: 2, launchedWith }),
    ];
    expect(phrases(bodies).a).toBe("stale vote for agent_b: agent_b has a newer answer (step 2) than when agent_a started");
  });

  test("what a barrier has marked stays, whatever the rules alone would say", () => {
    const ballot = {
      voter: "agent_a",
      target: "agent_b",
      step: 2,
      round: 2,
      reason: "",
      self: false,
      launchedWith,
      seenSteps: seen,
      standing: "invalid" as const,
      why: "a plugin says so",
    };
    const bodies = [
      ...begun,
      stepFinished("a", { answer: 1 }),
      stepFinished("b", { answer: 1 }),
      stepFinished("a", { vote: "agent_b", step: 2, seen }, { round: 2, launchedWith }),
      { type: "ballots", round: 2, ballots: [ballot], tally: {} } as const,
    ];
    expect(phrases(bodies).a).toBe("invalid vote for agent_b: a plugin says so");
  });

  test("a failure with a retry to come, then out, with the reason", () => {
    const failed = [...begun, stepFinished("a", { failed: "quota" }, { retry: true })];
    expect(phrases(failed).a).toBe("tries again; quota: it broke");
    const again = [...failed, stepStarted("a", { try: 2, kind: "retry" })];
    expect(phrases(again).a).toBe("starting");
    expect(phrases([...again, stepFinished("a", { failed: "crash" }, { try: 2, kind: "retry" })]).a).toBe("out, crash: it broke");
  });

  test("skipped by a plugin, and stopped by us", () => {
    expect(phrases([...begun, stepFinished("a", { skipped: "too dear" })]).a).toBe("skipped by tester: too dear");
    expect(phrases([...begun, stepFinished("a", { failed: "killed" }, { interrupted: true })]).a).toBe("stopped");
  });

  test("its time is that of the step under way, and its money that of all its steps", () => {
    const { state, activity } = watched([
      ...begun,
      stepFinished("a", { answer: 1 }, { cost: { usd: 0.2 } }),
      [50, stepStarted("a", { round: 2 })],
      stepCost("a", { usd: 0.1 }, { round: 2 }),
    ]);
    const row = agentRows(state, activity, 60)[0];
    expect([row?.seconds, row?.round, row?.cost?.usd]).toEqual([10, 2, 0.3]);
  });
});

describe("the whole run", () => {
  const at = (bodies: Parameters<typeof watched>[0], elapsed = 100) => {
    const { state, activity } = watched(bodies);
    return liveModel(state, activity, elapsed);
  };

  test("time and money left count down to nothing, never below", () => {
    const limits = { ...noLimits, timeoutSeconds: 120, costBudget: 1 };
    const begun = [{ ...started("ab"), limits } as EventBody, roundStarted(1, "ab"), stepStarted("a")];
    expect(at([...begun, stepCost("a", { usd: 0.25 })]).facts).toEqual(["1m 40s", "20s left", "$0.25", "$0.75 left"]);
    expect(at([...begun, stepCost("a", { usd: 1.5 })], 500).facts).toEqual(["8m 20s", "0s left", "$1.50", "$0.00 left"]);
  });

  test("the tally counts valid votes of live agents, and says how many are needed", () => {
    const bodies = [
      started("abc"),
      ...["a", "b", "c"].flatMap((letter) => [stepStarted(letter), stepFinished(letter, { answer: 1 })]),
      ...["a", "b", "c"].map((letter) =>
        stepFinished(
          letter,
          { vote: "agent_a", step: 2, seen: { ...seen, agent_c: 1 } },
          { round: 2, launchedWith: { answers: { ...seen, agent_c: 1 }, blank: [] } },
        ),
      ),
      stepFinished("c", { failed: "auth" }, { round: 3 }),
    ];
    expect(at(bodies).votes).toEqual({ tally: [{ agent: "agent_a", votes: 2 }], stale: 0, invalid: 0, needed: 2 });
  });

  test("the headline follows the run to its end", () => {
    expect(at([started("ab")]).headline).toBe("starting");
    expect(at(begun).headline).toBe("round 1 of 5");
    const decision = { kind: "consensus", reason: "majority", winner: "agent_a", rule: "" } as const;
    const stop = { type: "stop", reason: "timeout", message: "the time is up", stopped: [] } as const;
    expect(at([...begun, stop]).headline).toBe("stopping: the time is up");
    const decided = [...begun, stop, { type: "decision", round: 1, decision } as const];
    const synthesis = [...decided, { type: "synthesis.started", kind: "agent" } as const];
    expect(at(synthesis).headline).toBe("synthesis");
    expect(at([...synthesis, stepStarted("a", { kind: "synthesis", round: 0 })]).headline).toBe("synthesis by codex/model-a: starting");
    expect(at([...synthesis, { type: "synthesis.finished", kind: "agent", path: "" } as const]).headline).toBe("consensus for agent_a");
  });
});

describe("the last words", () => {
  const says = (letter: string, text: string) => progress(letter, "thinking", { text });
  const words = (bodies: Parameters<typeof watched>[0]) => {
    const { state, activity } = watched(bodies);
    return liveModel(state, activity, 100).words?.words ?? null;
  };

  test("are those of the agent that has spoken first, until others have waited long enough for their turn", () => {
    expect(words(begun)).toBeNull();
    expect(words([...begun, [10, says("a", "I think")], [12, says("b", "So do I")]])).toBe("I think");
    expect(words([...begun, [10, says("a", "I think")], [12, says("a", "I am")]])).toBe("I am");
    expect(words([...begun, [10, says("a", "I think")], [16, says("b", "So do I")]])).toBe("So do I");
  });

  test("of a step that has ended give way to those of one that goes on", () => {
    expect(words([...begun, [10, says("a", "I think")], [11, says("b", "So do I")], [12, stepFinished("a", { answer: 1 })]])).toBe(
      "So do I",
    );
    expect(words([...begun, [10, says("a", "I think")], [12, stepFinished("a", { answer: 1 })]])).toBeNull();
  });
});
