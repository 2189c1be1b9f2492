import { join } from "node:path";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import type { RunSpec } from "../support/runs.ts";

/** Calls by which mg-team changes, or opens, files. */
export const sweptCalls = ["write", "pwrite64", "fsync", "fdatasync", "rename", "openat", "mkdir", "ftruncate", "unlink", "chmod"] as const;

/** One system call of a run. */
export interface Point {
  readonly call: string;
  /** 1 for the first such call of the process, or for the first on that path. */
  readonly when: number;
  /** Where it is opened, with {@link team} for the team directory's name; null for a name by chance, and where calls are few enough to be counted. */
  readonly path: string | null;
}

/** A fault in it. */
export interface Fault extends Point {
  /** `signal=KILL`, `error=EIO`, `error=ENOSPC` */
  readonly fault: string;
}

export type Task = { readonly kind: "baseline" } | { readonly kind: "play"; readonly fault: Fault };

/** The calls of an undisturbed run that concern files of ours. */
export interface Baseline {
  readonly points: readonly Point[];
}

/** What came of a run with a fault, and of the resume after it. */
export interface Played {
  readonly fault: Fault;
  /** The call that was hit, as strace shows it; null when it did not come to that. */
  readonly hit: string | null;
  /** It concerned a file of ours: neither a module, nor /proc, nor what the engine writes. */
  readonly ours: boolean;
  /** Null when it was killed. */
  readonly code: number | null;
  readonly said: string;
  readonly again: { readonly command: string; readonly code: number | null } | null;
  /** What should not be; empty when all is well. */
  readonly wrong: readonly string[];
}

export const expectedAnswer = "The answer of agent_a";

const cost = { usd: 0.01, inputTokens: 1000, outputTokens: 100, live: [{ usd: 0.004, inputTokens: 400, outputTokens: 40 }] };
const answers = (text: string): FakeStep => ({ answer: { text, files: { "index.html": text } }, cost });

/** Two agents, two rounds. By what is in the session, so that a step that is run again does the same again. */
export const sweptRun: RunSpec = {
  plays: { a: [], b: [] },
  script: {
    rules: [
      { when: { agent: "agent_a", answers: { agent_a: 0 } }, step: answers(expectedAnswer) },
      { when: { agent: "agent_b", answers: { agent_b: 0 } }, step: answers("The answer of agent_b") },
      { when: {}, step: { vote: "agent_a", cost } },
    ],
  },
  args: ["--verbose"],
};

const team = "TEAM";

/**
 * The calls of a trace on files of ours. Opens are known by their paths: how many there are of others, those of /proc among them, is not the same in
 * every run.
 */
export function pointsOf(trace: readonly string[], project: string): Point[] {
  const counts = new Map<string, number>();
  const count = (what: string) => {
    counts.set(what, (counts.get(what) ?? 0) + 1);
    return counts.get(what) ?? 0;
  };
  return trace.flatMap((text): Point[] => {
    const call = text.replace(/\(.*/s, "");
    const when = count(call);
    if (!isOurs(text, project)) return [];
    const path = call === "openat" ? (/^openat\([^"]*"([^"]*)"/.exec(text)?.[1] ?? "") : "";
    if (path === "" || /\.[0-9a-f]{12}\./.test(path)) return [{ call, when, path: null }];
    return [{ call, when: count(path), path: path.replace(/team_\d{8}_\d{6}/, team) }];
  });
}

/** What strace is to look at so that it sees the calls on a path only: the directory's name is the time at which it will be made. */
export function watchedPaths(path: string, from: Date, seconds: number): string[] {
  if (!path.includes(team)) return [path];
  const two = (value: number) => String(value).padStart(2, "0");
  return Array.from({ length: seconds }, (_, index) => {
    const date = new Date(from.getTime() + index * 1000);
    const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
    return path.replace(team, `team_${day}_${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`);
  });
}

/** Whether a traced call is about a file that mg-team itself writes in a project. */
export function isOurs(call: string, project: string): boolean {
  const quality = join(project, ".massgen-quality");
  return call.includes(`${quality}/`) && !/\/session(\/|"|>)|\/\.massgen\//.test(call);
}
