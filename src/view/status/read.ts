import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { TeamError } from "../../errors.ts";
import { findTeamDirectory, type TeamDirectory, teamDirectory } from "../../session/directory.ts";
import { damagedLines, readJournal } from "../../session/journal.ts";
import { isLocked } from "../../session/lock.ts";
import { readRegularText } from "../../session/regular-file.ts";
import { isRealDirectory } from "../../session/untrusted.ts";
import type { AgentId } from "../../types.ts";
import { statusFromFiles } from "./from-files.ts";
import { statusFromJournal } from "./from-journal.ts";
import type { TeamStatus } from "./shape.ts";

/** What `status` can look at: a run with a directory of ours, or a step-mode session directory of anybody. */
export type StatusTarget =
  | { readonly kind: "team"; readonly directory: TeamDirectory }
  /** Absolute path of the directory that has `agents/` in it. */
  | { readonly kind: "session"; readonly path: string };

/**
 * Finds what a name means: a team id, the path of a team directory or of a session directory, or the newest run of the project.
 * @throws TeamError `not_found` with what to type
 */
export function findStatusTarget(projectDir: string, name?: string): StatusTarget {
  const path = name === undefined ? null : resolve(projectDir, name);
  if (path !== null && isRealDirectory(join(path, "agents")) && !existsSync(join(path, "config.json"))) {
    const parent = dirname(path);
    // The session of a run: its run knows more.
    if (basename(path) === "session" && existsSync(join(parent, "config.json"))) return { kind: "team", directory: teamDirectory(parent) };
    return { kind: "session", path };
  }
  try {
    return { kind: "team", directory: findTeamDirectory(projectDir, name) };
  } catch (error) {
    if (path === null || !isRealDirectory(path) || !(error instanceof TeamError)) throw error;
    const hint = "A team directory holds a config.json, a session directory of MassGen's step mode a directory agents.";
    throw new TeamError("not_found", `${path} is neither a team directory nor a session directory`, hint);
  }
}

/** The status at this moment. @param now milliseconds since the epoch */
export function readStatus(target: StatusTarget, now: number): TeamStatus {
  if (target.kind === "session") {
    return statusFromFiles({ sessionDir: target.path, directory: target.path, sessionId: null, query: null, models: {} });
  }
  const { directory } = target;
  const locked = isLocked(directory.root);
  const { events, damaged } = readJournal(directory.journal);
  const config = readTeamConfig(directory);
  const ours = events.length > 0 || locked || directory.cookie !== "";
  if (ours) {
    const status = statusFromJournal(directory, events, { query: config.query, locked, hasResult: existsSync(directory.result), now });
    return damaged === 0 ? status : { ...status, warnings: [...status.warnings, damagedLines(damaged)] };
  }
  const { id: sessionId, root, session: sessionDir } = directory;
  return statusFromFiles({ sessionDir, directory: root, sessionId, ...config });
}

/** What `config.json` says of a run, whoever started it (mission.md, "Initialize Session"); anything may stand in it. */
export function readTeamConfig(directory: TeamDirectory): { readonly query: string | null; readonly models: Record<AgentId, string> } {
  try {
    const { query, agent_mapping: mapping } = JSON.parse(readRegularText(directory.config)) as Readonly<Record<string, unknown>>;
    const entries = typeof mapping === "object" && mapping !== null ? Object.entries(mapping) : [];
    return {
      query: typeof query === "string" ? query : null,
      models: Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string")),
    };
  } catch {
    return { query: null, models: {} };
  }
}
