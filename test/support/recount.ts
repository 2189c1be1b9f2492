/**
 * A second count of the votes, written from the text of design.md ("The core loop", 3 and 4, "Forced") and not from the code, as naively as
 * it goes. It shares nothing with `src/consensus.ts` and `src/session/state.ts`.
 */

/** One thing that one agent did and that counts: no retries that follow, no interrupted steps. */
export interface Deed {
  readonly agent: string;
  readonly round: number;
  readonly did: "answer" | "vote" | "fail" | "skip";
  /** Number of the step directory, for an answer. */
  readonly step: number;
  readonly at: number;
  readonly target: string;
  /** Newest whole, non-blank answer of each agent when the step was spawned. */
  readonly launchedWith: Readonly<Record<string, number>>;
  readonly blankAtLaunch: readonly string[];
  readonly seen: Readonly<Record<string, number>> | null;
}

export interface Situation {
  readonly agents: readonly string[];
  readonly deeds: readonly Deed[];
  readonly maxRounds: number;
  readonly launchedThisRound: number;
  readonly stopReason: string | null;
}

export interface Recount {
  readonly standings: Readonly<Record<string, "valid" | "stale" | "invalid">>;
  readonly tally: Readonly<Record<string, number>>;
  readonly verdict: { readonly kind: string; readonly reason: string; readonly winner: string | null } | null;
  readonly next: readonly string[];
}

export function recount(situation: Situation): Recount {
  const { agents, deeds } = situation;
  const of = (agent: string) => deeds.filter((deed) => deed.agent === agent).sort((a, b) => a.round - b.round);
  const answersOf = (agent: string) => of(agent).filter(({ did }) => did === "answer");
  const current = (agent: string) => answersOf(agent).at(-1)?.step ?? 0;
  const ballotOf = (agent: string) => of(agent).findLast(({ did }) => did === "vote");
  const answeredSince = (ballot: Deed) => answersOf(ballot.agent).some(({ round }) => round > ballot.round);

  // 3. "A ballot is stale when … It is invalid when …"
  const standings: Record<string, "valid" | "stale" | "invalid"> = {};
  for (const voter of agents) {
    const ballot = ballotOf(voter);
    if (!ballot) continue;
    const { target, seen, launchedWith, blankAtLaunch } = ballot;
    const invalid = !agents.includes(target) || answersOf(target).length === 0 || blankAtLaunch.includes(target);
    const stale =
      agents.some((agent) => current(agent) > (launchedWith[agent] ?? 0)) ||
      agents.some((agent) => current(agent) > (seen?.[agent] ?? 0)) ||
      seen === null ||
      Object.keys(seen).length === 0 ||
      answeredSince(ballot);
    standings[voter] = invalid ? "invalid" : stale ? "stale" : "valid";
  }
  const ballots = (standing: string) => agents.filter((voter) => standings[voter] === standing).flatMap((voter) => ballotOf(voter) ?? []);
  const votes = (among: readonly Deed[], target: string) => among.filter((ballot) => ballot.target === target).length;

  // "Forced"
  const forced = (reason: string) => {
    const valid = ballots("valid");
    const counted = valid.length > 0 ? valid : ballots("stale").filter((ballot) => current(ballot.target) > 0 && !answeredSince(ballot));
    const others = counted.filter((ballot) => ballot.agent !== ballot.target);
    const first = (agent: string) => answersOf(agent)[0]?.at ?? 0;
    const [winner] = agents
      .filter((agent) => answersOf(agent).length > 0)
      .sort(
        (a, b) =>
          votes(counted, b) - votes(counted, a) ||
          votes(others, b) - votes(others, a) ||
          first(a) - first(b) ||
          agents.indexOf(a) - agents.indexOf(b),
      );
    return winner === undefined ? { kind: "none", reason, winner: null } : { kind: "forced", reason, winner };
  };

  // 4. "At the barrier the first that matches"
  const live = agents.filter((agent) => !of(agent).some(({ did }) => did === "fail"));
  const next = live.filter((agent) => standings[agent] !== "valid");
  const decide = () => {
    const [only] = live;
    if (only === undefined) return forced("agents_failed");
    if (live.length === 1 && current(only) > 0) return { kind: "single", reason: "only_agent", winner: only };
    if (live.length === 1 && agents.some((agent) => current(agent) > 0)) return forced("only_agent");
    if (next.length === 0) {
      const ofLive = live.flatMap((voter) => ballotOf(voter) ?? []);
      const winner = agents.find((agent) => votes(ofLive, agent) > live.length / 2);
      return winner === undefined ? forced("split_vote") : { kind: "consensus", reason: "majority", winner };
    }
    if (situation.stopReason !== null) return forced(situation.stopReason);
    if (next.some((agent) => of(agent).length >= situation.maxRounds)) return forced("max_rounds");
    if (situation.launchedThisRound === 0) return forced("plugin");
    return null;
  };
  const tally = Object.fromEntries(
    agents.map((agent) => [agent, votes(ballots("valid"), agent)] as const).filter(([, count]) => count > 0),
  );
  return { standings, tally, verdict: decide(), next };
}
