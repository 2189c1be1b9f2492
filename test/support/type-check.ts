import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { TemporaryDirectory } from "./temp.ts";

/** As strict as people have it; no packages, no types of Node, and declarations are checked too. */
export const strictest = {
  target: "esnext",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["esnext"],
  types: [],
  noEmit: true,
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  skipLibCheck: false,
};

/** What the pinned compiler says about files of a temporary directory; empty when all is well. */
export async function typeCheck(
  temp: TemporaryDirectory,
  include: readonly string[],
  options: Record<string, unknown> = {},
): Promise<string> {
  temp.write("tsconfig.json", JSON.stringify({ compilerOptions: { ...strictest, ...options }, include }));
  const child = Bun.spawn([join(root, "node_modules/.bin/tsc"), "-p", temp.path], { cwd: temp.path, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  return code === 0 ? `${stdout}${stderr}` : `exit ${code}: ${stdout}${stderr}`;
}

/** Installs a package of ours in a temporary directory. */
export function install(temp: TemporaryDirectory, name: string): void {
  const path = temp.join("node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, "node_modules", name), path);
}

// --- internal ---

const root = resolve(import.meta.dir, "../..");
