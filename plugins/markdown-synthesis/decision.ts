import { plural, type ResultAgent, type ResultBallot, type RunResult } from "mg-team";
import { table, words } from "./markup.ts";

const kinds = {
  consensus: "by consensus",
  forced: "without a consensus",
  single: "as the only one left",
  none: "by nobody",
} as const;

/** `by consensus (2 of 3 votes)`: completes "chosen …". */
export function howChosen({ decision }: RunResult): string {
  const valid = decision.ballots.filter(({ standing }) => standing === "valid").length;
  const votes = decision.winner === null ? 0 : (decision.tally[decision.winner] ?? 0);
  return valid === 0 ? kinds[decision.kind] : `${kinds[decision.kind]} (${votes} of ${plural(valid, "vote")})`;
}

/** Rule, votes, dissent and rounds. */
export function decisionSection(result: RunResult): string {
  const { decision, agents, rounds } = result;
  const parts = [`## How it was decided`, words(decision.rule, 1000)];
  parts.push(decision.ballots.length === 0 ? "Nobody voted." : votesTable(decision.ballots, agents));
  const ballot = ballotOf(result);
  if (ballot !== "") parts.push(ballot);
  const dissent = dissentOf(result);
  if (dissent !== "") parts.push(dissent);
  parts.push(roundsOf(agents, rounds));
  const changes = agents.flatMap(changesOf);
  if (changes.length > 0) parts.push(`Changed their minds:\n\n${changes.map((change) => `- ${change}`).join("\n")}`);
  return parts.join("\n\n");
}

// --- internal ---

const cellLength = 120;
const wordsLength = 2000;
const listedRounds = 50;

function votesTable(ballots: readonly ResultBallot[], agents: readonly ResultAgent[]): string {
  const models = new Map(agents.map(({ id, model }) => [id, model]));
  const rows = ballots.map(({ voter, target, standing, why, self, round, reason }) => [
    words(voter, 60),
    words(models.get(voter) ?? "", 60),
    `${words(target, 60) || "(nobody)"}${self ? " (itself)" : ""}`,
    String(round),
    why === "" ? standing : `${standing}: ${words(why, cellLength)}`,
    words(reason, cellLength) || "(none given)",
  ]);
  return table(["Voter", "Model", "Vote for", "Round", "Standing", "Reason"], rows, new Set([3]));
}

/** What the votes were cast on. mg-team's own engine needs no repair. */
function ballotOf({ engine, decision }: RunResult): string {
  if (engine.name !== "massgen" || decision.ballots.length === 0) return "";
  if (engine.ballot_fix === "on") return "MassGen's ballot was repaired, so that every agent could vote for every answer.";
  return "MassGen's ballot was not repaired; `mg-team doctor` tells whether it needs to be.";
}

/** Who voted otherwise, in their own words. */
function dissentOf({ decision }: RunResult): string {
  const valid = decision.ballots.filter(({ standing }) => standing === "valid");
  const others = valid.filter(({ target }) => target !== decision.winner);
  if (valid.length === 0 || decision.winner === null) return "";
  if (others.length === 0) return "No valid vote was for another answer.";
  const said = others.map(
    ({ voter, target, self, reason }) =>
      `**${words(voter, 60)}** voted for ${self ? "its own answer" : words(target, 60)}:\n\n> ${words(reason, wordsLength) || "(no reason given)"}`,
  );
  return [`Dissent, ${plural(others.length, "vote")}:`, ...said].join("\n\n");
}

function roundsOf(agents: readonly ResultAgent[], rounds: number): string {
  const lines: string[] = [];
  for (let round = 1; round <= Math.min(rounds, listedRounds); round++) {
    const acts = agents.flatMap((agent) => actOf(agent, round));
    lines.push(`- Round ${round}: ${acts.length === 0 ? "nothing happened" : acts.join(", ")}`);
  }
  if (rounds > listedRounds) lines.push(`- and ${plural(rounds - listedRounds, "more round")}`);
  return [`It took ${plural(rounds, "round")}.`, ...(lines.length > 0 ? [lines.join("\n")] : [])].join("\n\n");
}

/** What an agent did in a round: its last step there, with the number of failed tries before. */
function actOf({ id, steps }: ResultAgent, round: number): string[] {
  const here = steps.filter((step) => step.round === round);
  const last = here.at(-1);
  if (!last) return [];
  const failed = here.filter((step) => step !== last && step.action === "failed").length;
  const acts = {
    new_answer: "answered",
    vote: `voted ${forWhom(id, last.vote_target)}`,
    failed: `failed (${last.class ?? "unknown"})`,
    skipped: "was skipped",
    interrupted: "was interrupted",
  };
  return [`${words(id, 60)} ${acts[last.action]}${failed > 0 ? ` after ${plural(failed, "failed try", "failed tries")}` : ""}`];
}

/** `agent_c voted for agent_a, then voted for agent_b`; an answer after a vote is a change too. What was written outside of rounds is none. */
function changesOf({ id, steps }: ResultAgent): string[] {
  const moves = steps.flatMap(({ action, vote_target, round }) => {
    if (round === 0) return [];
    if (action === "vote") return [`voted ${forWhom(id, vote_target)}`];
    return action === "new_answer" ? ["answered"] : [];
  });
  const first = moves.findIndex((move) => move !== "answered");
  if (first === -1) return [];
  const votes = moves.slice(first);
  const distinct = votes.filter((move, index) => move !== votes[index - 1]);
  if (distinct.length < 2) return [];
  return [`${words(id, 60)} ${distinct.map((move) => (move === "answered" ? "gave a new answer" : move)).join(", then ")}`];
}

function forWhom(voter: string, target: string | null): string {
  return target === voter ? "for itself" : `for ${words(target ?? "", 60) || "nobody"}`;
}
