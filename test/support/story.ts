import { expect, test } from "bun:test";
import type { RunResult } from "../../src/session/result.ts";
import { type FinishedRun, type KeptRun, patience, playRun, type RunSpec } from "./runs.ts";

/** A run in a few words, so that a test reads as a story. */
export interface Story extends RunSpec {
  /** The property that the run shows. */
  readonly title: string;
  /** A line for each round, in the order of agents: `a answered, b voted a, c failed(crash) then answered`. Unless given, not compared. */
  readonly rounds?: readonly string[];
  /** `consensus majority a, exit 0` */
  readonly ends: string;
  /** Standings of the last ballots: `a→b valid, b→b stale`. Unless given, not compared. */
  readonly ballots?: string;
  /** What the decision's rule says. */
  readonly rule?: RegExp;
  /** More to look at, while the files are there. */
  readonly look?: (run: KeptRun) => void | Promise<void>;
}

/** A test for each story. They run at the same time, as many as `inTurn` lets. */
export function tell(stories: readonly Story[]): void {
  for (const story of stories) {
    test.concurrent(
      story.title,
      async () => {
        const run = await playRun(story, story.look);
        const told = {
          rounds: story.rounds ? roundsOf(run.result) : undefined,
          ends: endOf(run),
          ballots: story.ballots && ballotsOf(run.result),
        };
        expect(told).toEqual({ rounds: story.rounds && [...story.rounds], ends: story.ends, ballots: story.ballots });
        if (story.rule) expect(run.result.decision.rule).toMatch(story.rule);
      },
      patience,
    );
  }
}

/** A line for each round, in the order of agents. */
export function roundsOf({ agents, rounds }: RunResult): string[] {
  return Array.from({ length: rounds }, (_, index) => {
    const told = agents.flatMap(({ id, steps }) => {
      const mine = steps.filter(({ round }) => round === index + 1).map(describe);
      return mine.length === 0 ? [] : [`${letterOf(id)} ${mine.join(" then ")}`];
    });
    return told.join(", ");
  });
}

/** `forced timeout b, exit 0` */
export function endOf({ result, code }: Pick<FinishedRun, "result" | "code">): string {
  const { kind, reason, winner } = result.decision;
  return `${kind} ${reason}${winner === null ? "" : ` ${letterOf(winner)}`}, exit ${code}`;
}

/** `a→b valid, b→b stale` */
export function ballotsOf({ decision }: RunResult): string {
  return decision.ballots.map(({ voter, target, standing }) => `${letterOf(voter)}→${letterOf(target)} ${standing}`).join(", ");
}

/** `agent_a` → `a` */
export function letterOf(id: string): string {
  return id.replace(/^agent_(?=[a-z]$)/, "") || "nobody";
}

// --- internal ---

function describe({ action, class: kind, vote_target: target }: RunResult["agents"][number]["steps"][number]): string {
  if (action === "vote") return `voted ${letterOf(target ?? "")}`;
  return { new_answer: "answered", failed: `failed(${kind})`, skipped: "skipped", interrupted: "interrupted" }[action];
}
