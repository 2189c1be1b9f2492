import type { FailureName, FakeStep } from "../fixtures/fake-massgen/script.ts";

/**
 * What agents do, step by step, in short words: `{ a: "answer, vote b", b: ["answer", { vote: { target: "agent_a" }, exit: 2 }] }`.
 * Words: `answer`, `answer TEXT`, `vote a`, `vote agent9`, `vote nobody` (""), `blank`, `nothing`, `fail CAUSE`. The last entry repeats.
 * `answer after b` and the like wait until mg-team has seen agent b end its step in the round of the same number as the entry.
 */
export type Plays = Readonly<Record<string, string | readonly (string | FakeStep)[]>>;

/** `agents` of the fake's script. */
export function scriptOf(plays: Plays): Record<string, FakeStep[]> {
  return Object.fromEntries(Object.entries(plays).map(([letter, play]) => [agentId(letter), stepsOf(play)]));
}

/** `a` → `agent_a`; anything else stays as it is. */
export function agentId(word: string): string {
  return /^[a-z]$/.test(word) ? `agent_${word}` : word === "nobody" ? "" : word;
}

// --- internal ---

function stepsOf(play: string | readonly (string | FakeStep)[]): FakeStep[] {
  const entries = typeof play === "string" ? play.split(/\s*,\s*/) : play;
  return entries.map((entry, index) => (typeof entry === "string" ? stepOf(entry, index + 1) : entry));
}

function stepOf(words: string, launch: number): FakeStep {
  const [text = "", peer] = words.split(" after ");
  const before = peer === undefined ? {} : { before: { file: `finished-${agentId(peer)}-${launch}` } };
  const [verb = "", ...rest] = text.split(" ");
  const object = rest.join(" ");
  switch (verb) {
    case "answer":
      return {
        answer: object === "" ? { text: `An answer, number ${launch}`, workspace: false } : { text: object, workspace: false },
        ...before,
      };
    case "vote":
      return { vote: agentId(object), ...before };
    case "blank":
      return { answer: { text: "", workspace: false }, ...before };
    case "nothing":
      return { nothing: true, ...before };
    case "fail":
      return { fail: object as FailureName, ...before };
    default:
      throw new Error(`no step ${words}`);
  }
}
