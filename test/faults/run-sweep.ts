import { join } from "node:path";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import type { RunSpec } from "../support/runs.ts";

/** Calls by which mg-team changes, or opens, files. */
export const sweptCalls = ["write", "pwrite64", "fsync", "fdatasync", "rename", "openat", "mkdir", "ftruncate", "unlink", "chmod"] as const;

/** A fault in one system call of a run. */
export interface Fault {
  readonly call: string;
  /** 1 for the first such call of the process. */
  readonly when: number;
  /** `signal=KILL`, `error=EIO`, `error=ENOSPC` */
  readonly fault: string;
}

export type Task = { readonly kind: "baseline" } | { readonly kind: "play"; readonly fault: Fault };

/** The calls of an undisturbed run. */
export interface Baseline {
  readonly counts: Readonly<Record<string, number>>;
  /** Those that concern files of ours. */
  readonly points: readonly { readonly call: string; readonly when: number }[];
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

/** Whether a traced call is about a file that mg-team itself writes in a project. */
export function isOurs(call: string, project: string): boolean {
  const quality = join(project, ".massgen-quality");
  return call.includes(`${quality}/`) && !/\/session(\/|"|>)|\/\.massgen\//.test(call);
}
