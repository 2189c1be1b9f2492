import type { EventBody } from "../../src/session/events.ts";
import type { AgentId, Snapshot } from "../../src/types.ts";
import type { Choices } from "./choices.ts";
import type { Deed } from "./recount.ts";

/** What one step of one agent came to; times are small whole numbers so that ties are common. */
export interface Landing {
  readonly deed: Deed;
  readonly attempt: number;
  /** Its process failed and is tried again. */
  readonly retry: boolean;
  /** Stopped by us before it acted. */
  readonly interrupted: boolean;
  readonly skipped: boolean;
}

export interface PlayedRound {
  readonly landings: readonly Landing[];
  readonly launched: readonly AgentId[];
  /** When the run was told to stop in this round. */
  readonly stopAt: number | null;
  /** When the last step ended. */
  readonly end: number;
}

/** The session directory as everybody sees it. */
export interface Disk {
  readonly files: { readonly agent: AgentId; readonly step: number; readonly at: number; readonly what: "answer" | "blank" | "other" }[];
}

/** Plays one round by chance: answers, good and bad votes, failures, blank and garbled files, skips, ties, a stop at any moment. */
export function playRound(
  choices: Choices,
  disk: Disk,
  situation: {
    readonly agents: readonly AgentId[];
    readonly next: readonly AgentId[];
    readonly round: number;
    readonly start: number;
    readonly retries: number;
  },
): PlayedRound {
  const { agents, next, round, start, retries } = situation;
  const stopAt = choices.next(14) === 13 ? start + choices.next(9) : null;
  const mood = choices.next(4);
  const landings: Landing[] = [];
  const launched: AgentId[] = [];
  const attempts: { agent: AgentId; attempt: number; spawn: number }[] = [];
  const skipAll = choices.next(40) === 39;
  for (const agent of next) {
    if (skipAll || choices.next(24) === 23) landings.push(skipOf(agent, round, start));
    else attempts.push({ agent, attempt: 1, spawn: start + choices.next(3) });
  }
  // In the order of their spawns, so that each sees what has landed by then.
  const running: { agent: AgentId; attempt: number; spawn: number; end: number; launchedWith: Snapshot }[] = [];
  let end = start;
  while (attempts.length > 0 || running.length > 0) {
    const spawn = Math.min(...attempts.map((attempt) => attempt.spawn));
    const landing = Math.min(...running.map((step) => step.end));
    if (spawn < landing) {
      const index = attempts.findIndex((attempt) => attempt.spawn === spawn);
      const [attempt] = attempts.splice(index, 1);
      if (!attempt || (stopAt !== null && spawn > stopAt)) continue;
      if (attempt.attempt === 1) launched.push(attempt.agent);
      running.push({ ...attempt, end: spawn + 1 + choices.next(4), launchedWith: snapshot(disk, agents, spawn) });
      continue;
    }
    // All that land at this moment see the same disk; what they write is there from the next moment on.
    const now = running.filter((step) => step.end === landing);
    for (const step of now) {
      running.splice(running.indexOf(step), 1);
      const { agent, attempt, launchedWith } = step;
      end = Math.max(end, landing);
      const deed: Deed = {
        agent,
        round,
        did: "fail",
        step: 0,
        at: landing,
        target: "",
        launchedWith: launchedWith.answers,
        blankAtLaunch: launchedWith.blank,
        seen: null,
      };
      if (stopAt !== null && landing > stopAt) {
        landings.push({ deed, attempt, retry: false, interrupted: true, skipped: false });
        continue;
      }
      const number = disk.files.reduce((last, file) => (file.agent === agent ? Math.max(last, file.step) : last), 0) + 1;
      const kind = kinds[mood]?.[choices.next(12)];
      if (kind === "answer") {
        disk.files.push({ agent, step: number, at: landing, what: "answer" });
        landings.push({ deed: { ...deed, did: "answer", step: number }, attempt, retry: false, interrupted: false, skipped: false });
      } else if (kind === "vote" || kind === "wrong") {
        const target = kind === "vote" ? goodTarget(choices, launchedWith, agents) : wrongTarget(choices, agents, agent);
        const seen = seenAt(choices, disk, agents, landing);
        disk.files.push({ agent, step: number, at: landing, what: "other" });
        landings.push({
          deed: { ...deed, did: "vote", step: number, target, seen },
          attempt,
          retry: false,
          interrupted: false,
          skipped: false,
        });
      } else {
        if (kind === "blank") disk.files.push({ agent, step: number, at: landing, what: "blank" });
        if (kind === "garbled") disk.files.push({ agent, step: number, at: landing, what: "other" });
        const retry = attempt <= retries && (stopAt === null || landing < stopAt);
        landings.push({ deed, attempt, retry, interrupted: false, skipped: false });
        if (retry) attempts.push({ agent, attempt: attempt + 1, spawn: landing + choices.next(2) });
      }
    }
  }
  return { landings, launched, stopAt, end: end + 1 };
}

/** A landing as its journal line. */
export function eventOf({ deed, attempt, retry, interrupted, skipped }: Landing): EventBody {
  const { agent, round, did, step, at, target, launchedWith, blankAtLaunch, seen } = deed;
  const base = { agent, round, try: attempt, launchedWith: { answers: launchedWith, blank: blankAtLaunch }, seconds: 1, cost, at };
  const kind = attempt === 1 ? "round" : "retry";
  if (skipped)
    return { type: "step.finished", kind, retry, interrupted, action: { ...base, kind: "skipped", reason: "no need", by: "test" } };
  if (did === "answer") return { type: "step.finished", kind, retry, interrupted, action: { ...base, kind: "new_answer", step } };
  if (did === "vote") {
    return {
      type: "step.finished",
      kind,
      retry,
      interrupted,
      action: { ...base, kind: "vote", step, target, reason: "good", seenSteps: seen },
    };
  }
  return {
    type: "step.finished",
    kind,
    retry,
    interrupted,
    action: { ...base, kind: "failed", class: "crash", message: "it broke", log: "" },
  };
}

/** One line for people. */
export function describeLanding({ deed, attempt, retry, interrupted, skipped }: Landing): string {
  const { agent, did, step, at, target, launchedWith, blankAtLaunch, seen } = deed;
  const what = skipped ? "skipped" : interrupted ? "interrupted" : did === "fail" ? `failed${retry ? ", again" : ", out"}` : did;
  const number = did === "answer" || did === "vote" ? ` ${step}` : "";
  const vote = did === "vote" ? ` for "${target}" seen ${JSON.stringify(seen)}` : "";
  const blank = blankAtLaunch.length > 0 ? ` blank ${blankAtLaunch.join(",")}` : "";
  return `  t=${at} ${agent} try ${attempt}: ${what}${number}${vote} launched with ${JSON.stringify(launchedWith)}${blank}`;
}

// --- internal ---

const cost = { usd: null, inputTokens: 0, outputTokens: 0 };

type Kind = "answer" | "vote" | "wrong" | "fail" | "blank" | "garbled";

/** What steps tend to do, by mood of the round: mixed, mostly voting, only voting, mostly trouble. */
const kinds: readonly (readonly Kind[])[] = [
  ["answer", "answer", "answer", "answer", "vote", "vote", "vote", "vote", "wrong", "fail", "blank", "garbled"],
  ["vote", "vote", "vote", "vote", "vote", "vote", "vote", "vote", "answer", "answer", "wrong", "fail"],
  ["vote", "vote", "vote", "vote", "vote", "vote", "vote", "vote", "vote", "vote", "vote", "vote"],
  ["answer", "answer", "vote", "vote", "wrong", "wrong", "fail", "fail", "fail", "blank", "blank", "garbled"],
];

function skipOf(agent: AgentId, round: number, at: number): Landing {
  const deed: Deed = { agent, round, did: "skip", step: 0, at, target: "", launchedWith: {}, blankAtLaunch: [], seen: null };
  return { deed, attempt: 1, retry: false, interrupted: false, skipped: true };
}

function snapshot(disk: Disk, agents: readonly AgentId[], at: number): Snapshot {
  const answers: Record<AgentId, number> = {};
  const blank: AgentId[] = [];
  for (const agent of agents) {
    const newest = disk.files.findLast((file) => file.agent === agent && file.what !== "other" && file.at <= at);
    const whole = disk.files.findLast((file) => file.agent === agent && file.what === "answer" && file.at <= at);
    if (whole) answers[agent] = whole.step;
    if (newest?.what === "blank") blank.push(agent);
  }
  return { answers, blank };
}

/** Mostly the first agent with an answer, so that agents agree often enough. */
function goodTarget(choices: Choices, { answers }: Snapshot, agents: readonly AgentId[]): string {
  const known = Object.keys(answers);
  if (known.length === 0) return agents[choices.next(agents.length)] ?? "";
  return known[choices.next(3) === 2 ? choices.next(known.length) : 0] ?? "";
}

function wrongTarget(choices: Choices, agents: readonly AgentId[], voter: AgentId): string {
  const wrong = ["", "agent9", "agent1", voter, ...agents];
  return wrong[choices.next(wrong.length)] ?? "";
}

/** What vote.json claims: mostly, as MassGen does, what is on disk when the vote is written. */
function seenAt(choices: Choices, disk: Disk, agents: readonly AgentId[], at: number): Readonly<Record<AgentId, number>> | null {
  const choice = choices.next(16);
  if (choice === 15) return null;
  if (choice === 14) return {};
  const seen = { ...snapshot(disk, agents, at).answers };
  const [first] = Object.keys(seen);
  if (choice === 13 && first !== undefined) seen[first] = (seen[first] ?? 1) - 1;
  if (choice === 12 && first !== undefined) delete seen[first];
  if (choice === 11) for (const agent of agents) seen[agent] = 99;
  return seen;
}
