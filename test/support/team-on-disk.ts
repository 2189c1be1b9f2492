import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { createTeamDirectory, type TeamDirectory } from "../../src/session/directory.ts";
import type { EventBody } from "../../src/session/events.ts";
import { openJournal } from "../../src/session/journal.ts";
import { type RunResult, resultLimits } from "../../src/session/result.ts";
import { noLimits } from "./team.ts";

/** A vote as MassGen writes it; `seen` null leaves `seen_steps` out. */
export interface WrittenVote {
  readonly vote: string;
  readonly seen?: Readonly<Record<string, number>> | null;
  readonly reason?: string;
}

/** Writes a numbered step directory of an agent: an answer (text, or any bytes of answer.json), a vote, or nothing in it. */
export function writeStep(
  sessionDir: string,
  agent: string,
  step: number,
  content: string | { readonly raw: string } | WrittenVote | null,
): string {
  const directory = join(sessionDir, "agents", agent, String(step).padStart(3, "0"));
  mkdirSync(directory, { recursive: true });
  if (content === null) return directory;
  if (typeof content === "string") writeFileSync(join(directory, "answer.json"), JSON.stringify({ agent_id: agent, answer: content }));
  else if ("raw" in content) writeFileSync(join(directory, "answer.json"), content.raw);
  else {
    const { vote, seen = {}, reason = "it is good" } = content;
    writeFileSync(
      join(directory, "vote.json"),
      JSON.stringify({ voter: agent, target: vote, reason, ...(seen === null ? {} : { seen_steps: seen }) }),
    );
  }
  return directory;
}

export interface TeamOnDisk {
  /** Start of the run; default now. It names the directory. */
  readonly date?: Date;
  readonly query?: string;
  /** agent_a, agent_b, … */
  readonly models?: readonly string[];
  /** The journal; a second between two events. */
  readonly events?: readonly EventBody[];
  /** result.json: what differs from a consensus for agent_b. The journal ends with it. */
  readonly result?: Partial<RunResult>;
  readonly finalAnswer?: string;
}

/** A run's directory as mg-team leaves it, without the run. */
export function writeTeam(projectDir: string, team: TeamOnDisk = {}): TeamDirectory {
  const {
    date = new Date(),
    query = "Build a landing page",
    models = ["codex/gpt-5.4", "gemini/gemini-3.1-pro-preview"],
    events,
    result,
    finalAnswer,
  } = team;
  const directory = createTeamDirectory(projectDir, date);
  const mapping = Object.fromEntries(models.map((model, index) => [`agent_${"abcdefgh"[index]}`, model]));
  writeFileSync(directory.config, JSON.stringify({ session_id: directory.id, query, models, agent_mapping: mapping }));
  const whole = result ? resultOf(directory, query, date, result) : null;
  if (events) {
    let second = 0;
    const clock = { ...systemClock, date: () => date.getTime() + second * 1000 };
    const journal = openJournal(directory.journal, { elapsed: () => second, clock });
    const ended = events.some(({ type }) => type === "run.finished") || whole === null ? [] : [endOf(whole)];
    for (const event of [...events, ...ended]) {
      journal.append(event);
      second++;
    }
    journal.close();
  }
  if (whole) writeFileSync(directory.result, JSON.stringify(whole));
  if (finalAnswer !== undefined) writeFileSync(directory.finalAnswer, finalAnswer);
  return directory;
}

/** Makes a run look as if nothing had been written to it since then. */
export function age(directory: TeamDirectory, date: Date): void {
  for (const path of [directory.config, directory.journal, directory.result, join(directory.session, "agents"), directory.root]) {
    try {
      utimesSync(path, date, date);
    } catch {
      // Not every run has all of them.
    }
  }
}

/** Writes a file with its directories. */
export function writeFileIn(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

// --- internal ---

function endOf({ exit_code, decision, cost, duration_seconds }: RunResult): EventBody {
  const { kind, reason, winner, rule } = decision;
  return {
    type: "run.finished",
    exit_code,
    decision: { kind, reason, winner, rule },
    total_usd: cost.total_usd,
    elapsed_seconds: duration_seconds,
  };
}

function resultOf(directory: TeamDirectory, query: string, date: Date, result: Partial<RunResult>): RunResult {
  const { id, root } = directory;
  return {
    version: 1,
    session_id: id,
    session_dir: root,
    query,
    started_at: date.toISOString(),
    duration_seconds: 725,
    exit_code: 0,
    answer: "the answer of agent_b",
    decision: {
      kind: "consensus",
      reason: "majority",
      rule: "2 of 2 agents voted for agent_b, which is more than half.",
      winner: "agent_b",
      winner_model: "gemini/gemini-3.1-pro-preview",
      tally: { agent_b: 2 },
      ballots: [],
    },
    rounds: 2,
    limits: resultLimits(noLimits, null),
    cost: { total_usd: 0.42, known: "all", by_agent: {} },
    agents: [],
    synthesis: { kind: "markdown", path: directory.finalAnswer, deliverable: null, winner: null, why_not_agent: null },
    checks: [],
    engine: { name: "massgen", version: "0.1.97", ballot_fix: "on" },
    warnings: [],
    plugins: {},
    ...result,
  };
}
