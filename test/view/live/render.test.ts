import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AgentRow } from "../../../src/view/agent-row.ts";
import type { LiveModel } from "../../../src/view/live/model.ts";
import { renderLive } from "../../../src/view/live/render.ts";
import { anyModel, escapesIn, harmlessEscapes, plain } from "../../support/views.ts";

const free = { usd: 0.21, known: "all", input_tokens: 0, output_tokens: 0, unpriced_tokens: 0 } as const;

function row(letter: string, more: Partial<AgentRow> = {}): AgentRow {
  const id = `agent_${letter}`;
  return {
    id,
    model: `codex/gpt-${letter}`,
    phase: "thinking",
    detail: "",
    why: "",
    running: true,
    round: 2,
    try: 1,
    seconds: 72,
    cost: free,
    ...more,
  };
}

function model(rows: readonly AgentRow[], more: Partial<LiveModel> = {}): LiveModel {
  const votes = { tally: [{ agent: "agent_b", votes: 1 }], stale: 1, invalid: 0, needed: 2 };
  return { headline: "round 2 of 5", facts: ["3m 12s", "26m 48s left", "$0.42", "$4.58 left"], rows, votes, words: null, ...more };
}

describe("whatever is in it", () => {
  test("no line is wider than the terminal, and there are never more lines than rows", () => {
    fc.assert(
      fc.property(
        anyModel,
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 0, max: 60 }),
        fc.boolean(),
        (any, width, height, color) => {
          const lines = renderLive(any, width, height, color);
          expect(lines.length).toBeLessThanOrEqual(height);
          for (const line of lines) {
            expect(line).not.toInclude("\n");
            expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  test("nothing in it reaches the terminal but text and the basic colours", () => {
    fc.assert(
      fc.property(anyModel, fc.integer({ min: 20, max: 300 }), (any, width) => {
        expect(escapesIn(renderLive(any, width, 60, false).join("\n"))).toEqual([]);
        for (const sequence of escapesIn(renderLive(any, width, 60, true).join("\n"))) expect(harmlessEscapes).toContain(sequence);
      }),
      { numRuns: 200 },
    );
  });

  test("colour changes no character", () => {
    fc.assert(
      fc.property(anyModel, fc.integer({ min: 1, max: 300 }), fc.integer({ min: 0, max: 60 }), (any, width, height) => {
        expect(plain(renderLive(any, width, height, true))).toBe(renderLive(any, width, height, false).join("\n"));
      }),
      { numRuns: 200 },
    );
  });
});

describe("at 80 columns by 24 rows", () => {
  const rows = [
    row("a", { phase: "tool", detail: "write_file" }),
    row("b", { phase: "answered", running: false }),
    row("c", { phase: "voted", detail: "agent_b", running: false }),
    row("d", { phase: "stale", detail: "agent_b", why: "agent_b has a newer answer", running: false }),
    row("e", { phase: "out", detail: "auth: the key was refused", running: false }),
    row("f", { phase: "thinking", try: 2 }),
    row("g", { phase: "starting" }),
    row("h", { phase: "skipped", detail: "by saver: enough money spent", running: false }),
  ];
  const lines = renderLive(model(rows, { words: { agent: "agent_a", words: "I write the page." } }), 80, 23, false);
  const text = lines.join("\n");

  test("every agent has a row with its model, what it is at, round, time and money", () => {
    for (const { id } of rows) expect(lines.filter((line) => line.includes(`  ${id}  `))).toHaveLength(1);
    expect(text).toMatch(/agent_a {2}gpt-a +using write_file +r2 +1m 12s +\$0\.21/);
    for (const words of [
      "answered",
      "voted for agent_b",
      "stale vote for agent_b",
      "out, auth: the key",
      "thinking, try 2",
      "starting",
      "skipped by saver",
    ]) {
      expect(text).toInclude(words);
    }
  });

  test("round, time and money left, votes and the last words are there too", () => {
    expect(text).toInclude("round 2 of 5 · 3m 12s · 26m 48s left · $0.42 · $4.58 left");
    expect(text).toInclude("votes  agent_b 1 · 1 stale · 2 needed");
    expect(text).toInclude("agent_a: I write the page.");
  });

  test("no phase is told by colour alone", () => {
    const told = rows.map((each) =>
      renderLive(model([{ ...each, id: "agent_x", model: "x/y" }]), 80, 23, false).find((line) => line.includes("agent_x")),
    );
    expect(new Set(told).size).toBe(rows.length);
  });

  test("the columns stay where they are when an agent goes on to something else", () => {
    const column = (phase: AgentRow["phase"], detail: string, seconds: number) => {
      const line = renderLive(model([row("a", { phase, detail, seconds })]), 80, 23, false).find((each) => each.includes("agent_a"));
      return [line?.indexOf("r2"), line?.indexOf("$0.21")];
    };
    expect(column("tool", "write_file", 3)).toEqual(column("thinking", "", 1199));
  });
});

describe("where room is short", () => {
  test("at 40 columns the state, the time and the money stay, the model goes", () => {
    const [line] = renderLive(model([row("a", { phase: "voted", detail: "agent_b", running: false })]), 40, 23, false).filter((each) =>
      each.includes("agent_a"),
    );
    expect(line).toMatch(/agent_a +for agent_b +1m 12s +\$0\.21/);
  });

  test("at 120 columns the whole name of the model is shown", () => {
    expect(renderLive(model([row("a", { model: "gemini/gemini-3.1-pro-preview" })]), 120, 23, false).join("\n")).toInclude(
      "gemini/gemini-3.1-pro-preview",
    );
  });

  test("with few rows the agents at work stay, the others are counted", () => {
    const rows = [row("a", { phase: "voted", running: false }), row("b"), row("c", { phase: "voted", running: false }), row("d")];
    const lines = renderLive(model(rows), 80, 4, false);
    expect(lines).toHaveLength(4);
    expect(lines[1]).toInclude("agent_b");
    expect(lines[2]).toInclude("agent_d");
    expect(lines[3]).toBe("… 2 more: 2 voted");
  });

  test("a single row says where the run stands", () => {
    expect(renderLive(model([row("a"), row("b", { phase: "voted", running: false })]), 80, 1, false)).toEqual([
      "round 2 of 5 · 1 at work, 1 voted · 26m 48s left · $0.42 · $4.58 left",
    ]);
  });
});

test("what nobody knows the price of is not shown as free", () => {
  const cost = { usd: null, known: "none", input_tokens: 9, output_tokens: 9, unpriced_tokens: 18 } as const;
  const partly = { ...cost, usd: 0.1, known: "partial" } as const;
  const text = renderLive(model([row("a", { cost }), row("b", { cost: partly })]), 80, 23, false).join("\n");
  expect(text).toMatch(/agent_a.*\$ \?$/m);
  expect(text).toMatch(/agent_b.*≥ \$0\.10$/m);
});
