import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import type { EventBody } from "../../src/session/events.ts";
import { acquireLock } from "../../src/session/lock.ts";
import type { TeamStatus } from "../../src/view/status/shape.ts";
import { runCommand } from "../support/command.ts";
import { resumed, roundStarted, started, stepCost, stepFinished, stepStarted } from "../support/events.ts";
import { writeStep, writeTeam } from "../support/team-on-disk.ts";
import { temporaryDirectory } from "../support/temp.ts";

const seen = { agent_a: 1, agent_b: 1 };
const launchedWith = { answers: seen, blank: [] };
const firstRound = [
  started("ab"),
  roundStarted(1, "ab"),
  stepStarted("a"),
  stepStarted("b"),
  stepFinished("a", { answer: 1 }, { cost: { usd: 0.1 } }),
  stepFinished("b", { failed: "crash" }, { retry: true, cost: { usd: 0.05 } }),
  stepStarted("b", { try: 2, kind: "retry" }),
  stepFinished("b", { answer: 1 }, { try: 2, kind: "retry", cost: { usd: 0.05 } }),
];
const secondRound: EventBody[] = [
  roundStarted(2, "ab"),
  stepStarted("a", { round: 2 }),
  stepStarted("b", { round: 2 }),
  stepFinished("a", { vote: "agent_b", step: 2, seen }, { round: 2, launchedWith }),
];
const decided: EventBody[] = [
  stepFinished("b", { vote: "agent_b", step: 2, seen }, { round: 2, launchedWith }),
  {
    type: "decision",
    round: 2,
    decision: {
      kind: "consensus",
      reason: "majority",
      winner: "agent_b",
      rule: "2 of 2 agents voted for agent_b, which is more than half.",
    },
  },
  {
    type: "run.finished",
    exit_code: 0,
    decision: {
      kind: "consensus",
      reason: "majority",
      winner: "agent_b",
      rule: "2 of 2 agents voted for agent_b, which is more than half.",
    },
    total_usd: 0.2,
    elapsed_seconds: 60,
  },
];

async function statusOf(cwd: string, ...args: string[]): Promise<TeamStatus> {
  const { code, stdout, stderr } = await runCommand(["status", "--json", ...args], { cwd });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

describe("a run of mg-team", () => {
  test("that has ended: agents, answers, votes, decision and timeline, in text and as JSON", async () => {
    await using temp = temporaryDirectory();
    const { session } = writeTeam(temp.path, { events: [...firstRound, ...secondRound, ...decided], result: {} });
    writeStep(session, "agent_a", 1, "# The first page\n\nWith a picture.");
    writeStep(session, "agent_b", 1, "# The second page");
    const status = await statusOf(temp.path);
    expect(status).toMatchObject({
      version: 1,
      source: "journal",
      state: "finished",
      query: "Build a landing page",
      round: 2,
      tally: { agent_b: 2 },
      unknown: [],
    });
    expect(status.agents.map(({ id, phase, answer }) => [id, phase, answer?.preview])).toEqual([
      ["agent_a", "voted", "# The first page\n\nWith a picture."],
      ["agent_b", "voted", "# The second page"],
    ]);
    expect(status.timeline.map(({ agent, column, tries, action, standing }) => [agent, column, tries, action, standing])).toEqual([
      ["agent_a", 1, 1, "new_answer", null],
      ["agent_a", 2, 1, "vote", "valid"],
      ["agent_b", 1, 2, "new_answer", null],
      ["agent_b", 2, 1, "vote", "valid"],
    ]);
    const { stdout } = await runCommand(["status"], { cwd: temp.path });
    expect(stdout).toMatch(/^team_\d+_\d+ · finished · round 2 of 5 · \d+s of 30m · ≥ \$0\.20$/m);
    expect(stdout).toMatch(/^ {2}agent_a {2}──▶ {2}agent_b {2}"good"$/m);
    expect(stdout).toMatch(/^ {2}agent_b {2}↻✓ answer {2}→ itself$/m);
    expect(stdout).toInclude("consensus for agent_b: 2 of 2 agents voted for agent_b, which is more than half.");
  });

  test("at work: who does what right now, for how long, and what is missing for a consensus", async () => {
    await using temp = temporaryDirectory();
    const tool: EventBody = {
      type: "step.progress",
      agent: "agent_b",
      round: 2,
      try: 1,
      phase: "tool",
      tool: "write_file",
      text: "I write it.",
    };
    const date = new Date(Date.now() - 60_000);
    const { root } = writeTeam(temp.path, {
      date,
      events: [...firstRound, ...secondRound, tool, stepCost("b", { usd: 0.3 }, { round: 2 })],
    });
    await using _lock = acquireLock(root);
    const status = await statusOf(temp.path);
    expect(status.state).toBe("running");
    expect(status.agents[1]).toMatchObject({ phase: "tool", detail: "write_file", running: true, words: "I write it.", round: 2 });
    // 14 events, a second apart; a minute has gone by since the first.
    expect(status.elapsed_seconds ?? 0).toBeGreaterThanOrEqual(59);
    expect(status.agents[1]?.seconds ?? 0).toBeGreaterThanOrEqual(48);
    expect(status.cost?.total_usd).toBe(0.5);
    expect(status.consensus).toBe("no consensus yet: agent_b has 1 of the 2 votes that it takes; agent_b must act");
    expect(status.timeline.at(-1)).toMatchObject({ agent: "agent_b", column: 2, action: "running" });
  });

  test("whose process is gone without a result has crashed, and what it had started was stopped", async () => {
    await using temp = temporaryDirectory();
    writeTeam(temp.path, { date: new Date(Date.now() - 3_600_000), events: [...firstRound, ...secondRound] });
    const status = await statusOf(temp.path);
    expect(status.state).toBe("crashed");
    // It has not worked since.
    expect(status.elapsed_seconds ?? 0).toBeLessThan(60);
    expect(status.agents.some(({ running }) => running)).toBe(false);
    expect(status.timeline.at(-1)).toMatchObject({ agent: "agent_b", action: "stopped" });
  });

  test("that a signal has ended is interrupted; one that never began is not started", async () => {
    await using temp = temporaryDirectory();
    const decision = { kind: "forced", reason: "interrupted", winner: "agent_a", rule: "Interrupted." } as const;
    const result = { decision: { ...decision, winner_model: null, tally: {}, ballots: [] } };
    const ended = { type: "run.finished", exit_code: 130, decision, total_usd: 0.2, elapsed_seconds: 60 } as const;
    const { id } = writeTeam(temp.path, {
      date: new Date(2026, 0, 1),
      events: [...firstRound, { type: "decision", round: 1, decision }, ended],
      result,
    });
    writeTeam(temp.path, { date: new Date(2026, 0, 2) });
    expect((await statusOf(temp.path, id)).state).toBe("interrupted");
    expect((await statusOf(temp.path)).state).toBe("not_started");
  });

  test("a vote that a later answer made stale is shown as stale, with the reason", async () => {
    await using temp = temporaryDirectory();
    const late = stepFinished("b", { answer: 2 }, { round: 2, launchedWith });
    writeTeam(temp.path, { events: [...firstRound, ...secondRound, late, resumed()] });
    const status = await statusOf(temp.path);
    expect(status.ballots).toMatchObject([
      { voter: "agent_a", standing: "stale", why: "agent_b has a newer answer (step 2) than when agent_a started" },
    ]);
    expect(status.timeline.find(({ action }) => action === "vote")?.standing).toBe("stale");
    const { stdout } = await runCommand(["status"], { cwd: temp.path });
    expect(stdout).toMatch(/^ {2}agent_a {2}╌╌▷ {2}agent_b {2}stale: agent_b has a newer answer/m);
    expect(stdout).toMatch(/~ agent_b/);
  });

  test("is found by its session directory too", async () => {
    await using temp = temporaryDirectory();
    const { session, id } = writeTeam(temp.path, { events: firstRound });
    expect(await statusOf(temp.path, session)).toMatchObject({ session_id: id, source: "journal" });
  });
});

describe("a session directory that mg-team knows nothing of", () => {
  test("shows answers, votes and each agent's steps, and says what cannot be known", async () => {
    await using temp = temporaryDirectory();
    writeStep(temp.path, "agent_a", 1, "One");
    writeStep(temp.path, "agent_b", 1, "Two");
    writeStep(temp.path, "agent_a", 2, { vote: "agent_b", seen });
    writeStep(temp.path, "agent_b", 2, { vote: "agent_b", seen });
    const status = await statusOf("/", temp.path);
    expect(status).toMatchObject({
      session_id: null,
      source: "files",
      state: "unknown",
      columns: "steps",
      round: null,
      cost: null,
      tally: { agent_b: 2 },
    });
    expect(status.consensus).toBe("consensus for agent_b: 2 of 2 agents voted for agent_b, which is more than half.");
    expect(status.unknown.join(" ")).toInclude("seen_steps");
    const { stdout } = await runCommand(["status", temp.path], { cwd: "/" });
    expect(stdout).toMatch(/^ {11}step 1 {5}step 2$/m);
    expect(stdout).toInclude("Not known here");
  });

  test("calls votes stale by what they have seen: an older answer, nothing, or an answer of the voter since", async () => {
    await using temp = temporaryDirectory();
    for (const agent of ["agent_a", "agent_b", "agent_c", "agent_d"]) writeStep(temp.path, agent, 1, "first");
    const all = { agent_a: 1, agent_b: 2, agent_c: 1, agent_d: 1 };
    writeStep(temp.path, "agent_b", 2, "second");
    writeStep(temp.path, "agent_a", 2, { vote: "agent_b", seen: { ...all, agent_b: 1 } });
    writeStep(temp.path, "agent_c", 2, { vote: "agent_b", seen: null });
    writeStep(temp.path, "agent_d", 2, { vote: "agent_b", seen: all });
    const standings = async () =>
      Object.fromEntries((await statusOf("/", temp.path)).ballots.map(({ voter, standing, why }) => [voter, `${standing}: ${why}`]));
    expect(await standings()).toEqual({
      agent_a: "stale: agent_b has a newer answer (step 2) than agent_a saw",
      agent_c: "stale: it does not say which answers it has seen",
      agent_d: "valid: ",
    });
    writeStep(temp.path, "agent_d", 3, "third");
    expect((await standings()).agent_d).toBe("stale: agent_d has answered since (step 3)");
  });

  test("of empty, broken and unfinished steps says so; nothing in it is trusted", async () => {
    await using temp = temporaryDirectory();
    writeStep(temp.path, "agent_a", 1, "  ");
    writeStep(temp.path, "agent_b", 1, { raw: "{" });
    writeStep(temp.path, "agent_c", 1, null);
    writeStep(temp.path, "\u001b[31mred\u202e", 1, "an answer with \u001b[2J in it");
    writeStep(temp.path, "agent_a", 2, { vote: "agent9", seen: {} });
    const { agents, ballots, timeline } = await statusOf("/", temp.path);
    const at = Object.fromEntries(agents.map(({ id, phase, detail }) => [id, `${phase} ${detail}`]));
    expect(at).toMatchObject({ agent_b: "failed the file is not whole JSON", agent_c: "failed the step has left nothing, or is about to" });
    expect(ballots).toMatchObject([{ voter: "agent_a", standing: "invalid" }]);
    expect(timeline.find(({ agent, column }) => agent === "agent_a" && column === 1)?.class).toBe("empty");
    const { stdout } = await runCommand(["status", temp.path], { cwd: "/" });
    expect(stdout).not.toMatch(/[\u001b\u202e]/);
  });

  test("in a team directory of another program takes query and models from its config.json", async () => {
    await using temp = temporaryDirectory();
    const { root, session, id } = writeTeam(temp.path, {});
    rmSync(`${root}/.cookie`);
    writeStep(session, "agent_a", 1, "One");
    const status = await statusOf(temp.path, id);
    expect(status).toMatchObject({ session_id: id, source: "files", query: "Build a landing page" });
    expect(status.agents.map(({ model, phase }) => [model, phase])).toEqual([
      ["codex/gpt-5.4", "answered"],
      ["gemini/gemini-3.1-pro-preview", "waiting"],
    ]);
  });

  test("copied out of a run is one like any other", async () => {
    await using temp = temporaryDirectory();
    const { session } = writeTeam(temp.path, { events: firstRound });
    writeStep(session, "agent_a", 1, "One");
    cpSync(session, temp.join("copy"), { recursive: true });
    expect(await statusOf(temp.path, "copy")).toMatchObject({ source: "files", session_id: null });
  });

  test("without a step yet has no agents, and says so", async () => {
    await using temp = temporaryDirectory();
    mkdirSync(temp.join("agents"));
    expect((await statusOf("/", temp.path)).consensus).toBe("no agent has taken a step yet");
    expect((await runCommand(["status", temp.path], { cwd: "/" })).code).toBe(0);
  });
});

describe("what cannot be shown", () => {
  test("is refused with what to type", async () => {
    await using temp = temporaryDirectory();
    const said = async (...args: string[]) => (await runCommand(["status", ...args], { cwd: temp.path })).stderr;
    expect(await said()).toInclude("there are no runs yet");
    writeTeam(temp.path, { date: new Date(2026, 10, 29, 18, 15), events: firstRound });
    expect(await said("team_20261129_181501")).toInclude("Did you mean team_20261129_181500?");
    mkdirSync(temp.join("other"));
    expect(await said("other")).toMatch(/is neither a team directory nor a\s+session directory/);
  });
});
