import { expect, test } from "bun:test";
import { mustAct, tallyOf } from "../src/consensus.ts";
import type { EventBody } from "../src/session/events.ts";
import { applyEvent, deliberationOf, emptyState, type RunState } from "../src/session/state.ts";
import type { AgentId, Deliberation, StopRequest } from "../src/types.ts";
import { type Choices, randomChoices, recordedChoices, shrink } from "./support/choices.ts";
import { decide } from "./support/decisions.ts";
import { envelope, resumed, started } from "./support/events.ts";
import { type Disk, describeLanding, eventOf, type Landing, playRound } from "./support/history.ts";
import { type Deed, recount } from "./support/recount.ts";

// Whole runs by chance, decided by the real rules and by an independent recount. MG_TEST_SEED and MG_TEST_HISTORIES change which and how many.
const histories = Number(process.env.MG_TEST_HISTORIES ?? 100_000);
const firstSeed = Number(process.env.MG_TEST_SEED ?? 1);

test(`${histories} random runs end, within their limits, as the recount says`, () => {
  const ends = new Map<string, number>();
  let played = 0;
  for (; played < histories; played++) {
    const choices = randomChoices(firstSeed + played);
    try {
      const end = playRun(choices);
      ends.set(end, (ends.get(end) ?? 0) + 1);
    } catch (error) {
      throw new Error(explain(firstSeed + played, choices.taken, error));
    }
  }
  expect(played).toBe(histories);
  // The runs are worth something only when every kind of end is among them.
  if (histories >= 10_000) {
    for (const end of everyEnd) expect(`${end}: ${ends.get(end) ?? 0}`).not.toBe(`${end}: 0`);
  }
}, 120_000);

// --- internal ---

const everyEnd = [
  "consensus majority",
  "forced split_vote",
  "forced max_rounds",
  "forced timeout",
  "forced interrupted",
  "forced only_agent",
  "forced agents_failed",
  "forced plugin",
  "single only_agent",
  "none agents_failed",
  "none timeout",
  "none max_rounds",
  "none plugin",
];

/** Plays one run to its end and returns how it ended; throws where a property does not hold. */
function playRun(choices: Choices, say: (line: string) => void = () => {}): string {
  const letters = "abcdef".slice(0, 1 + choices.next(6));
  const agents = [...letters].map((letter) => `agent_${letter}`);
  const maxRounds = 1 + choices.next(5);
  const retries = choices.next(3);
  say(`agents ${letters}, max_rounds ${maxRounds}, retries ${retries}`);
  const disk: Disk = { files: [] };
  const deeds: Deed[] = [];
  // The same history delivered in two orders.
  const one = emptyState();
  const other = emptyState();
  const both = (body: EventBody) => {
    apply(one, body);
    apply(other, body);
  };
  both(started(letters));
  let next: readonly AgentId[] = agents;
  let clock = 1;
  let round = 1;
  let launched = 0;
  for (let turns = 0; ; turns++) {
    must(round <= agents.length * maxRounds, `the run is in round ${round}`);
    must(turns <= agents.length * maxRounds + 200, "the run does not end");
    both({ type: "round.started", round, agents: next });
    const played = playRound(choices, disk, { agents, next, round, start: clock, retries });
    clock = played.end;
    launched += played.launched.length;
    for (const agent of played.launched) both(launchOf(agent, round));
    const landings = [...played.landings].sort((a, b) => a.deed.at - b.deed.at);
    for (const landing of landings) say(describeLanding(landing));
    for (const landing of landings) apply(one, eventOf(landing));
    for (const landing of permuteTies(choices, landings)) apply(other, eventOf(landing));
    for (const { deed, retry, interrupted } of landings) if (!retry && !interrupted) deeds.push(deed);
    const reason = played.stopAt === null ? null : choices.next(2) === 1 ? "interrupted" : "timeout";
    if (reason) both({ type: "stop", reason, message: "it was stopped", stopped: [] });

    let outcome = barrier(one, other, { agents, deeds, maxRounds, launchedThisRound: launched, stopReason: reason }, say);
    if (outcome.end && reason === "interrupted" && choices.next(2) === 1) {
      // A resume takes the round up again for those who had not acted in it; without any it decides anew.
      both(resumed());
      say("resumed");
      const acted = (agent: AgentId) => deeds.some((deed) => deed.agent === agent && (deed.round === round || deed.did === "fail"));
      next = one.roundAgents.filter((agent) => !acted(agent));
      must(!one.roundEnded, "a stopped round counts as ended");
      if (next.length > 0) continue;
      outcome = barrier(one, other, { agents, deeds, maxRounds, launchedThisRound: launched, stopReason: null }, say);
    }
    if (outcome.end) return outcome.end;
    next = outcome.next;
    must(next.length > 0, "nobody must act, yet nothing is decided");
    must(one.roundEnded, "a round that reached its barrier has not ended");
    round++;
    launched = 0;
  }
}

/** Deliberates over both orders of delivery and compares them with each other and with the recount. */
function barrier(
  one: RunState,
  other: RunState,
  situation: Parameters<typeof recount>[0],
  say: (line: string) => void,
): { readonly end: string | null; readonly next: readonly AgentId[] } {
  const { maxRounds, stopReason } = situation;
  const stop = stopReason === null ? null : ({ reason: stopReason, message: "it was stopped" } as StopRequest);
  const deliberation = deliberationOf(one, maxRounds, stop);
  const again = deliberationOf(other, maxRounds, stop);
  deliberation.verdict = decide(deliberation);
  again.verdict = decide(again);
  const { verdict } = deliberation;
  const naive = recount(situation);
  say(`  barrier: ${verdict ? `${verdict.kind} ${verdict.reason} ${verdict.winner}: ${verdict.rule}` : "go on"}`);

  same(verdict?.kind, again.verdict?.kind, "kind depends on the order of delivery");
  same(verdict?.winner, again.verdict?.winner, "winner depends on the order of delivery");
  same(verdict?.rule, again.verdict?.rule, "rule depends on the order of delivery");
  same(verdict?.kind, naive.verdict?.kind, "kind");
  same(verdict?.reason, naive.verdict?.reason, "reason");
  same(verdict?.winner, naive.verdict?.winner, "winner");
  same(
    mustAct(deliberation)
      .map(({ id }) => id)
      .join(),
    naive.next.join(),
    "who must act",
  );
  const tally = tallyOf(deliberation.agents);
  same(tally.size, Object.keys(naive.tally).length, "size of the tally");
  for (const [agent, votes] of tally) same(votes, naive.tally[agent], `votes for ${agent}`);
  for (const [index, { id, ballot, rounds }] of deliberation.agents.entries()) {
    same(ballot?.standing, naive.standings[id], `standing of the ballot of ${id}`);
    same(ballot?.standing, again.agents[index]?.ballot?.standing, `standing of the ballot of ${id}, by the order of delivery`);
    same(ballot?.why === "", ballot ? ballot.standing === "valid" : false, `${id}'s ballot says why it does not count`);
    must(rounds <= maxRounds, `${id} has had ${rounds} rounds`);
  }
  soundness(deliberation);
  for (const [state, { round, agents }] of [
    [one, deliberation],
    [other, again],
  ] as const) {
    apply(state, { type: "ballots", round, ballots: agents.flatMap(({ ballot }) => ballot ?? []), tally: {} });
    if (verdict) apply(state, { type: "decision", round, decision: verdict });
  }
  must(stop === null || verdict !== null, "a stop decides nothing");
  return { end: verdict && `${verdict.kind} ${verdict.reason}`, next: naive.next };
}

/** What must hold of a decision whatever the recount says. */
function soundness({ agents, current, verdict }: Deliberation): void {
  if (!verdict) return;
  const ballots = agents.flatMap(({ ballot }) => ballot ?? []);
  const valid = ballots.filter(({ standing }) => standing === "valid");
  const votes = (id: AgentId) => valid.filter(({ target }) => target === id).length;
  must((verdict.winner === null) === (verdict.kind === "none"), `${verdict.kind} with winner ${verdict.winner}`);
  if (verdict.winner !== null) must((current[verdict.winner] ?? 0) > 0, "the winner has no answer");
  if (verdict.kind === "none") must(Object.keys(current).length === 0, "none, though there is an answer");
  const live = agents.filter((agent) => agent.live);
  const overHalf = agents.filter(({ id }) => votes(id) * 2 > live.length && live.every((agent) => agent.ballot?.standing === "valid"));
  if (live.length >= 2) must(overHalf.length <= 1, "two winners");
  if (verdict.kind === "consensus") {
    same(verdict.winner, overHalf[0]?.id, "winner of the consensus");
    for (const { ballot } of live) {
      for (const [id, step] of Object.entries(current))
        must((ballot?.launchedWith.answers[id] ?? 0) >= step, "a stale vote in a consensus");
    }
  }
  if (verdict.kind === "forced" && valid.length > 0) {
    must(votes(verdict.winner ?? "") === Math.max(...agents.map(({ id }) => votes(id))), "a stale vote counted while a valid one exists");
  }
}

/** The same landings, those of equal time in another order. */
function permuteTies(choices: Choices, landings: readonly Landing[]): readonly Landing[] {
  const permuted = [...landings];
  for (let index = permuted.length - 1; index > 0; index--) {
    let from = index;
    while (from > 0 && permuted[from - 1]?.deed.at === permuted[index]?.deed.at) from--;
    const swap = index - choices.next(index - from + 1);
    const [a, b] = [permuted[index], permuted[swap]];
    if (a && b && a.deed.agent !== b.deed.agent) [permuted[index], permuted[swap]] = [b, a];
  }
  return permuted;
}

function launchOf(agent: AgentId, round: number): EventBody {
  return {
    type: "step.started",
    kind: "round",
    agent,
    round,
    try: 1,
    pid: 1,
    launched_with: { answers: {}, blank: [] },
    after: 0,
    run_dir: "",
  };
}

function apply(state: RunState, body: EventBody): void {
  applyEvent(state, envelope(body, state.seq + 1));
}

function same(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) throw new Error(`${what}: ${String(actual)}, and by the recount ${String(expected)}`);
}

function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

/** The failure with its seed and the shortest history that shows it. */
function explain(seed: number, taken: readonly number[], error: unknown): string {
  const failureOf = (choices: readonly number[], say?: (line: string) => void) => {
    try {
      playRun(recordedChoices(choices), say);
      return null;
    } catch (failure) {
      return String(failure);
    }
  };
  const shortest = shrink(taken, (choices) => failureOf(choices) !== null);
  const lines: string[] = [];
  const failure = failureOf(shortest, (line) => lines.push(line)) ?? String(error);
  return [`${failure}   (MG_TEST_SEED=${seed} MG_TEST_HISTORIES=1; the shortest history like it:)`, ...lines].join("\n");
}
