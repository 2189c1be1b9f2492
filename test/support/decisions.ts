import majority from "../../plugins/majority.ts";
import staleVotes from "../../plugins/stale-votes.ts";
import { decideByAttrition, decideByExhaustion, decideByMajority, markBallots } from "../../src/consensus.ts";
import { guardHooks, type PluginError } from "../../src/plugin/guard.ts";
import { createHooks, type TeamHooks } from "../../src/plugin/hooks.ts";
import { tapCoreRules } from "../../src/team/deliberate.ts";
import type { AgentId, AgentStanding, AnswerSteps, Ballot, Deliberation, Standing, StopRequest, Verdict } from "../../src/types.ts";
import { fakeTeam } from "./team.ts";

/** What one agent has done, in short words: `a` means `agent_a`. */
export interface AgentSpec {
  /** When each of its answers was reported, by step number: `{ 1: 100 }`. */
  readonly answers?: Readonly<Record<number, number>>;
  readonly vote?: VoteSpec | string;
  /** Failed out. */
  readonly out?: boolean;
  /** Default 1. */
  readonly rounds?: number;
}

export interface VoteSpec {
  readonly for: string;
  /** Default: one more than the voter's newest answer. */
  readonly step?: number;
  /** Current answers when the voter started; default: those of now. */
  readonly launched?: AnswerSteps;
  /** What vote.json claims; default: the current answers. */
  readonly seen?: AnswerSteps | null;
  /** Agents whose newest answer was blank when the voter started. */
  readonly blank?: readonly string[];
  /** For tests that do not mark; default valid. */
  readonly standing?: Standing;
}

/** A deliberation with defaults for what a test does not care about: five rounds, three steps launched, no stop. */
export function deliberationWith(
  team: Readonly<Record<string, AgentSpec>>,
  more: { readonly maxRounds?: number; readonly launched?: number; readonly round?: number; readonly stop?: StopRequest } = {},
): Deliberation {
  const current: Record<AgentId, number> = {};
  for (const [letter, { answers = {} }] of Object.entries(team)) {
    const steps = Object.keys(answers).map(Number);
    if (steps.length > 0) current[idOf(letter)] = Math.max(...steps);
  }
  const agents = Object.entries(team).map(([letter, { answers = {}, vote, out = false, rounds = 1 }]): AgentStanding => {
    const id = idOf(letter);
    return {
      id,
      live: !out,
      rounds,
      answers: Object.entries(answers).map(([step, at]) => ({ agent: id, step: Number(step), round: 1, at })),
      ballot: vote === undefined ? null : ballotWith(id, typeof vote === "string" ? { for: vote } : vote, current),
    };
  });
  return {
    round: more.round ?? 1,
    agents,
    current,
    maxRounds: more.maxRounds ?? 5,
    launched: more.launched ?? 3,
    stop: more.stop ?? null,
    verdict: null,
  };
}

/** The rules in the order in which the host applies them, without plugins. */
export function decide(deliberation: Deliberation): Verdict | null {
  markBallots(deliberation);
  return decideByAttrition(deliberation) ?? decideByMajority(deliberation) ?? decideByExhaustion(deliberation);
}

/** The hooks of a run with the built-ins that decide, and the host's own rules; failures reject. */
export function decidingHooks(): TeamHooks {
  const hooks = createHooks();
  guardHooks(
    hooks,
    (name) => ({ name, file: null }),
    (error: PluginError) => {
      throw error;
    },
  );
  tapCoreRules(hooks);
  for (const plugin of [staleVotes, majority]) plugin.apply(fakeTeam({ hooks }), undefined);
  return hooks;
}

/** `a` → `agent_a`; anything else stays as it is. */
export function idOf(word: string): AgentId {
  return /^[a-z]$/.test(word) ? `agent_${word}` : word;
}

// --- internal ---

function ballotWith(voter: AgentId, vote: VoteSpec, current: AnswerSteps): Ballot {
  const target = idOf(vote.for);
  return {
    voter,
    target,
    step: vote.step ?? (current[voter] ?? 0) + 1,
    round: 1,
    reason: "it is good",
    self: voter === target,
    launchedWith: { answers: withIds(vote.launched ?? current), blank: (vote.blank ?? []).map(idOf) },
    seenSteps: vote.seen === null ? null : withIds(vote.seen ?? current),
    standing: vote.standing ?? "valid",
    why: "",
  };
}

function withIds(steps: AnswerSteps): AnswerSteps {
  return Object.fromEntries(Object.entries(steps).map(([word, step]) => [idOf(word), step]));
}
