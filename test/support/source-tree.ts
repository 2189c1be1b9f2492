import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { parse } from "@babel/parser";

/** A source file as the layout rules see it. */
export interface SourceFile {
  /** Relative to the project, with `/`: `src/team.ts`. */
  readonly path: string;
  readonly lines: number;
  /** Everything that it imports or re-exports, types included. */
  readonly imports: readonly Import[];
  /** Global names and their members, as they are used: `process.exit`, `console.log`, `Bun.write`; `().writer` for a method of what a call returned. */
  readonly uses: readonly string[];
}

export interface Import {
  /** As written: `./text.ts`, `zod`. */
  readonly name: string;
  /** Of a relative import: the file, relative to the project; null otherwise. */
  readonly file: string | null;
  /** `await import(…)`: loaded when it is needed. */
  readonly lazy: boolean;
}

/** Reads every TypeScript file below the directories. */
export function readSources(project: string, directories: readonly string[]): readonly SourceFile[] {
  return directories.flatMap((directory) =>
    readdirSync(join(project, directory), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .sort()
      .map((name) => `${directory}/${name.replaceAll("\\", "/")}`)
      .map((path) => describeSource(path, readFileSync(join(project, path), "utf8"))),
  );
}

export function describeSource(path: string, text: string): SourceFile {
  const names: { readonly name: string; readonly lazy: boolean }[] = [];
  const uses: string[] = [];
  const { program } = parse(text, { sourceType: "module", plugins: ["typescript"] });
  walk(program as unknown as SyntaxNode, (node) => {
    const { type, source, argument, callee, object, property } = node;
    if (type.endsWith("Declaration") && isNode(source)) names.push({ name: String(source.value), lazy: false });
    if (type === "ImportExpression" && isNode(source)) names.push({ name: literal(source), lazy: true });
    if (type === "TSImportType") names.push({ name: literal(isNode(argument) ? argument : isNode(source) ? source : node), lazy: false });
    if (type === "CallExpression" && isNode(callee) && callee.type === "Identifier" && callee.name === "require")
      names.push({ name: "require", lazy: true });
    if (type === "MemberExpression" && isNode(object) && isNode(property)) {
      const member = String(property.name ?? property.value);
      if (object.type === "Identifier") uses.push(`${object.name}.${member}`);
      if (object.type === "CallExpression") uses.push(`().${member}`);
    }
    if (type === "VariableDeclarator" && isNode(node.init) && node.init.type === "Identifier" && isNode(node.id)) {
      // `const { exit } = process` is a use of process.exit.
      const { properties } = node.id as unknown as { properties?: readonly SyntaxNode[] };
      for (const { key } of properties ?? []) if (isNode(key)) uses.push(`${node.init.name}.${key.name}`);
    }
  });
  const imports = names.map(({ name, lazy }) => ({
    name,
    file: name.startsWith(".") ? normalize(join(dirname(path), name)).replaceAll("\\", "/") : null,
    lazy,
  }));
  return { path, lines: text.split("\n").length - 1, imports, uses };
}

/** Circles of imports, lazy ones left out (a list of commands may be known to its commands), each as a list of files that ends where it begins. Finds at least one of every knot. */
export function findCycles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path]);
    if (trail.includes(path) || done.has(path)) return;
    for (const { file, lazy } of byPath.get(path)?.imports ?? []) if (file !== null && !lazy) visit(file, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return cycles;
}

/** The project directory. */
export const project = relative(process.cwd(), join(import.meta.dir, "../..")) || ".";

// --- internal ---

interface SyntaxNode {
  readonly type: string;
  readonly [field: string]: unknown;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof (value as { type?: unknown } | null | undefined)?.type === "string";
}

function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit);
  }
}

/** The text of a string; `(computed)` for anything else. */
function literal(node: SyntaxNode): string {
  const inner = isNode(node.literal) ? node.literal : node;
  return inner.type === "StringLiteral" ? String(inner.value) : "(computed)";
}
