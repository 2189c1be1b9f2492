import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
let built: Promise<string> | null = null;

/** Path of the compiled program; built once for these tests when it is missing or older than its source (test/run.sh builds it before). */
export function compiledProgram(): Promise<string> {
  built ??= build();
  return built;
}

// --- internal ---

async function build(): Promise<string> {
  const path = join(root, "dist/mg-team");
  const newest = Math.max(...["src", "plugins"].flatMap((name) => timesBelow(join(root, name))), statSync(join(root, "build.ts")).mtimeMs);
  if (existsSync(path) && statSync(path).mtimeMs > newest) return path;
  const made = Bun.spawn([process.execPath, "run", "build.ts"], { cwd: root, stdout: "pipe", stderr: "pipe", env: process.env });
  const [code, text] = [await made.exited, await new Response(made.stderr).text()];
  if (code !== 0) throw new Error(`the build failed: ${text}`);
  return path;
}

function timesBelow(directory: string): number[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs);
}
