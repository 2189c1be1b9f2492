import { describe, expect, test } from "bun:test";
import { decideByAttrition, decideByExhaustion, decideByMajority, force, markBallots, mustAct, tallyOf } from "../src/consensus.ts";
import type { DecisionKind, DecisionReason, Deliberation, Standing } from "../src/types.ts";
import { type AgentSpec, decide, decidingHooks, deliberationWith, idOf, type VoteSpec } from "./support/decisions.ts";

type Spec = Readonly<Record<string, AgentSpec>>;

/** Marks, and gives the standing of agent_b's ballot. */
function mark(team: Spec) {
  const deliberation = deliberationWith(team);
  markBallots(deliberation);
  const ballot = deliberation.agents.find(({ id }) => id === "agent_b")?.ballot;
  return { standing: ballot?.standing, why: ballot?.why };
}

describe("a ballot (core loop 3)", () => {
  const answered: AgentSpec = { answers: { 1: 100 } };
  const cases: [title: string, standing: Standing, why: string, vote: VoteSpec | string, team?: Spec][] = [
    ["for an answer that was there at launch and is still current is valid", "valid", "", "a"],
    ["for itself is valid when the voter has an answer", "valid", "", "b", { b: { answers: { 1: 5 } } }],
    ["that claims more than there is stays valid", "valid", "", { for: "a", seen: { a: 9, c: 4, agent_zz: 1 } }],
    ["is valid though an agent without an answer is missing from seen_steps", "valid", "", { for: "a", seen: { a: 1 } }],
    ["is valid though another agent's answer was blank at launch", "valid", "", { for: "a", blank: ["c"] }],
    ["for nobody is invalid", "invalid", "nobody is not an agent of this team", ""],
    ["for an unknown agent is invalid", "invalid", "agent9 is not an agent of this team", "agent9"],
    ["for an anonymous label is invalid", "invalid", "agent1.1 is not an agent of this team", "agent1.1"],
    ["for a name that every object has is invalid", "invalid", "constructor is not an agent of this team", "constructor"],
    ["for __proto__ is invalid", "invalid", "__proto__ is not an agent of this team", "__proto__"],
    ["for an id in another case is invalid", "invalid", "AGENT_A is not an agent of this team", "AGENT_A"],
    ["for an agent without an answer is invalid", "invalid", "agent_c has no answer", "c"],
    ["for itself without an answer is invalid", "invalid", "agent_b has no answer", "b"],
    [
      "whose target was blank at launch is invalid",
      "invalid",
      "the newest answer of agent_a was blank when agent_b started",
      { for: "a", blank: ["a"] },
    ],
    ["is invalid rather than stale when it is both", "invalid", "agent_c has no answer", { for: "c", launched: {}, seen: null }],
    ["without seen_steps is stale", "stale", "it does not say which answers it has seen", { for: "a", seen: null }],
    ["with empty seen_steps is stale", "stale", "it does not say which answers it has seen", { for: "a", seen: {} }],
    [
      "is stale when its target is newer than at launch",
      "stale",
      "agent_a has a newer answer (step 1) than when agent_b started",
      { for: "a", launched: {} },
    ],
    [
      "is stale though seen_steps claims to have seen the newer answer",
      "stale",
      "agent_c has a newer answer (step 3) than when agent_b started",
      { for: "a", launched: { a: 1, c: 1 }, seen: { a: 1, c: 3 } },
      { c: { answers: { 1: 1, 3: 300 } } },
    ],
    [
      "is stale when an agent that it did not vote for has answered for the first time",
      "stale",
      "agent_c has a newer answer (step 1) than when agent_b started",
      { for: "a", launched: { a: 1 } },
      { c: answered },
    ],
    [
      "is stale when seen_steps is older than launched_with",
      "stale",
      "agent_a has a newer answer (step 2) than agent_b saw",
      { for: "a", launched: { a: 2 }, seen: { a: 1 } },
      { a: { answers: { 1: 100, 2: 200 } } },
    ],
    [
      "is stale when seen_steps leaves out an answer of another agent",
      "stale",
      "agent_c has a newer answer (step 1) than agent_b saw",
      { for: "a", seen: { a: 1 } },
      { c: answered },
    ],
    [
      "is stale when its voter has answered since",
      "stale",
      "agent_b has answered since (step 2)",
      { for: "a", step: 1, launched: { a: 1 }, seen: { a: 1 } },
      { b: { answers: { 2: 200 } } },
    ],
    [
      "is stale when a failed-out agent's answer is newer: that answer can still win",
      "stale",
      "agent_c has a newer answer (step 2) than when agent_b started",
      { for: "a", launched: { a: 1, c: 1 } },
      { c: { answers: { 1: 1, 2: 300 }, out: true } },
    ],
  ];
  for (const [title, standing, why, vote, team] of cases) {
    test(`${title}`, () => {
      const { a = answered, b = {}, c = {} } = team ?? {};
      expect(mark({ a, b: { ...b, vote }, c })).toEqual({ standing, why });
    });
  }

  test("is marked anew each time: a mark of before does not stay", () => {
    const deliberation = deliberationWith({ a: answered, b: { vote: { for: "a", standing: "stale" } } });
    markBallots(deliberation);
    expect(deliberation.agents[1]?.ballot).toMatchObject({ standing: "valid", why: "" });
  });

  test("of an agent that is out is marked like any other", () => {
    expect(mark({ a: answered, b: { vote: { for: "a", seen: {} }, out: true }, c: {} }).standing).toBe("stale");
  });

  test("is all that marking changes", () => {
    const deliberation = deliberationWith({ a: answered, b: { vote: "a" }, c: {} });
    const before = structuredClone(deliberation);
    markBallots(deliberation);
    expect(deliberation).toEqual(before);
  });
});

interface Row {
  readonly title: string;
  readonly team: Spec;
  readonly more?: Parameters<typeof deliberationWith>[1];
  /** null: go on. */
  readonly verdict: [kind: DecisionKind, reason: DecisionReason, winner: string | null, rule: string] | null;
}

/** An answer at that time, with a vote. */
const voting = (at: number, vote: string | VoteSpec, rest: AgentSpec = {}): AgentSpec => ({ answers: { 1: at }, vote, ...rest });
const stop = (reason: DecisionReason, message: string) => ({ stop: { reason, message } });
const stale = (target: string): VoteSpec => ({ for: target, seen: {} });

const barrier: Row[] = [
  {
    title: "(a) no live agent, one answer: it is forced",
    team: { a: { answers: { 1: 1 }, out: true }, b: { out: true } },
    verdict: ["forced", "agents_failed", "a", "No agent is left; agent_a is the only agent with an answer."],
  },
  {
    title: "(a) no live agent, several answers: votes of agents that are out count",
    team: { a: { answers: { 1: 1 }, out: true }, b: { answers: { 1: 2 }, out: true }, c: { vote: stale("b"), out: true } },
    verdict: ["forced", "agents_failed", "b", "No agent is left; no vote was valid, and agent_b had the most stale votes (1)."],
  },
  {
    title: "(a) no live agent, no answer: none",
    team: { a: { out: true }, b: { out: true } },
    verdict: ["none", "agents_failed", null, "No agent is left; no agent has submitted an answer."],
  },
  {
    title: "(b) one live agent with an answer: its answer, whatever the votes say",
    team: { a: { answers: { 1: 9 } }, b: voting(1, "b", { out: true }), c: { vote: "b", out: true } },
    verdict: ["single", "only_agent", "a", "Only agent_a is left, so its answer is taken directly."],
  },
  {
    title: "(b) before a stop",
    team: { a: { answers: { 1: 9 } }, b: { out: true } },
    more: stop("timeout", "the time limit of 1800 s is reached"),
    verdict: ["single", "only_agent", "a", "Only agent_a is left, so its answer is taken directly."],
  },
  {
    title: "(c) one live agent without an answer: the others' answers are forced",
    team: { a: {}, b: { answers: { 1: 2 }, out: true }, c: { answers: { 1: 1 }, out: true } },
    verdict: [
      "forced",
      "only_agent",
      "c",
      "Only agent_a is left, and it has no answer; there were no votes to count, and agent_c answered first.",
    ],
  },
  {
    title: "(c) with a valid vote of its own: that vote is counted",
    team: { a: { vote: "b" }, b: { answers: { 1: 2 }, out: true }, c: { answers: { 1: 1 }, out: true } },
    verdict: ["forced", "only_agent", "b", "Only agent_a is left, and it has no answer; agent_b had the most valid votes (1)."],
  },
  { title: "(c) one live agent, no answer anywhere: it tries again", team: { a: {}, b: { out: true } }, verdict: null },
  {
    title: "(c) then (f): it tries again only while it has rounds",
    team: { a: { rounds: 5 }, b: { out: true } },
    verdict: ["none", "max_rounds", null, "agent_a must act again but has had all of its 5 rounds; no agent has submitted an answer."],
  },
  {
    title: "(d) all valid, more than half for one: consensus",
    team: { a: voting(1, "b"), b: voting(2, "b"), c: { vote: "a" } },
    verdict: ["consensus", "majority", "b", "2 of 3 agents voted for agent_b, which is more than half."],
  },
  {
    title: "(d) self-votes count",
    team: { a: voting(1, "a"), b: { vote: "a" } },
    verdict: ["consensus", "majority", "a", "2 of 2 agents voted for agent_a, which is more than half."],
  },
  {
    title: "(d) only the live agents count",
    team: { a: voting(1, "a"), b: { vote: "a" }, c: { vote: stale("b"), out: true }, d: { out: true } },
    verdict: ["consensus", "majority", "a", "2 of 2 agents voted for agent_a, which is more than half."],
  },
  {
    title: "(d) an agent that is out can win by its earlier answer",
    team: { a: { vote: "c" }, b: { vote: "c" }, c: { answers: { 1: 1 }, out: true } },
    verdict: ["consensus", "majority", "c", "2 of 2 agents voted for agent_c, which is more than half."],
  },
  {
    title: "(d) after the last round too",
    team: { a: voting(1, "a", { rounds: 5 }), b: { vote: "a", rounds: 5 } },
    verdict: ["consensus", "majority", "a", "2 of 2 agents voted for agent_a, which is more than half."],
  },
  {
    title: "(d) complete at a stop: the consensus wins",
    team: { a: voting(1, "a"), b: { vote: "a" } },
    more: stop("timeout", "the time limit of 1800 s is reached"),
    verdict: ["consensus", "majority", "a", "2 of 2 agents voted for agent_a, which is more than half."],
  },
  {
    title: "(d) not while one live agent has no ballot, though the rest agree",
    team: { a: voting(1, "a"), b: { vote: "a" }, c: { vote: "a" }, d: {} },
    verdict: null,
  },
  {
    title: "(d) not while one ballot is stale, though the rest agree",
    team: { a: voting(1, "a"), b: { vote: "a" }, c: { vote: "a" }, d: { vote: stale("a") } },
    verdict: null,
  },
  {
    title: "(d) not while one ballot is invalid, though the rest agree",
    team: { a: voting(1, "a"), b: { vote: "a" }, c: { vote: "a" }, d: { vote: "agent9" } },
    verdict: null,
  },
  {
    title: "(e) all valid, exactly half: split vote",
    team: { a: voting(1, "a"), b: voting(2, "b"), c: { vote: "b" }, d: { vote: "a" } },
    verdict: [
      "forced",
      "split_vote",
      "a",
      "Every agent had a valid vote, but nobody got more than half of them; agent_a and agent_b had the most valid votes (2 each); of these, agent_a answered first.",
    ],
  },
  {
    title: "(e) two that vote for themselves: split vote, no more rounds",
    team: { a: voting(2, "a"), b: voting(1, "b") },
    verdict: [
      "forced",
      "split_vote",
      "b",
      "Every agent had a valid vote, but nobody got more than half of them; agent_a and agent_b had the most valid votes (1 each); of these, agent_b answered first.",
    ],
  },
  {
    title: "(e) at a stop: the reason stays the split vote",
    team: { a: voting(2, "a"), b: voting(1, "b") },
    more: stop("timeout", "the time limit of 1800 s is reached"),
    verdict: [
      "forced",
      "split_vote",
      "b",
      "Every agent had a valid vote, but nobody got more than half of them; agent_a and agent_b had the most valid votes (1 each); of these, agent_b answered first.",
    ],
  },
  {
    title: "(f) an agent that must act has had all rounds",
    team: { a: { answers: { 1: 1 }, rounds: 5 }, b: { vote: "a", rounds: 2 } },
    verdict: [
      "forced",
      "max_rounds",
      "a",
      "agent_a must act again but has had all of its 5 rounds; agent_a is the only agent with an answer.",
    ],
  },
  {
    title: "(f) with a single round",
    team: { a: { answers: { 1: 1 } }, b: { answers: { 1: 2 } } },
    more: { maxRounds: 1 },
    verdict: [
      "forced",
      "max_rounds",
      "a",
      "agent_a must act again but has had its only round; there were no votes to count, and agent_a answered first.",
    ],
  },
  {
    title: "(f) an agent with a valid ballot has had all rounds: the others go on",
    team: { a: voting(1, "a", { rounds: 5 }), b: { rounds: 4 } },
    verdict: null,
  },
  {
    title: "(f) an agent that is out has had all rounds: the others go on",
    team: { a: { rounds: 5, out: true }, b: { answers: { 1: 1 }, rounds: 4 }, c: { rounds: 4 } },
    verdict: null,
  },
  {
    title: "(f) before (g): out of rounds and nothing launched",
    team: { a: { answers: { 1: 1 }, rounds: 5 }, b: { rounds: 5 } },
    more: { launched: 0 },
    verdict: [
      "forced",
      "max_rounds",
      "a",
      "agent_a must act again but has had all of its 5 rounds; agent_a is the only agent with an answer.",
    ],
  },
  {
    title: "(f) a stop with answers and no vote: the first answer",
    team: { a: { answers: { 1: 7 } }, b: { answers: { 1: 3, 2: 9 } }, c: {} },
    more: stop("timeout", "the time limit of 1800 s is reached"),
    verdict: ["forced", "timeout", "b", "The time limit of 1800 s is reached; there were no votes to count, and agent_b answered first."],
  },
  {
    title: "(f) a stop without an answer: none",
    team: { a: {}, b: { vote: "a" } },
    more: stop("cost_budget", "the budget of $5.00 is exceeded ($5.31 spent)."),
    verdict: ["none", "cost_budget", null, "The budget of $5.00 is exceeded ($5.31 spent); no agent has submitted an answer."],
  },
  {
    title: "(g) a round that launched nothing",
    team: { a: { answers: { 1: 1 } }, b: {} },
    more: { launched: 0 },
    verdict: ["forced", "plugin", "a", "A plugin skipped every launch of the round; agent_a is the only agent with an answer."],
  },
  {
    title: "(g) not before the first round",
    team: { a: {}, b: {} },
    more: { launched: 0, round: 0 },
    verdict: null,
  },
  {
    title: "(h) somebody must act and may",
    team: { a: { answers: { 1: 1 }, rounds: 4 }, b: { vote: "a", rounds: 4 } },
    verdict: null,
  },
  {
    title: "(h) an agent that answered takes part again",
    team: { a: { answers: { 2: 5 }, vote: { for: "b", step: 1 } }, b: { answers: { 1: 1 }, vote: { for: "a", launched: { a: 2, b: 1 } } } },
    verdict: null,
  },
];

describe("at the barrier (core loop 4), the first that matches:", () => {
  for (const { title, team, more, verdict } of barrier) {
    const expected = verdict && { kind: verdict[0], reason: verdict[1], winner: verdict[2] && idOf(verdict[2]), rule: verdict[3] };

    test(title, async () => {
      expect(decide(deliberationWith(team, more))).toEqual(expected);
      const hooked = await decidingHooks().onConsensus.promise(deliberationWith(team, more));
      expect((hooked as Deliberation).verdict).toEqual(expected);
    });
  }

  test("a verdict that a plugin has set before stays", async () => {
    const hooks = decidingHooks();
    const verdict = { kind: "single", reason: "plugin", winner: "agent_b", rule: "I said so." } as const;
    hooks.onConsensus.tap({ name: "early", stage: -1 }, (deliberation) => ({ ...deliberation, verdict }));
    const row = { a: voting(1, "a"), b: voting(2, "a") };
    expect(await hooks.onConsensus.promise(deliberationWith(row))).toMatchObject({ verdict });
  });

  test("a plugin that forces without a winner leaves the winner to the forced rule", async () => {
    const hooks = decidingHooks();
    hooks.onConsensus.tap("force", (deliberation) => {
      deliberation.verdict = { kind: "forced", reason: "plugin", winner: null, rule: "Enough." };
    });
    const settled = (await hooks.onConsensus.promise(
      deliberationWith({ a: { answers: { 1: 2 } }, b: { answers: { 1: 1 } } }),
    )) as Deliberation;
    expect(settled.verdict).toEqual({
      kind: "forced",
      reason: "plugin",
      winner: "agent_b",
      rule: "Enough; there were no votes to count, and agent_b answered first.",
    });
  });

  test("no rule decides by itself what belongs to another", () => {
    const one = deliberationWith({ a: voting(1, "a"), b: { out: true } });
    expect(decideByMajority(one)).toBeNull();
    const two = deliberationWith({ a: voting(1, "a"), b: { vote: "a" } });
    expect(decideByAttrition(two)).toBeNull();
    expect(decideByExhaustion(two)).toBeNull();
  });
});

describe("the forced rule", () => {
  const cases: [title: string, team: Spec, winner: string, rule: string][] = [
    ["the only answer wins", { a: {}, b: { answers: { 1: 1 } } }, "b", "agent_b is the only agent with an answer"],
    [
      "most valid votes win over the earlier answer",
      { a: { answers: { 1: 1 } }, b: voting(2, "b"), c: { vote: "b" } },
      "b",
      "agent_b had the most valid votes (2)",
    ],
    [
      "valid votes win over more stale ones",
      { a: voting(1, stale("a")), b: voting(2, stale("a")), c: { vote: stale("a") }, d: { vote: "b" } },
      "b",
      "agent_b had the most valid votes (1)",
    ],
    [
      "without valid votes the stale ones count",
      { a: { answers: { 1: 1 } }, b: { answers: { 1: 2 } }, c: { vote: stale("b") }, d: { vote: stale("b") }, e: { vote: stale("a") } },
      "b",
      "no vote was valid, and agent_b had the most stale votes (2)",
    ],
    [
      "a stale vote whose voter has answered since does not count",
      { a: { answers: { 1: 1 } }, b: { answers: { 1: 2 } }, c: { answers: { 2: 3 }, vote: { for: "b", step: 1 } } },
      "a",
      "there were no votes to count, and agent_a answered first",
    ],
    [
      "invalid votes never count",
      {
        a: { answers: { 1: 1 } },
        b: { answers: { 1: 2 } },
        c: { vote: { for: "b", blank: ["b"] } },
        d: { vote: { for: "b", blank: ["b"], seen: {} } },
      },
      "a",
      "there were no votes to count, and agent_a answered first",
    ],
    [
      "a vote that was for an agent without an answer counts as stale once that agent has answered",
      { a: { answers: { 1: 1 } }, b: { answers: { 1: 2 } }, c: { vote: { for: "b", launched: { a: 1 } } } },
      "b",
      "no vote was valid, and agent_b had the most stale votes (1)",
    ],
    [
      "a tie of two: votes from others win over self-votes",
      { a: voting(1, "a"), b: voting(2, "a"), c: { vote: "b" }, d: { vote: "b" }, e: { vote: stale("a") } },
      "b",
      "agent_a and agent_b had the most valid votes (2 each); of these, agent_b had the most votes from other agents (2)",
    ],
    [
      "a tie of stale votes too",
      { a: { answers: { 1: 1 }, vote: stale("a") }, b: { answers: { 1: 2 } }, c: { vote: stale("b") } },
      "b",
      "no vote was valid, and agent_a and agent_b had the most stale votes (1 each); of these, agent_b had the most votes from other agents (1)",
    ],
    [
      "a tie of two, votes from others tied: the first answer",
      { a: { answers: { 1: 9 } }, b: { answers: { 1: 2 } }, c: { vote: "a" }, d: { vote: "b" } },
      "b",
      "agent_a and agent_b had the most valid votes (1 each); of these, agent_b answered first",
    ],
    [
      "the first answer is meant, not the current one",
      { a: { answers: { 1: 1, 4: 90 } }, b: { answers: { 1: 2 } } },
      "a",
      "there were no votes to count, and agent_a answered first",
    ],
    [
      "a tie of two to the end: the order of agents",
      { a: { answers: { 1: 5 } }, b: { answers: { 1: 5 } }, c: { vote: "a" }, d: { vote: "b" } },
      "a",
      "agent_a and agent_b had the most valid votes (1 each); they answered at the same moment, and agent_a comes first in the team",
    ],
    [
      "a tie of three",
      { a: voting(3, "a"), b: voting(2, "b"), c: voting(1, "c") },
      "c",
      "agent_a, agent_b, and agent_c had the most valid votes (1 each); of these, agent_c answered first",
    ],
    [
      "a tie of three in a circle of votes",
      { a: voting(3, "b"), b: voting(2, "c"), c: voting(2, "a") },
      "b",
      "agent_a, agent_b, and agent_c had the most valid votes (1 each); of these, agent_b and agent_c answered first; they answered at the same moment, and agent_b comes first in the team",
    ],
    [
      "a tie of four, two of them voted for by others",
      { a: voting(1, "a"), b: voting(2, "b"), c: voting(3, "d"), d: voting(4, "c") },
      "c",
      "agent_a, agent_b, agent_c, and agent_d had the most valid votes (1 each); of these, agent_c and agent_d had the most votes from other agents (1 each); of these, agent_c answered first",
    ],
    [
      "a tie of five",
      { a: voting(5, "a"), b: voting(5, "b"), c: voting(5, "c"), d: voting(5, "d"), e: voting(5, "e") },
      "a",
      "agent_a, agent_b, agent_c, agent_d, and agent_e had the most valid votes (1 each); they answered at the same moment, and agent_a comes first in the team",
    ],
    [
      "no votes, all at the same moment",
      { a: {}, b: { answers: { 1: 5 } }, c: { answers: { 1: 5 } }, d: { answers: { 1: 6 } } },
      "b",
      "there were no votes to count, and agent_b and agent_c answered first; they answered at the same moment, and agent_b comes first in the team",
    ],
    [
      "an agent that is out can win",
      { a: { answers: { 1: 1 } }, b: { answers: { 1: 2 }, out: true }, c: { vote: "b" } },
      "b",
      "agent_b had the most valid votes (1)",
    ],
  ];
  for (const [title, team, winner, rule] of cases) {
    test(title, () => {
      const deliberation = deliberationWith(team);
      markBallots(deliberation);
      expect(force(deliberation, "timeout", "Time is over")).toEqual({
        kind: "forced",
        reason: "timeout",
        winner: idOf(winner),
        rule: `Time is over; ${rule}.`,
      });
    });
  }

  test("nothing is forced without an answer", () => {
    const verdict = force(deliberationWith({ a: {}, b: { vote: "a" } }), "timeout", "Time is over");
    expect(verdict).toEqual({ kind: "none", reason: "timeout", winner: null, rule: "Time is over; no agent has submitted an answer." });
  });

  test("a vote that a plugin marked valid for an agent without an answer is not counted", () => {
    const team = { a: { answers: { 1: 1 } }, b: { vote: "c" }, c: {}, d: { answers: { 1: 2 } } };
    expect(force(deliberationWith(team), "timeout", "Time is over").winner).toBe("agent_a");
  });
});

describe("every rule reads as a sentence", () => {
  const rules = barrier.flatMap(({ verdict }) => (verdict ? [verdict[3]] : []));
  for (const rule of new Set(rules)) {
    test(rule, () => {
      expect(rule).toMatch(/^(No|Only|Every|The|A|\d|agent_)/);
      expect(rule).toMatch(/[^.]\.$/);
      expect(rule).not.toMatch(/ {2}|;;|; ;|undefined|null|NaN|Infinity|\b1 (rounds|votes|agents)\b/);
    });
  }

  test("also when the message of a stop has its own full stops, in lower case, or is empty", () => {
    const rule = (message: string) => decide(deliberationWith({ a: { answers: { 1: 1 } }, b: {} }, stop("plugin", message)))?.rule;
    expect(rule("that is enough...  ")).toBe("That is enough; agent_a is the only agent with an answer.");
    expect(rule("/a/b.ts is broken")).toBe("/a/b.ts is broken; agent_a is the only agent with an answer.");
    expect(rule(" \n")).toBe("The run was stopped; agent_a is the only agent with an answer.");
  });
});

describe("helpers for plugins", () => {
  test("mustAct names the live agents without a valid ballot, in the order of agents", () => {
    const deliberation = deliberationWith({
      a: { answers: { 1: 1 } },
      b: { vote: "a" },
      c: { vote: "d" },
      d: {},
      e: { out: true },
      f: { vote: stale("a") },
    });
    markBallots(deliberation);
    expect(mustAct(deliberation).map(({ id }) => id)).toEqual(["agent_a", "agent_c", "agent_d", "agent_f"]);
  });

  test("the tally holds valid votes only, most first, ties in the order of agents", () => {
    const deliberation = deliberationWith({
      a: voting(1, "c"),
      b: voting(2, "b"),
      c: voting(3, "d"),
      d: voting(4, "d"),
      e: { vote: stale("a") },
    });
    markBallots(deliberation);
    expect([...tallyOf(deliberation.agents)]).toEqual([
      ["agent_d", 2],
      ["agent_b", 1],
      ["agent_c", 1],
    ]);
  });
});
