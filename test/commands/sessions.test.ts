import { describe, expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { acquireLock } from "../../src/session/lock.ts";
import type { SessionEntry } from "../../src/view/sessions/read.ts";
import { runCommand } from "../support/command.ts";
import { roundStarted, started, stepFinished, stepStarted } from "../support/events.ts";
import { writeTeam } from "../support/team-on-disk.ts";
import { temporaryDirectory } from "../support/temp.ts";

const day = (number: number) => new Date(2026, 10, number, 18, 15);
const begun = [started("ab"), roundStarted(1, "ab"), stepStarted("a"), stepFinished("a", { answer: 1 }, { cost: { usd: 0.25 } })];

async function list(cwd: string): Promise<SessionEntry[]> {
  const { stdout } = await runCommand(["sessions", "--json"], { cwd });
  return JSON.parse(stdout).sessions;
}

test("every run is listed once, newest first, with what became of it", async () => {
  await using temp = temporaryDirectory();
  const running = writeTeam(temp.path, { date: day(9), events: begun });
  writeTeam(temp.path, { date: day(1), events: begun, result: {}, query: "The first" });
  writeTeam(temp.path, { date: day(2), events: begun });
  const interrupted = {
    kind: "forced",
    reason: "interrupted",
    rule: "",
    winner: "agent_a",
    winner_model: "codex/gpt-5.4",
    tally: {},
    ballots: [],
  } as const;
  writeTeam(temp.path, { date: day(3), events: begun, result: { decision: interrupted } });
  writeTeam(temp.path, { date: day(4) });
  const none = { kind: "none", reason: "agents_failed", rule: "", winner: null, winner_model: null, tally: {}, ballots: [] } as const;
  writeTeam(temp.path, {
    date: day(5),
    events: begun,
    result: { decision: none, answer: null, cost: { total_usd: null, known: "none", by_agent: {} } },
  });
  const other = writeTeam(temp.path, { date: day(6) });
  rmSync(`${other.root}/.cookie`);
  await using _lock = acquireLock(running.root);
  const sessions = await list(temp.path);
  expect(sessions.map(({ session_id, state }) => [session_id.slice(11, 13), state])).toEqual([
    ["09", "running"],
    ["06", "unknown"],
    ["05", "finished"],
    ["04", "not_started"],
    ["03", "interrupted"],
    ["02", "crashed"],
    ["01", "finished"],
  ]);
  expect(sessions.at(-1)).toMatchObject({
    query: "The first",
    models: ["codex/gpt-5.4", "gemini/gemini-3.1-pro-preview"],
    decision: { kind: "consensus", winner: "agent_b", winner_model: "gemini/gemini-3.1-pro-preview" },
    total_usd: 0.42,
    duration_seconds: 725,
    rounds: 2,
  });
  // A run that crashed has its money in the journal.
  expect(sessions.find(({ state }) => state === "crashed")).toMatchObject({ total_usd: 0.25, rounds: 1, decision: null });
});

describe("the table", () => {
  test.each([
    [
      200,
      /^team_20261101_181500 +2026-11-01 18:15 +✓ consensus: gemini-3\.1-pro-preview +\$0\.42 +12m 5s +gpt-5\.4, gemini-3\.1-pro-preview +Build a landing page$/m,
    ],
    [80, /^team_20261101_181500 +✓ consensus: \S+ +\$0\.42 +12m 5s +Build a landing page$/m],
    [40, /^team_20261101_181500 +✓ consensus: \S+$/m],
  ])("fits %i columns, the most wanted first", async (columns, row) => {
    await using temp = temporaryDirectory();
    writeTeam(temp.path, { date: day(1), events: begun, result: {} });
    const { stdout } = await runCommand(["sessions", "--no-color"], { cwd: temp.path, columns });
    expect(stdout).toMatch(row);
    for (const line of stdout.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
  });

  test("shows anybody's query on one line, without its control characters", async () => {
    await using temp = temporaryDirectory();
    writeTeam(temp.path, { date: day(1), events: begun, result: {}, query: "one\ntwo \u001b[2J\u0007" });
    const { stdout } = await runCommand(["sessions"], { cwd: temp.path });
    expect(stdout).toInclude("one two ␛[2J␇");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  });
});

test("damaged records are a run like any other, and a link to nothing is none", async () => {
  await using temp = temporaryDirectory();
  const { result, config, root } = writeTeam(temp.path, { date: day(1), events: begun, result: {} });
  writeFileSync(result, "{");
  writeFileSync(config, "[1");
  symlinkSync(temp.join("gone"), root.replace("team_20261101", "team_20261102"));
  expect(await list(temp.path)).toMatchObject([{ query: null, models: [], total_usd: 0.25 }]);
});

test("without any run there is an empty list, and a word about how to begin", async () => {
  await using temp = temporaryDirectory();
  expect(await list(temp.path)).toEqual([]);
  expect(await runCommand(["sessions"], { cwd: temp.path })).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringContaining('start one: mg-team "QUERY"'),
  });
});

test("a run that was killed between its first result and its last word has crashed, in every view", async () => {
  await using temp = temporaryDirectory();
  const { journal } = writeTeam(temp.path, { date: day(1), events: begun, result: {} });
  expect((await list(temp.path))[0]?.state).toBe("finished");
  const lines = readFileSync(journal, "utf8").trimEnd().split("\n");
  writeFileSync(journal, `${lines.slice(0, -1).join("\n")}\n`);
  expect((await list(temp.path))[0]?.state).toBe("crashed");
  const { stdout } = await runCommand(["status", "--json"], { cwd: temp.path });
  expect(JSON.parse(stdout).state).toBe("crashed");
});
