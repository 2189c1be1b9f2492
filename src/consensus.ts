import { listOf, plural } from "./text.ts";
import type { AgentId, AgentStanding, Ballot, DecisionReason, Deliberation, Verdict } from "./types.ts";

// Pure: from what agents did to what that decides (design.md, "The core loop", 3 and 4). No I/O, no clock, no randomness.

/** Sets the standing of every ballot (core loop 3). The rule of the plugin `stale-votes`. */
export function markBallots(deliberation: Deliberation): void {
  for (const { ballot } of deliberation.agents) {
    if (ballot) Object.assign(ballot, standingOf(ballot, deliberation));
  }
}

/** Core loop 4 (d) and (e): what the ballots decide by themselves; null while someone must act. The rule of the plugin `majority`. */
export function decideByMajority(deliberation: Deliberation): Verdict | null {
  const live = deliberation.agents.filter((agent) => agent.live);
  if (live.length < 2 || live.some((agent) => agent.ballot?.standing !== "valid")) return null;
  const tally = tallyOf(live);
  for (const [winner, votes] of tally) {
    // Ballots are valid until a plugin says otherwise: without `stale-votes` they may name anybody.
    if (votes * 2 > live.length && deliberation.current[winner] !== undefined) {
      const rule = `${votes} of ${live.length} agents voted for ${winner}, which is more than half.`;
      return { kind: "consensus", reason: "majority", winner, rule };
    }
  }
  return force(deliberation, "split_vote", "Every agent had a valid vote, but nobody got more than half of them");
}

/** Core loop 4 (a), (b), (c): what the number of live agents decides by itself; null when two or more are left, or one must try on. */
export function decideByAttrition(deliberation: Deliberation): Verdict | null {
  const live = deliberation.agents.filter((agent) => agent.live);
  const [last] = live;
  if (!last) return force(deliberation, "agents_failed", "No agent is left");
  if (live.length > 1) return null;
  if (last.answers.length > 0) {
    return { kind: "single", reason: "only_agent", winner: last.id, rule: `Only ${last.id} is left, so its answer is taken directly.` };
  }
  const verdict = force(deliberation, "only_agent", `Only ${last.id} is left, and it has no answer`);
  return verdict.kind === "none" ? null : verdict;
}

/** Core loop 4 (f), (g) and 6: what limits and stops decide once nothing before did; null to go on. */
export function decideByExhaustion(deliberation: Deliberation): Verdict | null {
  const { stop, maxRounds } = deliberation;
  if (stop) return force(deliberation, stop.reason, sentence(stop.message));
  const spent = mustAct(deliberation).find((agent) => agent.rounds >= maxRounds);
  if (spent) {
    const all = maxRounds === 1 ? "its only round" : `all of its ${plural(maxRounds, "round")}`;
    return force(deliberation, "max_rounds", `${spent.id} must act again but has had ${all}`);
  }
  if (deliberation.launched === 0 && deliberation.round > 0) {
    return force(deliberation, "plugin", "A plugin skipped every launch of the round");
  }
  return null;
}

/** Live agents without a valid ballot: those that the next round launches (core loop 1). */
export function mustAct(deliberation: Deliberation): readonly AgentStanding[] {
  return deliberation.agents.filter((agent) => agent.live && agent.ballot?.standing !== "valid");
}

/** Valid votes by target, most first; ties in the order of agents. */
export function tallyOf(agents: readonly AgentStanding[]): Map<AgentId, number> {
  const votes = countVotes(agents.flatMap((agent) => (agent.ballot?.standing === "valid" ? [agent.ballot] : [])));
  const place = new Map(agents.map((agent, index) => [agent.id, index]));
  const placeOf = (id: AgentId) => place.get(id) ?? agents.length;
  return new Map([...votes].sort(([a, votesOfA], [b, votesOfB]) => votesOfB - votesOfA || placeOf(a) - placeOf(b)));
}

/**
 * The forced rule (design.md, "Forced"): most valid ballots; without any, stale ballots whose target has an answer and whose voter has not
 * answered since; ties by votes from other agents, then by the earliest first answer, then by the order of agents; without ballots the first answer.
 * @param why the first half of the rule's sentence: what made it necessary
 */
export function force(deliberation: Deliberation, reason: DecisionReason, why: string): Verdict {
  const candidates = deliberation.agents.filter((agent) => agent.answers.length > 0);
  if (candidates.length === 0) return { kind: "none", reason, winner: null, rule: `${why}; no agent has submitted an answer.` };
  const { ballots, word } = countable(deliberation);
  const all = countVotes(ballots);
  const fromOthers = countVotes(ballots.filter((ballot) => !ballot.self));
  let field = candidates;
  const rules: string[] = [];
  const narrow = (score: (agent: AgentStanding) => number, say: (ids: string, best: string) => string, always = false) => {
    if (field.length === 1) return;
    const best = Math.max(...field.map(score));
    const next = field.filter((agent) => score(agent) === best);
    const ids = listOf(next.map((agent) => agent.id));
    if (next.length < field.length || always) rules.push(say(ids, next.length === 1 ? `${best}` : `${best} each`));
    field = next;
  };
  if (ballots.length > 0) {
    const most = word === "valid" ? "" : "no vote was valid, and ";
    narrow(
      (agent) => all.get(agent.id) ?? 0,
      (ids, best) => `${most}${ids} had the most ${word} votes (${best})`,
      true,
    );
    narrow(
      (agent) => fromOthers.get(agent.id) ?? 0,
      (ids, best) => `of these, ${ids} had the most votes from other agents (${best})`,
    );
  }
  const first = ballots.length > 0 ? "of these, " : "there were no votes to count, and ";
  narrow(
    (agent) => -firstAnswerAt(agent),
    (ids) => `${first}${ids} answered first`,
    ballots.length === 0,
  );
  const winner = field[0]?.id ?? null;
  if (field.length > 1) rules.push(`they answered at the same moment, and ${winner} comes first in the team`);
  if (rules.length === 0) rules.push(`${winner} is the only agent with an answer`);
  return { kind: "forced", reason, winner, rule: `${why}; ${rules.join("; ")}.` };
}

// --- internal ---

function standingOf(ballot: Ballot, deliberation: Deliberation): Pick<Ballot, "standing" | "why"> {
  const target = deliberation.agents.find((agent) => agent.id === ballot.target);
  if (!target) return { standing: "invalid", why: `${ballot.target === "" ? "nobody" : ballot.target} is not an agent of this team` };
  if (target.answers.length === 0) return { standing: "invalid", why: `${target.id} has no answer` };
  if (ballot.launchedWith.blank.includes(target.id)) {
    return { standing: "invalid", why: `the newest answer of ${target.id} was blank when ${ballot.voter} started` };
  }
  const voted = deliberation.current[ballot.voter] ?? 0;
  if (voted > ballot.step) return { standing: "stale", why: `${ballot.voter} has answered since (step ${voted})` };
  const { seenSteps, launchedWith } = ballot;
  if (!seenSteps || Object.keys(seenSteps).length === 0) return { standing: "stale", why: "it does not say which answers it has seen" };
  for (const { id } of deliberation.agents) {
    const current = deliberation.current[id] ?? 0;
    const launched = launchedWith.answers[id] ?? 0;
    if (current > launched)
      return { standing: "stale", why: `${id} has a newer answer (step ${current}) than when ${ballot.voter} started` };
    if (current > (seenSteps[id] ?? 0))
      return { standing: "stale", why: `${id} has a newer answer (step ${current}) than ${ballot.voter} saw` };
  }
  return { standing: "valid", why: "" };
}

function countable(deliberation: Deliberation): { ballots: readonly Ballot[]; word: string } {
  const ballots = deliberation.agents.flatMap((agent) => (agent.ballot ? [agent.ballot] : []));
  const valid = ballots.filter((ballot) => ballot.standing === "valid" && deliberation.current[ballot.target]);
  if (valid.length > 0) return { ballots: valid, word: "valid" };
  const stale = ballots.filter(
    (ballot) =>
      ballot.standing === "stale" && deliberation.current[ballot.target] && (deliberation.current[ballot.voter] ?? 0) < ballot.step,
  );
  return { ballots: stale, word: "stale" };
}

function countVotes(ballots: readonly Ballot[]): Map<AgentId, number> {
  const votes = new Map<AgentId, number>();
  for (const ballot of ballots) votes.set(ballot.target, (votes.get(ballot.target) ?? 0) + 1);
  return votes;
}

function firstAnswerAt(agent: AgentStanding): number {
  return Math.min(...agent.answers.map((answer) => answer.at));
}

function sentence(message: string): string {
  const text = message.replace(/[.\s]+$/, "") || "the run was stopped";
  return text.charAt(0).toUpperCase() + text.slice(1);
}
