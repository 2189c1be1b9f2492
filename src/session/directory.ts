import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { systemCodeOf, TeamError } from "../errors.ts";
import { nearest } from "../text.ts";
import type { AgentId } from "../types.ts";
import { syncDirectory, writeFileAtomicSync } from "./atomic.ts";
import { hintOf, reasonOf } from "./reasons.ts";
import { readRegularText } from "./regular-file.ts";

/** Where everything of a run is (design.md, "Files of a run"). All paths are absolute; not all of them exist yet. */
export interface TeamDirectory {
  /** `team_20261129_181500` */
  readonly id: string;
  readonly root: string;
  /** The step-mode session directory: only the engine writes into its `agents/`. */
  readonly session: string;
  readonly configs: string;
  readonly runs: string;
  readonly synthesis: string;
  readonly config: string;
  readonly journal: string;
  readonly result: string;
  readonly report: string;
  readonly finalAnswer: string;
  readonly deliverable: string;
  readonly winner: string;
  /** Working directory of the synthesis step. */
  readonly synthesisRun: string;
  /** Marks the run's processes, see `ChildSpec.cookie`; empty for a run that wrote none. */
  readonly cookie: string;
  /** Working directory of a step: `runs/agent_a/r1`, for a second try `runs/agent_a/r1/try2`. Not created here. */
  runDir(agent: AgentId, round: number, attempt?: number): string;
}

/** Where a project keeps its runs, below the project's directory. */
export const sessionsPath = join(".massgen-quality", "sessions");

/**
 * Claims a new team directory, named by the local time; `_2`, `_3` … when that second is taken. The plain `mkdir` is the claim, so two
 * runs never share one. Writes the run's cookie into it.
 * @param date a date, or milliseconds since the epoch
 * @throws TeamError `preflight` when nothing can be written there: nothing was spent yet
 */
export function createTeamDirectory(projectDir: string, date: Date | number): TeamDirectory {
  const sessions = join(resolve(projectDir), sessionsPath);
  try {
    fs.mkdirSync(sessions, { recursive: true });
    const root = claim(sessions, `team_${timestamp(new Date(date))}`);
    for (const path of ["session/agents", "configs", "runs", "synthesis"]) fs.mkdirSync(join(root, path), { recursive: true, mode: 0o700 });
    const cookie = randomBytes(16).toString("hex");
    writeFileAtomicSync(join(root, cookieFile), `${cookie}\n`);
    syncDirectory(sessions);
    return teamDirectory(root, cookie);
  } catch (error) {
    const cause = error instanceof TeamError ? error.cause : error;
    const where = (cause as NodeJS.ErrnoException).path ?? sessions;
    throw new TeamError("preflight", `cannot create a directory for the run in ${sessions}: ${reasonOf(cause)} (${where})`, hintOf(cause), {
      cause,
    });
  }
}

/** The directory that a run at that time would get, which may be taken by then. Makes nothing. */
export function nextTeamDirectory(projectDir: string, date: Date | number): TeamDirectory {
  return teamDirectory(join(resolve(projectDir), sessionsPath, `team_${timestamp(new Date(date))}`));
}

/**
 * Finds a run: by id, by path, or the newest of the project when `name` is undefined; of several, one that can be read.
 * @throws TeamError `not_found` with the nearest id and what to type; `preflight` for a run that cannot be read
 */
export function findTeamDirectory(projectDir: string, name?: string): TeamDirectory {
  const sessions = join(resolve(projectDir), sessionsPath);
  const ids = listTeamIds(projectDir);
  if (name === undefined) {
    const newest = newestOf(ids.map((id) => join(sessions, id)));
    if (newest) return newest;
    throw new TeamError(
      "not_found",
      `there are no runs yet in ${sessions}`,
      'Start one: mg-team "QUERY", or change to the project\'s directory.',
    );
  }
  if (ids.includes(name)) return teamDirectory(join(sessions, name));
  const path = resolve(projectDir, name);
  if (looksLikeTeam(path)) return teamDirectory(path);
  if (fs.existsSync(path))
    throw new TeamError("not_found", `${path} is not a team directory`, "Its name is team_… and it holds a config.json.");
  const near = nearest(name, ids, 4);
  throw new TeamError(
    "not_found",
    `there is no run ${name} in ${sessions}`,
    near ? `Did you mean ${near}? "mg-team sessions" lists all.` : 'Type "mg-team sessions" to see all runs of this project.',
  );
}

/** The project that a run belongs to, absolute, wherever it is named from; null for one that was moved out of it. */
export function projectOf({ id, root }: TeamDirectory): string | null {
  const tail = join(sep, sessionsPath, id);
  return root.endsWith(tail) ? root.slice(0, -tail.length) || sep : null;
}

/**
 * Ids of the runs of a project, oldest first; not all of them need be readable.
 * @throws TeamError `preflight` when their directory is none, or cannot be read
 */
export function listTeamIds(projectDir: string): string[] {
  const sessions = join(resolve(projectDir), sessionsPath);
  return namesOf(sessions)
    .filter((id) => idPattern.test(id) && isDirectory(join(sessions, id)))
    .sort((a, b) => a.slice(0, idLength).localeCompare(b.slice(0, idLength)) || ordinal(a) - ordinal(b));
}

/**
 * The paths of a team directory that exists.
 * @throws TeamError `preflight` when it cannot be read: it is of another user, or damaged
 */
export function teamDirectory(path: string, cookie = readCookie(resolve(path))): TeamDirectory {
  const root = resolve(path);
  const at = (...parts: string[]) => join(root, ...parts);
  return {
    id: basename(root),
    root,
    session: at("session"),
    configs: at("configs"),
    runs: at("runs"),
    synthesis: at("synthesis"),
    config: at("config.json"),
    journal: at("events.jsonl"),
    result: at("result.json"),
    report: at("report.html"),
    finalAnswer: at("synthesis", "final_answer.md"),
    deliverable: at("synthesis", "deliverable"),
    winner: at("synthesis", "winner"),
    synthesisRun: at("runs", "synthesis"),
    cookie,
    runDir: (agent, round, attempt = 1) => at("runs", agent, `r${round}`, ...(attempt > 1 ? [`try${attempt}`] : [])),
  };
}

// --- internal ---

const cookieFile = ".cookie";
const idPattern = /^team_\d{8}_\d{6}(_\d+)?$/;
const idLength = "team_20261129_181500".length;

function ordinal(id: string): number {
  return Number(id.slice(idLength + 1) || 1);
}

function claim(sessions: string, name: string): string {
  for (let count = 1; ; count++) {
    const root = join(sessions, count === 1 ? name : `${name}_${count}`);
    try {
      fs.mkdirSync(root, { mode: 0o700 });
      return root;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function timestamp(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  return `${day}_${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}

function namesOf(sessions: string): string[] {
  try {
    return fs.readdirSync(sessions);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return [];
    throw new TeamError("preflight", `cannot look for runs in ${sessions}: ${reasonOf(error)}`, hintOf(error), { cause: error });
  }
}

/** Links to directories count too; what cannot be looked at does not. */
function isDirectory(path: string): boolean {
  try {
    return fs.statSync(path).isDirectory();
  } catch {
    return false; // gone, no permission, or links in a circle
  }
}

/** The last that can be read. Throws the TeamError of the last when none can. */
function newestOf(roots: readonly string[]): TeamDirectory | null {
  let problem: unknown = null;
  for (const root of [...roots].reverse()) {
    try {
      return teamDirectory(root);
    } catch (error) {
      problem ??= error;
    }
  }
  if (problem !== null) throw problem;
  return null;
}

function looksLikeTeam(path: string): boolean {
  return fs.existsSync(join(path, "config.json")) || fs.existsSync(join(path, cookieFile));
}

function readCookie(root: string): string {
  try {
    const text = readRegularText(join(root, cookieFile), 1024).trim();
    return /^[0-9a-f]{32}$/.test(text) ? text : "";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCodeOf(error) ?? "")) return "";
    // Without it the run's processes could not be found.
    const hint = "Is it a run of another user? See the others: mg-team sessions";
    throw new TeamError("preflight", `cannot read ${join(root, cookieFile)}: ${reasonOf(error)}`, hint, { cause: error });
  }
}
