import { join } from "node:path";

/** How to start mg-team once more: the binary itself, or Bun with the source, without what Bun would read from the working directory. */
export function selfCommand(): readonly string[] {
  if (isCompiled(import.meta.dir)) return [process.execPath];
  const config = process.platform === "win32" ? [] : ["--config=/dev/null"];
  return [process.execPath, "--no-env-file", ...config, join(import.meta.dir, "..", "cli.ts")];
}

/** Whether a module lies in the file system that a compiled binary brings along. */
export function isCompiled(directory: string): boolean {
  return /^(\/\$bunfs\/|[A-Za-z]:[\\/]~BUN[\\/])/.test(`${directory}/`);
}
