import { existsSync, readFileSync } from "node:fs";
import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readCriteria } from "../config/criteria.ts";
import { messageOf, systemCodeOf } from "../errors.ts";
import { reasonOf } from "../session/reasons.ts";
import { plural } from "../text.ts";
import type { ContextPath } from "../types.ts";
import { fail, failOf, ok, type PreflightCheck, warn } from "./check.ts";

/** Free space below which a run warns, and below which it does not start; in bytes. */
export const diskLimits = { warn: 1024 ** 3, fail: 50 * 1024 ** 2 } as const;

/** Whether a run can write where it must: `.massgen-quality` of the project, or the nearest directory that exists. */
export async function checkProject(projectDir: string): Promise<PreflightCheck> {
  const name = "project";
  const facts = await stat(projectDir).catch(() => null);
  if (!facts?.isDirectory()) return fail(name, `${projectDir} is not a directory`, "Start mg-team in the directory of your project.");
  const place = nearest(join(projectDir, ".massgen-quality", "sessions"), projectDir);
  if (!(await stat(place)).isDirectory())
    return fail(name, `${place} is a file, where runs need a directory`, `Move it away: mv ${place} ${place}.old`);
  try {
    await access(place, constants.W_OK | constants.X_OK);
    return ok(name, `${projectDir} is writable`);
  } catch (error) {
    return fail(
      name,
      `${place} cannot be written: ${reasonOf(error)}`,
      "Make it writable for your user (chmod, chown), or start mg-team in another directory.",
    );
  }
}

/** How much space is left where the run writes. */
export async function checkDisk(
  projectDir: string,
  look: (path: string) => Promise<{ bavail: number; bsize: number }> = statfs,
): Promise<PreflightCheck> {
  try {
    const { bavail, bsize } = await look(projectDir);
    return diskCheck(bavail * bsize);
  } catch (error) {
    return warn("disk", `the free space cannot be told: ${messageOf(error)}`);
  }
}

/** What free space, in bytes, means for a run. */
export function diskCheck(free: number): PreflightCheck {
  const megabytes = Math.floor(free / 1024 ** 2);
  const left = megabytes >= 10 * 1024 ? `${Math.floor(megabytes / 1024)} GiB free` : `${megabytes} MiB free`;
  const hint = "Free some space on this disk; mg-team clean removes old runs.";
  if (free < diskLimits.fail) return fail("disk", `only ${left}`, hint);
  return free < diskLimits.warn ? warn("disk", `only ${left}, and agents may write a lot`, hint) : ok("disk", left);
}

/** Whether each context path exists and can be read, or also written. */
export async function checkContext(paths: readonly ContextPath[]): Promise<PreflightCheck[]> {
  const found = await Promise.all(paths.map(checkContextPath));
  const wrong = found.filter((check) => check !== null);
  if (wrong.length > 0 || paths.length === 0) return wrong;
  return [
    ok(
      "context",
      `${plural(paths.length, "path")} for the agents to read${paths.some(({ permission }) => permission === "write") ? " or write" : ""}`,
    ),
  ];
}

/** Whether the criteria file is one that MassGen takes. */
export async function checkCriteria(path: string): Promise<PreflightCheck> {
  try {
    return ok("criteria", `${plural((await readCriteria(path)).length, "criterion", "criteria")} in ${path}`);
  } catch (error) {
    return failOf("criteria", error);
  }
}

/**
 * Bytes that arguments and environment of a new process may take together (execve(2): a quarter of the stack limit, within bounds; a
 * fixed number on macOS).
 */
export function argumentSpace(platform: NodeJS.Platform = process.platform): number {
  if (platform !== "linux") return 1024 * 1024;
  try {
    const soft = /^Max stack size +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    const stack = soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
    return Number.isNaN(stack) ? 2 * 1024 ** 2 : Math.max(128 * 1024, Math.min(stack / 4, 6 * 1024 ** 2));
  } catch {
    return 2 * 1024 ** 2;
  }
}

// --- internal ---

function nearest(path: string, limit: string): string {
  return path === limit || existsSync(path) ? path : nearest(dirname(path), limit);
}

async function checkContextPath({ path, permission }: ContextPath): Promise<PreflightCheck | null> {
  try {
    const isDirectory = (await stat(path)).isDirectory();
    const rights = constants.R_OK | (isDirectory ? constants.X_OK : 0) | (permission === "write" ? constants.W_OK : 0);
    await access(path, rights);
    return null;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT")
      return fail("context", `the context path ${path} does not exist`, "Correct --context, or `context:` in mg-team.yaml.");
    const use = permission === "write" ? "read and written" : "read";
    return fail("context", `the context path ${path} cannot be ${use}: ${reasonOf(error)}`, "Change its permissions, or leave it out.");
  }
}
