import fc from "fast-check";
import type { EventBody } from "../../src/session/events.ts";
import { applyEvent, emptyState, type RunState } from "../../src/session/state.ts";
import { type Activity, applyActivity, emptyActivity } from "../../src/view/activity.ts";
import type { AgentPhase, AgentRow } from "../../src/view/agent-row.ts";
import type { LiveModel } from "../../src/view/live/model.ts";
import { envelope } from "./events.ts";

/** State and activity after events; each a second after the one before, or at the second that is given with it. */
export function watched(bodies: readonly (EventBody | readonly [at: number, body: EventBody])[]): { state: RunState; activity: Activity } {
  const state = emptyState();
  const activity = emptyActivity();
  for (const entry of bodies) {
    const [at, body] = "type" in entry ? [state.seq + 1, entry] : entry;
    const event = { ...envelope(body, state.seq + 1), elapsed: at };
    applyEvent(state, event);
    applyActivity(activity, event);
  }
  return { state, activity };
}

export const phases: readonly AgentPhase[] = [
  "waiting",
  "starting",
  "thinking",
  "tool",
  "answered",
  "voted",
  "stale",
  "invalid",
  "failed",
  "retrying",
  "skipped",
  "stopped",
  "out",
];

/** Text of anybody: wide characters, emoji of several parts, combining marks, escapes, control and invisible characters, line ends. */
export const anyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
      { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
      fc.constantFrom(
        "你好",
        "👨‍👩‍👧‍👦",
        "🇩🇪",
        "e\u0301\u0302\u0303",
        "\u001b[2J",
        "\u001b]0;title\u0007",
        "\r\n",
        "\t",
        "\u202e",
        "\u200b",
        "한국어",
        "1\ufe0f\u20e3",
        "｡",
        "\u001b[31m",
        "a long word without any space in it",
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(" "));

export const anyRow: fc.Arbitrary<AgentRow> = fc.record({
  id: fc.oneof(fc.constantFrom("agent_a", "agent_b", "agent_aa"), anyText),
  model: anyText,
  phase: fc.constantFrom(...phases),
  detail: anyText,
  why: anyText,
  running: fc.boolean(),
  round: fc.nat(200),
  try: fc.integer({ min: 1, max: 3 }),
  seconds: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
  cost: fc.option(
    fc.record({
      usd: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
      known: fc.constantFrom("all" as const, "partial" as const, "none" as const),
      input_tokens: fc.nat(),
      output_tokens: fc.nat(),
      unpriced_tokens: fc.nat(),
    }),
  ),
});

export const anyModel: fc.Arbitrary<LiveModel> = fc.record({
  headline: anyText,
  facts: fc.array(fc.constantFrom("3m 12s", "26m 48s left", "≥ $0.42", "$1000000.00 left"), { maxLength: 4 }),
  rows: fc.array(anyRow, { maxLength: 12 }),
  votes: fc.record({
    tally: fc.array(fc.record({ agent: fc.constantFrom("agent_a", "agent_b"), votes: fc.nat(99) }), { maxLength: 3 }),
    stale: fc.nat(9),
    invalid: fc.nat(9),
    needed: fc.nat(99),
  }),
  words: fc.option(fc.record({ agent: fc.constantFrom("agent_a", "agent_b"), words: anyText })),
});

/** The text without colours. */
export function plain(lines: readonly string[]): string {
  return Bun.stripANSI(lines.join("\n"));
}

/** Everything that is not text: to be harmless it may only be one of the colours that the views use. */
export function escapesIn(text: string): string[] {
  return [...text.matchAll(/\u001b(\[[0-9;?]*[a-zA-Z]|.)?|[\u0000-\u0009\u000b-\u001a\u007f-\u009f]/g)].map(([sequence]) => sequence);
}

/** The ways to begin and end a colour; none is black or white, and none is beyond the 16. */
export const harmlessEscapes: ReadonlySet<string> = new Set([1, 2, 22, 31, 32, 33, 35, 36, 39].map((code) => `\u001b[${code}m`));
