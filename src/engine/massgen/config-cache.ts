import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "../../session/atomic.ts";
import type { MassgenInstall } from "./install.ts";

/** What a quickstart config depends on. Agent id and context are put in afterwards. */
export interface ConfigKey {
  readonly install: MassgenInstall;
  readonly backend: string;
  readonly model: string;
  readonly docker: boolean;
}

/** The config that quickstart wrote for the same question before, or null. A cache that cannot be read is no cache. */
export function readCachedConfig(cacheDir: string, key: ConfigKey): string | null {
  try {
    return readFileSync(pathOf(cacheDir, key), "utf8");
  } catch {
    return null;
  }
}

/** Remembers a config. A cache that cannot be written only costs time later. */
export async function writeCachedConfig(cacheDir: string, key: ConfigKey, text: string): Promise<void> {
  try {
    mkdirSync(join(cacheDir, directory), { recursive: true, mode: 0o700 });
    await writeFileAtomic(pathOf(cacheDir, key), text);
  } catch {
    // Next time takes ten seconds again.
  }
}

/** `--refresh`: forgets all configs. */
export function forgetConfigs(cacheDir: string): void {
  rmSync(join(cacheDir, directory), { recursive: true, force: true });
}

// --- internal ---

const directory = "configs";

/** Raise when what is cached changes its meaning. */
const format = 1;

function pathOf(cacheDir: string, { install, backend, model, docker }: ConfigKey): string {
  const question = JSON.stringify([format, install.argv, install.version, backend, model, docker]);
  return join(cacheDir, directory, `${createHash("sha256").update(question).digest("hex").slice(0, 32)}.yaml`);
}
