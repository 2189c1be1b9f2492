/**
 * Makes `src/commands/plugin/mg-team.d.ts.txt`, which `mg-team plugin types` gives to editors, from the sources: `npm run types`. The build does
 * it too, and a test compares, so that it cannot drift.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as zod from "zod";
import { bundle, type Declaration } from "./bundle.ts";

const root = resolve(import.meta.dir, "..");

/** Absolute path of the declarations that the program brings along. */
export const typesPath = join(root, "src/commands/plugin/mg-team.d.ts.txt");

/** Writes the declarations when they are not as the sources say. Returns whether they were. */
export async function updateTypes(): Promise<boolean> {
  const text = await generateTypes();
  if (readFileSync(typesPath, "utf8") === text) return true;
  writeFileSync(typesPath, text);
  return false;
}

/** The declarations, as the sources are now. */
export async function generateTypes(): Promise<string> {
  const { declarations, packages } = await compiled((directory) => bundle(join(directory, "src/index.d.ts")));
  const imports = [...packages].sort().map(([name, types]) => `import type { ${[...types].sort().join(", ")} } from "${name}";`);
  const body = [...imports, ...declarations.map(render), "export {};"].join("\n\n");
  const zodText = readFileSync(join(import.meta.dir, "zod.d.ts.txt"), "utf8");
  return [
    header,
    block('declare module "mg-team"', tidy(body)),
    zodHeader,
    block('declare module "zod*"', [tidy(zodText), everythingElse(zodText), 'export * as z from "zod";', "export {};"].join("\n\n")),
    tapableHeader(),
    block('declare module "tapable*"', `${tidy(readPackageFile("tapable/tapable.d.ts"))}\n\nexport {};`),
    nodeHeader,
    'declare module "node:*";',
    "",
  ].join("\n");
}

// --- internal ---

const header = `// Types of "mg-team" for plugin files, for your editor and for tsc; mg-team itself does not read them.
// Made by "mg-team plugin types", which makes them anew after an update. Changes here are lost then.
//
// A plugin file finds them by its line /// <reference path="./mg-team.d.ts" />, or by a tsconfig.json that includes this file.
`;

const zodHeader = `
// The modules below end in a star: they count only where the real ones are not installed. What is here of zod are the usual schemas;
// everything else of it is "any". For its full types: npm install -D zod
`;

const nodeHeader = `
// Modules of Node are "any" here. For their types: npm install -D @types/node
`;

function tapableHeader(): string {
  const { version } = JSON.parse(readPackageFile("tapable/package.json"));
  const license = readPackageFile("tapable/LICENSE").trim().split(/\r?\n/);
  return ["", `// All types of tapable ${version}, under its license:`, "//", ...license.map((line) => `// ${line}`.trimEnd()), ""].join(
    "\n",
  );
}

/** Runs the compiler, and `use` on what it wrote. What does not compile is left to `npm run check`: its declarations are there all the same. */
async function compiled<Result>(use: (directory: string) => Result): Promise<Result> {
  const output = mkdtempSync(join(tmpdir(), "mg-team-types-"));
  try {
    const flags = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", output, "--rootDir", root];
    const compiler = Bun.spawn([join(root, "node_modules/.bin/tsc"), ...flags], { cwd: root, stdout: "ignore", stderr: "ignore" });
    await compiler.exited;
    return use(output);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function render({ text, exported }: Declaration): string {
  return exported ? text.replace(/^(?=(?:interface|type|const|function|class|abstract) )/gm, "export ") : text;
}

/** What zod offers beside the schemas that are declared by hand, for it is no mistake to use it. */
function everythingElse(declared: string): string {
  const byHand = new Set([...declared.matchAll(/\b(?:function|as|type|interface|class) (\w+)/g)].map((match) => match[1] ?? ""));
  const names = Object.keys(zod).filter((name) => /^[a-z]/.test(name) && name !== "z" && name !== "default" && !byHand.has(name));
  return `const more: any;\nexport { ${names.map((name) => `more as ${name}`).join(", ")} };`;
}

function readPackageFile(name: string): string {
  return readFileSync(join(root, "node_modules", name), "utf8");
}

/** Two spaces for each step of the compiler's four, or of tapable's tabs; no `declare`, which may not stand inside of a module. */
function tidy(text: string): string {
  return text
    .trim()
    .replace(/^declare /gm, "")
    .replace(/^(?: {4}|\t)+/gm, (margin) => "  ".repeat(margin.replaceAll("    ", "\t").length));
}

function block(head: string, body: string): string {
  return [`${head} {`, ...body.split("\n").map((line) => (line === "" ? "" : `  ${line}`)), "}"].join("\n");
}

if (import.meta.main) {
  const path = typesPath.slice(root.length + 1);
  process.stdout.write((await updateTypes()) ? `${path} is as the sources say\n` : `${path} is new\n`);
}
