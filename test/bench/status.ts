/**
 * `mg-team status` on 100 agents with 100 steps each must take no more than three times its time on an empty session, plus 200 ms; from files
 * alone, and from a journal of mg-team: `bun test/bench/status.ts`. Prints medians in milliseconds; exits 1 when it is too slow.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { EventBody } from "../../src/session/events.ts";
import type { Agent, AnswerSteps, Ballot } from "../../src/types.ts";
import { envelope } from "../support/events.ts";
import { noLimits } from "../support/team.ts";
import { writeStep, writeTeam } from "../support/team-on-disk.ts";
import { temporaryDirectory } from "../support/temp.ts";

const [agents, steps, repeats] = [100, 100, 7];
// Before everybody else where that is allowed, so that other programs do not count.
const undisturbed = Bun.spawnSync(["chrt", "-f", "20", "true"]).success ? ["chrt", "-f", "20"] : [];
const cliPath = resolve(import.meta.dir, "../../src/cli.ts");

await using temp = temporaryDirectory();
mkdirSync(temp.join("empty", "agents"), { recursive: true });
mkdirSync(temp.join("none"));
writeTeam(temp.join("none"), { events: [started([])] });
const ids = Array.from(
  { length: agents },
  (_, index) => `agent_${String.fromCharCode(97 + Math.floor(index / 26))}${String.fromCharCode(97 + (index % 26))}`,
);
const team = writeTeam(temp.path);
// A journal's own lines are below 8 KiB: the first one of so large a team would not fit.
writeFileSync(
  team.journal,
  journal()
    .map((event, index) => `${JSON.stringify(envelope(event, index + 1))}\n`)
    .join(""),
);
fill(team.session);
// By another name it is a session directory without a run.
symlinkSync(team.session, temp.join("files"));

let slow = false;
for (const [name, empty, full] of [
  ["from files", temp.join("empty"), temp.join("files")],
  ["from a journal", temp.join("none"), temp.path],
] as const) {
  const times: { empty: number[]; full: number[] } = { empty: [], full: [] };
  for (let index = 0; index < repeats; index++) {
    times.empty.push(await time(empty));
    times.full.push(await time(full));
  }
  const [least, most] = [median(times.empty), median(times.full)];
  const limit = 3 * least + 200;
  slow ||= most > limit;
  process.stdout.write(
    `${name}: empty ${least} ms, ${agents} × ${steps} ${most} ms, limit ${limit} ms: ${most > limit ? "TOO SLOW" : "ok"}\n`,
  );
}
process.exitCode = slow ? 1 : 0;

// --- internal ---

/** @param place a session directory, or a project */
async function time(place: string): Promise<number> {
  const isProject = place === temp.path || place.endsWith("none");
  const before = performance.now();
  const child = Bun.spawn([...undisturbed, process.execPath, cliPath, "status", ...(isProject ? [] : [place])], {
    cwd: isProject ? place : temp.path,
    env: { PATH: "/usr/bin:/bin" },
    stdout: "pipe",
    stderr: "inherit",
  });
  await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("status failed");
  return Math.round(performance.now() - before);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Answers and votes in turn, as a team would that never comes to an end. */
function fill(sessionDir: string): void {
  for (const id of ids) {
    for (let step = 1; step <= steps; step++) {
      const seen = Object.fromEntries(ids.map((other) => [other, Math.max(1, step - 1)]));
      writeStep(sessionDir, id, step, step % 2 === 1 ? `Answer ${step} of ${id}. `.repeat(100) : { vote: "agent_aa", seen });
    }
  }
}

function started(team: readonly Agent[]): EventBody {
  return {
    type: "run.started",
    session_id: "team_20261129_181500",
    directory: "/nowhere",
    agents: team,
    limits: { ...noLimits, maxRounds: steps },
    engine: { name: "massgen", version: "0.1.97", ballot_fix: "on" },
    mg_team: "0.1.0",
  };
}

function journal(): EventBody[] {
  const events: EventBody[] = [started(ids.map((id) => ({ id, model: `codex/${id}`, backend: "codex", modelName: id })))];
  const launched: Record<string, number> = {};
  for (let round = 1; round <= steps; round++) {
    events.push({ type: "round.started", round, agents: ids });
    const snapshot = { answers: few(launched), blank: [] };
    for (const agent of ids) {
      events.push({
        type: "step.started",
        kind: "round",
        agent,
        round,
        try: 1,
        pid: 1,
        launched_with: snapshot,
        after: round - 1,
        run_dir: `runs/${agent}/r${round}`,
      });
      events.push({ type: "step.progress", agent, round, try: 1, phase: "thinking", text: "I think about it." });
      const cost = { usd: 0.01, inputTokens: 1000, outputTokens: 100 };
      const base = { agent, round, try: 1, launchedWith: snapshot, seconds: 30, cost, at: round, step: round };
      const action =
        round % 2 === 1
          ? ({ ...base, kind: "new_answer" } as const)
          : ({ ...base, kind: "vote", target: "agent_aa", reason: "good", seenSteps: snapshot.answers } as const);
      events.push({ type: "step.finished", kind: "round", action, retry: false, interrupted: false });
      if (round % 2 === 1) launched[agent] = round;
    }
    const ballots =
      round % 2 === 1
        ? []
        : ids.slice(0, 20).map(
            (voter): Ballot => ({
              voter,
              target: "agent_aa",
              step: round,
              round,
              reason: "good",
              self: false,
              launchedWith: snapshot,
              seenSteps: snapshot.answers,
              standing: "valid",
              why: "",
            }),
          );
    events.push({ type: "ballots", round, ballots, tally: {} });
  }
  return events;
}

/** A line of the journal is below 8 KiB, so a real one of so many agents would be shortened: what stays is enough here. */
function few(steps: AnswerSteps): AnswerSteps {
  return Object.fromEntries(Object.entries(steps).slice(0, 5));
}
