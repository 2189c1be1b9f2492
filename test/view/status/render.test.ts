import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderStatus } from "../../../src/view/status/render.ts";
import type { StatusAgent, TeamStatus, TimelineMark } from "../../../src/view/status/shape.ts";
import { anyRow, anyText, escapesIn, harmlessEscapes, plain } from "../../support/views.ts";

const standing = fc.constantFrom("valid" as const, "stale" as const, "invalid" as const);

const anyMark = (ids: readonly string[]): fc.Arbitrary<TimelineMark> =>
  fc.record({
    agent: fc.constantFrom(...ids),
    column: fc.integer({ min: 1, max: 120 }),
    tries: fc.integer({ min: 1, max: 6 }),
    action: fc.constantFrom("new_answer", "vote", "failed", "skipped", "stopped", "running"),
    step: fc.option(fc.nat(120)),
    target: fc.option(anyText),
    standing: fc.option(standing),
    class: fc.option(fc.constantFrom("auth", "crash")),
  });

const anyStatus: fc.Arbitrary<TeamStatus> = fc.array(anyRow, { minLength: 1, maxLength: 12 }).chain((rows) => {
  const ids = rows.map(({ id }, index) => (id === "" ? `agent_${index}` : id));
  return fc.record({
    version: fc.constant(1 as const),
    session_id: fc.option(anyText),
    directory: anyText,
    source: fc.constantFrom("journal", "files"),
    state: fc.constantFrom("running", "finished", "crashed", "unknown"),
    query: fc.option(anyText),
    started_at: fc.constant(null),
    elapsed_seconds: fc.option(fc.nat(100_000)),
    round: fc.option(fc.nat(100)),
    limits: fc.constant(null),
    cost: fc.constant(null),
    agents: fc.tuple(
      ...rows.map((row, index) =>
        fc.record({ model: fc.option(anyText), preview: anyText, words: anyText }).map(
          ({ preview, ...more }): StatusAgent => ({
            ...row,
            ...more,
            id: ids[index] ?? "",
            answer: { step: 1, round: 1, characters: preview.length, preview },
            failure: null,
          }),
        ),
      ),
    ),
    ballots: fc.array(
      fc.record({
        voter: fc.constantFrom(...ids),
        target: anyText,
        step: fc.nat(9),
        standing,
        why: anyText,
        self: fc.boolean(),
        reason: anyText,
      }),
      { maxLength: 12 },
    ),
    tally: fc.dictionary(fc.constantFrom(...ids), fc.nat(99)),
    votes_needed: fc.nat(99),
    decision: fc.constant(null),
    consensus: anyText,
    columns: fc.constantFrom("rounds", "steps"),
    timeline: fc.array(anyMark(ids), { maxLength: 40 }),
    warnings: fc.array(anyText, { maxLength: 3 }),
    unknown: fc.array(anyText, { maxLength: 3 }),
  }) as fc.Arbitrary<TeamStatus>;
});

describe("whatever is in it", () => {
  test("no line is wider than the terminal, and there are never more lines than may be", () => {
    fc.assert(
      fc.property(
        anyStatus,
        fc.integer({ min: 20, max: 300 }),
        fc.integer({ min: 1, max: 80 }),
        fc.boolean(),
        (status, width, height, color) => {
          const lines = renderStatus(status, width, height, color);
          expect(lines.length).toBeLessThanOrEqual(height);
          for (const line of lines) {
            expect(line).not.toInclude("\n");
            expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("nothing in it reaches the terminal but text and the basic colours, and colour changes no character", () => {
    fc.assert(
      fc.property(anyStatus, fc.integer({ min: 20, max: 300 }), (status, width) => {
        const colored = renderStatus(status, width, 500, true);
        for (const sequence of escapesIn(colored.join("\n"))) expect(harmlessEscapes).toContain(sequence);
        expect(plain(colored)).toBe(renderStatus(status, width, 500, false).join("\n"));
      }),
      { numRuns: 150 },
    );
  });
});

const status: TeamStatus = {
  version: 1,
  session_id: "team_20261129_181500",
  directory: "/nowhere",
  source: "journal",
  state: "running",
  query: "Build a landing page",
  started_at: null,
  elapsed_seconds: 60,
  round: 2,
  limits: null,
  cost: null,
  agents: ["agent_a", "agent_b"].map((id) => ({
    id,
    model: "codex/gpt-5.4",
    phase: "thinking",
    detail: "",
    why: "",
    running: true,
    round: 2,
    try: 1,
    seconds: 3,
    cost: null,
    words: "",
    answer: { step: 1, round: 1, characters: 40, preview: "First line\n\nSecond line\nThird line\nFourth" },
    failure: null,
  })),
  ballots: [],
  tally: {},
  votes_needed: 2,
  decision: null,
  consensus: "no consensus yet",
  columns: "rounds",
  timeline: [],
  warnings: [],
  unknown: [],
};

describe("where room is short", () => {
  const marks = Array.from({ length: 100 }, (_, index): TimelineMark => {
    const vote = index % 2 === 1;
    return {
      agent: "agent_a",
      column: index + 1,
      tries: 1,
      action: vote ? "vote" : "new_answer",
      step: 1,
      target: vote ? "agent_b" : null,
      standing: vote ? "valid" : null,
      class: null,
    };
  });
  const timelineAt = (count: number, width: number) => {
    const lines = renderStatus({ ...status, timeline: marks.slice(0, count) }, width, 500, false);
    return lines.slice(lines.indexOf("Timeline") + 1);
  };

  test("a timeline is in words while those fit, then in signs, then without its first rounds, which it says", () => {
    expect(timelineAt(3, 80)[1]).toBe("  agent_a  ✓ answer   → agent_b  ✓ answer");
    expect(timelineAt(10, 80)[1]).toBe("  agent_a  ✓   →b  ✓   →b  ✓   →b  ✓   →b  ✓   →b");
    const [head, row, , left] = timelineAt(100, 60);
    expect(head).toMatch(/^ +\d+ .* 100$/);
    expect(row).toEndWith("→b");
    expect(left).toMatch(/rounds 1 to \d+ do not fit here; there are 100 rounds/);
  });

  test("the beginnings of answers give way before anything else", () => {
    const whole = renderStatus(status, 80, 500, false);
    expect(whole.join("\n")).toInclude("    First line\n    Second line\n    Third line …");
    const less = renderStatus(status, 80, whole.length - 1, false);
    expect(less.join("\n")).toInclude("    First line …");
    const none = renderStatus(status, 80, less.length - 1, false);
    expect(none.join("\n")).not.toInclude("First line");
    expect(none).toContain("Consensus");
    const cut = renderStatus(status, 80, 6, false);
    expect(cut).toHaveLength(6);
    expect(cut.at(-1)).toMatch(/^… \d+ more lines; make the window taller/);
  });
});
