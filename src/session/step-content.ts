import type { AnswerSteps } from "../types.ts";
import { decodeUtf8 } from "./untrusted.ts";

/**
 * What answer.json and vote.json say, read as MassGen's step mode reads them (massgen 0.1.97, `step_mode.py`, `load_session_dir_inputs`,
 * and `orchestrator.py`, which takes the length of every answer). Anything may stand in them.
 */

export type AnswerContent =
  | { readonly kind: "answer"; readonly text: string }
  /** Accepted by MassGen and shown to voters, but there is nothing to see. */
  | { readonly kind: "blank" }
  | Garbled;

export type VoteContent =
  | { readonly kind: "vote"; readonly target: string; readonly reason: string; readonly seenSteps: AnswerSteps | null }
  | Garbled;

export interface Garbled {
  readonly kind: "garbled";
  /** Completes "the file …": "is not UTF-8". */
  readonly why: string;
  /** MassGen's reader would not skip it but die of it, so every other agent's step would exit 2. */
  readonly fatal: boolean;
  /** MassGen would show it to voters all the same. */
  readonly shown: boolean;
}

/** Longest reason of a vote that is kept, in characters; the whole is in vote.json. */
export const longestReason = 2000;

export function parseAnswer(bytes: Uint8Array): AnswerContent {
  const value = parseObject(bytes, true);
  if (!("fields" in value)) return value;
  const { answer } = value.fields;
  if (answer === undefined || answer === null) return { kind: "blank" };
  if (typeof answer === "string") {
    // "\ud83d" alone: MassGen loads it, then no peer can send its own request any more (seen: "surrogates not allowed", exit 2).
    if (!answer.isWellFormed()) return { ...garbled("holds half a character, which cannot be sent"), fatal: true, shown: true };
    return isBlank(answer) ? { kind: "blank" } : { kind: "answer", text: answer };
  }
  // A list has a length and can be cut, so MassGen shows it; numbers and maps are a TypeError in every peer.
  const shown = Array.isArray(answer);
  return { kind: "garbled", why: `holds an answer that is ${nameOf(answer)}, not a text`, fatal: !shown, shown };
}

export function parseVote(bytes: Uint8Array): VoteContent {
  const value = parseObject(bytes, false);
  if (!("fields" in value)) return value;
  const { target, reason, seen_steps: seenSteps } = value.fields;
  if (typeof target !== "string") return garbled(`holds a vote for ${nameOf(target)}, not for a name`);
  const words = typeof reason === "string" ? reason : "";
  return { kind: "vote", target: shorten(target, 200), reason: shorten(words, longestReason), seenSteps: parseSeenSteps(seenSteps) };
}

/** Nothing in it that anybody could see: white space, control characters, invisible characters. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

// --- internal ---

/** More entries than any team has agents are nobody's honest memory. */
const mostSeen = 1000;

function parseObject(bytes: Uint8Array, objectOnly: boolean): { readonly fields: Readonly<Record<string, unknown>> } | Garbled {
  const text = decodeUtf8(bytes);
  if (text === null) return { ...garbled("has bytes that are not UTF-8"), fatal: true };
  if (text === "") return garbled("is empty");
  if (text.startsWith("\uFEFF")) return garbled("begins with a byte order mark");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return garbled("is not whole JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { fields: value as Record<string, unknown> };
  return { ...garbled(`holds ${nameOf(value)}, not an object`), fatal: objectOnly };
}

function parseSeenSteps(value: unknown): AnswerSteps | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const steps: unknown[] = Object.values(value);
  const usable = steps.length > 0 && steps.length <= mostSeen && steps.every((step) => Number.isSafeInteger(step) && Number(step) >= 0);
  return usable ? (value as AnswerSteps) : null;
}

function garbled(why: string): Garbled {
  return { kind: "garbled", why, fatal: false, shown: false };
}

function nameOf(value: unknown): string {
  if (value === undefined) return "nobody";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : typeof value === "boolean" ? String(value) : `a ${typeof value}`;
}

function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
