import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import type { EventBody, TeamEvent } from "../../src/session/events.ts";
import { openJournal, readJournal } from "../../src/session/journal.ts";
import { readSessions } from "../../src/view/sessions/read.ts";
import { findStatusTarget, readStatus } from "../../src/view/status/read.ts";
import { renderStatus } from "../../src/view/status/render.ts";
import { runCommand } from "../support/command.ts";
import { envelope, resumed, roundStarted, started, stepCost, stepFinished, stepStarted } from "../support/events.ts";
import { writeTeam } from "../support/team-on-disk.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { render } from "../view/report/support.ts";

setDefaultTimeout(120_000); // a busy machine is no fault

const verdict = { kind: "consensus", reason: "majority", winner: "agent_a", rule: "more than half" } as const;
const ballot = { voter: "agent_b", target: "agent_a", step: 1, round: 2, self: false, standing: "valid", why: "" } as const;

/** A run in which every type of event stands. */
const whole: readonly EventBody[] = [
  started("abc"),
  { type: "preflight.warning", message: "little space" },
  roundStarted(1, "abc"),
  stepStarted("a"),
  { type: "step.progress", agent: "agent_a", round: 1, try: 1, phase: "tool", tool: "write_file", text: "Writing" },
  stepCost("a", { usd: 0.1, inputTokens: 5, outputTokens: 5 }),
  stepFinished("a", { answer: 1 }),
  stepStarted("b"),
  stepFinished("b", { answer: 1 }, { cost: { usd: 0.2 } }),
  stepStarted("c"),
  stepFinished("c", { failed: "auth" }),
  { type: "agent.out", agent: "agent_c", class: "auth", message: "the key is wrong", log: "runs/agent_c/r1/stderr.log" },
  { type: "ballots", round: 1, ballots: [], tally: {} },
  resumed(5),
  roundStarted(2, "ab"),
  stepStarted("a", { round: 2 }),
  stepFinished("a", { vote: "agent_a", step: 2, seen: { agent_a: 1, agent_b: 7.5 } }, { round: 2 }),
  stepStarted("b", { round: 2 }),
  stepFinished("b", { vote: "agent_a", step: 1, seen: {} }, { round: 2 }),
  { type: "plugin.error", plugin: "report", hook: "onEvent", message: "it broke", file: "/plugin.ts" },
  { type: "ballots", round: 2, ballots: [ballot], tally: { agent_a: 2 } },
  { type: "limit.reached", reason: "timeout", message: "time is up" },
  { type: "stop", reason: "timeout", message: "time is up", stopped: ["agent_a"] },
  { type: "decision", round: 2, decision: verdict },
  { type: "synthesis.started", kind: "agent", model: "codex/gpt-5.4" },
  { type: "synthesis.finished", kind: "agent", path: "synthesis/final_answer.md" },
  { type: "run.finished", exit_code: 0, decision: verdict, total_usd: 0.3, elapsed_seconds: 30 },
];

const oddValues: readonly unknown[] = [undefined, null, -1, 2_000_000_000, "x", true, [], [null], {}, { agent_a: null }];

/** The event with each of its fields, and theirs, replaced by each odd value. */
function* oddEvents(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (["v", "seq", "ts", "type"].includes(name)) continue;
    const put = (other: unknown) => (Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other });
    for (const odd of oddValues) yield put(odd);
    for (const odd of oddEvents(inner)) yield put(odd);
  }
}

const linesOf = (events: readonly unknown[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");
const events = whole.map((body, index) => envelope(body, index + 1));

test("every event as we write it is usable", async () => {
  await using temp = temporaryDirectory();
  const path = temp.write("events.jsonl", linesOf(events));
  expect(readJournal(path)).toEqual({ events, torn: false, damaged: 0 });
  expect(new Set(whole.map(({ type }) => type)).size).toBe(17);
});

test.each([...new Map(events.map((event) => [`${event.type} ${"action" in event ? event.action.kind : ""}`, event]))])(
  "%s of whatever shape keeps nobody from looking at the run",
  async (_, event) => {
    await using temp = temporaryDirectory();
    const directory = writeTeam(temp.path, { events: [] });
    const at = events.indexOf(event as TeamEvent);
    let told = 0;
    for (const odd of oddEvents(event)) {
      writeFileSync(directory.journal, linesOf(events.with(at, odd as TeamEvent)));
      const status = readStatus(findStatusTarget(temp.path), Date.now());
      expect(renderStatus(status, 80, 100, false)).not.toEqual([]);
      if (status.warnings.some((warning) => warning.includes("damaged line"))) told++;
      expect(readSessions(temp.path)).toHaveLength(1);
      if (status.agents.length > 0) expect(await render(directory)).toContain("</html>");
    }
    expect(told).toBeGreaterThan(0);
  },
);

describe("a line of odd shape", () => {
  const odd = { v: 1, seq: 999, ts: "2026-11-29T18:15:00.000Z", elapsed: 9, type: "ballots" };

  test("is told as one that is damaged, and stays where it is when the run goes on", async () => {
    await using temp = temporaryDirectory();
    const directory = writeTeam(temp.path, { events: whole });
    appendFileSync(directory.journal, linesOf([odd]));
    expect(readJournal(directory.journal)).toMatchObject({ torn: false, damaged: 1 });
    const { code, stdout } = await runCommand(["status"], { cwd: temp.path });
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 damaged line; what it said is missing here")]);
    const before = readFileSync(directory.journal, "utf8");
    const journal = openJournal(directory.journal, { elapsed: () => 31 });
    const { seq } = journal.append({ type: "preflight.warning", message: "next" });
    journal.close();
    // Behind the last line, whatever that is worth: no number is given twice.
    expect(seq).toBe(odd.seq + 1);
    expect(readFileSync(directory.journal, "utf8")).toStartWith(before);
  });

  test.each([
    { ...stepStarted("a"), agent: "../../agent" },
    { ...stepStarted("a"), run_dir: "runs/../../../elsewhere" },
    { ...stepStarted("a"), run_dir: "/elsewhere" },
    { ...roundStarted(1, "a"), agents: [".."] },
    { ...started("a"), agents: [{ id: "a/../../b", model: "codex/x" }] },
  ])("is one that leads out of the run's directory: %j", async (body) => {
    await using temp = temporaryDirectory();
    const path = temp.write("events.jsonl", linesOf([...events, envelope(body as EventBody, 99)]));
    expect(readJournal(path)).toMatchObject({ damaged: 1 });
  });

  test("of a type that a later version has is none: it is passed over", async () => {
    await using temp = temporaryDirectory();
    const path = temp.write(
      "events.jsonl",
      linesOf([
        { ...odd, type: "agent.paused" },
        { ...odd, type: "toString" },
      ]),
    );
    expect(readJournal(path)).toMatchObject({ damaged: 0, events: [{}, {}] });
  });
});
