import { expect } from "bun:test";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import type { TeamEvent } from "../../src/session/events.ts";
import { type Deed, recount } from "./recount.ts";
import type { KeptRun } from "./runs.ts";

/**
 * What holds for every run, however it went. Called for each run of these tests, so that every case guards all of it.
 * @param pluginDecides a plugin may have changed decisions and the document
 */
export function checkRun(run: KeptRun, pluginDecides: boolean): void {
  checkOutput(run);
  checkJournal(run);
  if (!pluginDecides) checkDecisions(run);
  checkMoney(run);
  checkFiles(run);
  checkAnswer(run);
  checkLaunches(run);
  checkSecrets(run);
  expect(findMarked(cookieVariable, new Set([run.directory.cookie]))).toEqual([]);
}

/** Paths of all files below a directory, relative to it, sorted. */
export function filesBelow(directory: string, skip: (path: string) => boolean = () => false): string[] {
  const walk = (path: string): string[] =>
    readdirSync(join(directory, path), { withFileTypes: true }).flatMap((entry) => {
      const below = join(path, entry.name);
      if (skip(below)) return [];
      return entry.isDirectory() ? walk(below) : [below];
    });
  return existsSync(directory) ? walk("").sort() : [];
}

/** What MassGen writes, which is not ours: its steps, and its own logs. */
export function isTheirs(path: string): boolean {
  return /^(session\/agents|synthesis\/session)\b|(^|\/)\.massgen(\/|$)/.test(path);
}

// --- internal ---

function checkOutput({ code, stdout, stderr, result, events, directory }: KeptRun): void {
  expect(result.exit_code).toBe(code);
  expect(stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: ");
  if (stdout.startsWith('{"v":1')) {
    expect(stdout).toBe(readFileSync(directory.journal, "utf8"));
    for (const line of stdout.split("\n")) expect(Buffer.byteLength(line)).toBeLessThan(8192);
  } else if (stdout.startsWith('{\n  "version": 1')) {
    expect(stdout).toBe(readFileSync(directory.result, "utf8"));
  }
  const last = events.at(-1);
  if (last?.type !== "run.finished") throw new Error(`the journal ends with ${last?.type}`);
  const { kind, reason, rule, winner } = result.decision;
  expect(last.decision).toEqual({ kind, reason, rule, winner });
  expect(last.exit_code).toBe(code);
}

function checkJournal({ events }: KeptRun): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events[0]?.type).toBe("run.started");
  for (const type of ["run.started", "run.finished", "decision"] as const) {
    expect(`${events.filter((event) => event.type === type).length} × ${type}`).toBe(`1 × ${type}`);
  }
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === "step.started") open.add(`${event.agent}/${event.round}/${event.try}`);
    if (event.type === "step.finished") open.delete(`${event.action.agent}/${event.action.round}/${event.action.try}`);
  }
  expect([...open]).toEqual([]);
}

/** Counts the votes of every barrier once more, by code that shares nothing with ours (recount.ts). */
function checkDecisions({ events, result, launches }: KeptRun): void {
  if (launches.length === 0 || result.warnings.some((warning) => warning.startsWith("plugin "))) return;
  const agents = result.agents.map(({ id }) => id);
  const deeds: Deed[] = [];
  let launched = 0;
  let stop: string | null = null;
  let standings: Record<string, string> = {};
  for (const [index, event] of events.entries()) {
    if (event.type === "round.started") launched = 0;
    if (event.type === "step.started" && event.kind === "round") launched++;
    // The first wins; a signal may overtake it.
    if (event.type === "run.resumed") stop = null;
    if (event.type === "stop") stop ??= event.reason;
    if (event.type === "step.finished") deeds.push(...deedOf(event));
    if (event.type === "decision") break;
    if (event.type !== "ballots") continue;
    Object.assign(standings, Object.fromEntries(event.ballots.map(({ voter, standing }) => [voter, standing])));
    // The ballots of a large team take several events.
    if (event.more) continue;
    const { decision, next } = whatFollows(events.slice(index + 1));
    // A limit that is found at a barrier stops nothing, so there is no event `stop`.
    const reason = stop ?? (decision && isStopReason(decision.reason) ? decision.reason : null);
    const mine = recount({ agents, deeds, maxRounds: result.limits.max_rounds, launchedThisRound: launched, stopReason: reason });
    expect(event.tally).toEqual(mine.tally);
    expect(standings).toEqual(mine.standings);
    standings = {};
    const verdict = decision === null ? null : { kind: String(decision.kind), reason: String(decision.reason), winner: decision.winner };
    expect(verdict).toEqual(mine.verdict);
    if (!decision) expect(next).toEqual(mine.next);
  }
}

function isStopReason(reason: string): boolean {
  return ["timeout", "cost_budget", "interrupted", "agents_failed", "plugin"].includes(reason);
}

function whatFollows(events: readonly TeamEvent[]) {
  for (const event of events) {
    if (event.type === "decision") return { decision: event.decision, next: null };
    if (event.type === "round.started") return { decision: null, next: event.agents };
  }
  throw new Error("a barrier led nowhere");
}

function deedOf({ action, kind, retry, interrupted }: TeamEvent & { readonly type: "step.finished" }): Deed[] {
  if (interrupted || retry || kind === "synthesis" || kind === "plugin") return [];
  const { agent, round, at, launchedWith } = action;
  const base = { agent, round, at, step: 0, target: "", launchedWith: launchedWith.answers, blankAtLaunch: launchedWith.blank, seen: null };
  if (action.kind === "new_answer") return [{ ...base, did: "answer", step: action.step }];
  if (action.kind === "vote") return [{ ...base, did: "vote", step: action.step, target: action.target, seen: action.seenSteps }];
  return [{ ...base, did: action.kind === "skipped" ? "skip" : "fail" }];
}

/** Money is the sum of what steps report, none twice. */
function checkMoney({ events, result, stderr }: KeptRun): void {
  const steps = events.flatMap((event) => (event.type === "step.finished" && event.action.kind !== "skipped" ? [event.action.cost] : []));
  const known = steps.flatMap(({ usd }) => (usd === null ? [] : [usd]));
  const { total_usd: total, known: how } = result.cost;
  if (known.length === steps.length) expect(how).toBe("all");
  if (how !== "all") {
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^total spent: (unknown|≥ )/);
    return;
  }
  expect(total).toBeCloseTo(
    known.reduce((sum, usd) => sum + usd, 0),
    7,
  );
}

function checkFiles({ directory, result, project }: KeptRun): void {
  const all = filesBelow(directory.root);
  expect(all.filter((path) => !isTheirs(path) && /\.tmp|\.new|~$/.test(path))).toEqual([]);
  const ours = [
    "config.json",
    "events.jsonl",
    "result.json",
    "synthesis/final_answer.md",
    ...all.filter((path) => /^configs\/|^runs\/.*\.log$/.test(path)),
  ];
  for (const path of ours.filter((name) => existsSync(join(directory.root, name)))) {
    expect(`${path} ${(lstatSync(join(directory.root, path)).mode & 0o777).toString(8)}`).toBe(`${path} 600`);
  }
  // Only agents are in the session, and only numbered steps in an agent.
  expect(readdirSync(directory.session)).toEqual(["agents"]);
  for (const agent of readdirSync(join(directory.session, "agents"))) {
    expect(result.agents.map(({ id }) => id)).toContain(agent);
    for (const name of readdirSync(join(directory.session, "agents", agent))) expect(name).toMatch(/^(\d{3}|last_action\.json)$/);
  }
  expect(readdirSync(project.directory).filter((name) => name === ".massgen")).toEqual([]);
  for (const { failure } of result.agents) if (failure) expect(existsSync(join(directory.root, failure.log))).toBe(true);
}

/** The answer is the winner's newest one, word for word. */
function checkAnswer({ directory, result }: KeptRun): void {
  const { answer, decision, synthesis, agents, warnings } = result;
  expect(synthesis.path !== null).toBe(answer !== null);
  expect(decision.winner !== null).toBe(answer !== null);
  if (decision.winner === null || answer === null || synthesis.path === null) return;
  const step = agents.find(({ id }) => id === decision.winner)?.steps.findLast(({ action }) => action === "new_answer")?.step ?? 0;
  const file = join(directory.session, "agents", decision.winner, String(step).padStart(3, "0"), "answer.json");
  expect(answer).toBe(JSON.parse(readFileSync(file, "utf8")).answer);
  if (synthesis.kind === "agent" || warnings.some((warning) => warning.startsWith("plugin "))) return;
  expect(readFileSync(synthesis.path, "utf8").includes(answer.trim())).toBe(true);
}

function checkLaunches({ launches, events, directory, result }: KeptRun): void {
  const steps = launches.filter(({ kind }) => kind === "step");
  for (const { argv, cwd, sessionDir, config, env } of steps) {
    expect(relative(directory.runs, cwd)).toMatch(/^[^./]/);
    expect([sessionDir, config].every((path) => path !== null && isAbsolute(path))).toBe(true);
    const criteria = argv[argv.indexOf("--eval-criteria") + 1] ?? "";
    if (argv.includes("--eval-criteria")) expect(isAbsolute(criteria)).toBe(true);
    expect(env.CLAUDECODE).toBeUndefined();
    expect(env.BUN_OPTIONS).toBeUndefined();
  }
  const busy = new Set<string>();
  const inTeam = (kind: string) => kind === "round" || kind === "retry";
  for (const event of events) {
    if (event.type === "step.started" && inTeam(event.kind)) {
      expect(busy.has(event.agent)).toBe(false);
      busy.add(event.agent);
      expect(busy.size).toBeLessThanOrEqual(result.limits.max_parallel ?? Number.POSITIVE_INFINITY);
    }
    if (event.type === "step.finished" && inTeam(event.kind)) busy.delete(event.action.agent);
  }
  const { max_rounds: maxRounds, retries } = result.limits;
  for (const { id, steps: taken } of result.agents) {
    const inRounds = taken.filter(({ round }) => round > 0);
    expect(`${id} ${inRounds.length <= maxRounds * (1 + retries)}`).toBe(`${id} true`);
  }
}

/** Values of keys are in nothing that we wrote or said. */
function checkSecrets({ directory, project, stdout, stderr }: KeptRun): void {
  const secrets = Object.entries(project.env).flatMap(([name, value]) => (value !== "" && /_(API_)?KEY$|TOKEN$/.test(name) ? [value] : []));
  const texts = filesBelow(directory.root, isTheirs).map((path) => [path, readFileSync(join(directory.root, path), "latin1")] as const);
  for (const [where, text] of [...texts, ["stdout", stdout], ["stderr", stderr]] as const) {
    for (const secret of secrets) if (text.includes(secret)) throw new Error(`a key is in ${where}`);
  }
}
