import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "@babel/parser";

/**
 * Puts the declarations that the compiler wrote for many files into one: what the entry exports, and whatever those mention. It knows the few
 * forms that our own sources have and refuses every other, so that it can leave nothing out unseen.
 */

/** One piece of the result. */
export interface Declaration {
  readonly name: string;
  /** With its doc comment; without `export` and `declare`. */
  readonly text: string;
  readonly exported: boolean;
}

export interface Bundle {
  readonly declarations: readonly Declaration[];
  /** Types taken from packages: names by package. */
  readonly packages: ReadonlyMap<string, ReadonlySet<string>>;
}

/** @param entry absolute path of a `.d.ts` file; its imports name `.ts` files beside it, for which there are `.d.ts` files */
export function bundle(entry: string): Bundle {
  const files = new Map<string, DeclaredFile>();
  const fileAt = (path: string): DeclaredFile => {
    const known = files.get(path);
    if (known) return known;
    const read = readDeclarations(path);
    files.set(path, read);
    return read;
  };
  const packages = new Map<string, Set<string>>();
  const found = new Map<string, { readonly name: string; readonly text: string; readonly file: string }>();
  const take = (path: string, name: string): void => {
    const file = fileAt(path);
    const own = file.declared.get(name);
    const other = file.imported.get(name) ?? file.passedOn.get(name);
    if (own === undefined && other?.file === null) {
      packages.set(other.package, (packages.get(other.package) ?? new Set()).add(other.name));
      return;
    }
    if (own === undefined) {
      if (!other?.file) throw new Error(`${path} declares no ${name}`);
      take(other.file, other.name);
      return;
    }
    const before = found.get(name);
    if (before && before.file !== path) throw new Error(`two declarations are named ${name}, in ${before.file} and ${path}: rename one`);
    if (before) return;
    if (own.mentions.has(inlineImport)) throw new Error(`${name} in ${path} has a type from import(…); import it at the top`);
    found.set(name, { name, text: own.text, file: path });
    for (const mention of own.mentions) if (file.declared.has(mention) || file.imported.has(mention)) take(path, mention);
  };
  const exported = exportsOf(entry, fileAt);
  const order = new Map(exported.map(({ name }, index) => [name, index]));
  for (const { file, name } of exported) take(file, name);
  const declarations = [...found.values()].map(({ name, text }) => ({ name, text, exported: order.has(name) }));
  const rank = ({ name }: Declaration) => order.get(name) ?? order.size;
  return { declarations: declarations.sort((one, other) => rank(one) - rank(other)), packages };
}

// --- internal ---

/** Stands among what a declaration mentions for `import("…").X`. */
const inlineImport = "import(…)";

interface Origin {
  /** Absolute path; null for a package. */
  readonly file: string | null;
  readonly package: string;
  readonly name: string;
}

interface DeclaredFile {
  readonly declared: ReadonlyMap<string, { readonly text: string; readonly isType: boolean; readonly mentions: ReadonlySet<string> }>;
  readonly imported: ReadonlyMap<string, Origin>;
  /** `export { … } from`, `export { … }`. */
  readonly passedOn: ReadonlyMap<string, Origin>;
  /** `export type * from`. */
  readonly typesOf: readonly string[];
  /** What it exports itself. */
  readonly exported: ReadonlySet<string>;
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly leadingComments?: readonly SyntaxNode[];
  readonly [field: string]: unknown;
}

function exportsOf(entry: string, fileAt: (path: string) => DeclaredFile): { readonly file: string; readonly name: string }[] {
  const { declared, passedOn, typesOf } = fileAt(entry);
  if (declared.size > 0) throw new Error(`${entry} declares something itself`);
  const named = [...passedOn.keys()].map((name) => ({ file: entry, name }));
  const types = typesOf.flatMap((file) => {
    const { exported, declared: own } = fileAt(file);
    return [...exported].filter((name) => own.get(name)?.isType).map((name) => ({ file, name }));
  });
  return [...named, ...types];
}

function readDeclarations(path: string): DeclaredFile {
  const text = readFileSync(path, "utf8");
  const { program } = parse(text, { sourceType: "module", plugins: [["typescript", { dts: true }]] });
  const declared = new Map<string, { text: string; isType: boolean; mentions: Set<string> }>();
  const [imported, passedOn] = [new Map<string, Origin>(), new Map<string, Origin>()];
  const typesOf: string[] = [];
  const exported = new Set<string>();
  const origin = (from: string, name: string): Origin =>
    from.startsWith(".") ? { file: declarationFile(path, from), package: "", name } : { file: null, package: from, name };
  for (const node of program.body as unknown as readonly SyntaxNode[]) {
    const { source, specifiers, declaration } = node as {
      source?: SyntaxNode;
      specifiers?: readonly SyntaxNode[];
      declaration?: SyntaxNode;
    };
    const from = source ? String(source.value) : null;
    if (node.type === "ImportDeclaration" && from !== null) {
      for (const { local, imported: theirs } of (specifiers ?? []) as readonly Record<string, SyntaxNode | undefined>[]) {
        if (theirs === undefined || nameOf(local) !== nameOf(theirs)) throw new Error(`${path}: an import under another name`);
        imported.set(nameOf(local), origin(from, nameOf(theirs)));
      }
    } else if (node.type === "ExportAllDeclaration" && from !== null) {
      if (node.exportKind !== "type") throw new Error(`${path}: export * is not for a public surface; name what is exported`);
      typesOf.push(declarationFile(path, from));
    } else if (node.type === "ExportNamedDeclaration" && !declaration) {
      for (const { local, exported: theirs } of (specifiers ?? []) as readonly Record<string, SyntaxNode | undefined>[]) {
        if (nameOf(local) !== nameOf(theirs)) throw new Error(`${path}: an export under another name`);
        const name = nameOf(local);
        if (from !== null) passedOn.set(name, origin(from, name));
        exported.add(name);
      }
    } else {
      const inner = declaration ?? node;
      const name = nameOf((inner.id ?? (inner.declarations as readonly SyntaxNode[] | undefined)?.[0]?.id) as SyntaxNode | undefined);
      if (declaration) exported.add(name);
      const comment = node.leadingComments?.findLast(({ type, value }) => type === "CommentBlock" && String(value).startsWith("*"));
      const bare = text.slice(node.start, node.end).replace(/^(export )?(declare )?/, "");
      const isType = /^TS(Interface|TypeAlias)Declaration$/.test(inner.type);
      if (!isType && !/^(TSDeclareFunction|VariableDeclaration|ClassDeclaration)$/.test(inner.type))
        throw new Error(`${path}: a ${inner.type}`);
      const full = comment ? `${text.slice(comment.start, comment.end)}\n${bare}` : bare;
      const before = declared.get(name);
      const mentions = before?.mentions ?? new Set();
      mentionsIn(inner, mentions);
      declared.set(name, { text: before ? `${before.text}\n${full}` : full, isType, mentions });
    }
  }
  return { declared, imported, passedOn, typesOf, exported };
}

/** Collects the names of types, and of values behind `typeof`. */
function mentionsIn(value: unknown, names: Set<string>): void {
  if (Array.isArray(value)) for (const each of value) mentionsIn(each, names);
  if (typeof value !== "object" || value === null || !("type" in value)) return;
  const node = value as SyntaxNode;
  if (node.type === "TSImportType") names.add(inlineImport);
  for (const field of ["typeName", "exprName", "expression", "superClass"]) {
    const name = firstName(node[field] as SyntaxNode | undefined);
    if (name !== null) names.add(name);
  }
  for (const [field, child] of Object.entries(node)) if (!/Comments$|^loc$/.test(field)) mentionsIn(child, names);
}

/** `z` of `z.ZodType`. */
function firstName(node: SyntaxNode | undefined): string | null {
  if (node?.type === "TSQualifiedName") return firstName(node.left as SyntaxNode);
  return node?.type === "Identifier" ? nameOf(node) : null;
}

function nameOf(node: SyntaxNode | undefined): string {
  if (node?.type !== "Identifier") throw new Error(`a name that is ${node?.type ?? "missing"}`);
  return String(node.name);
}

function declarationFile(from: string, name: string): string {
  const path = join(dirname(from), name.replace(/\.ts$/, ".d.ts"));
  if (!existsSync(path)) throw new Error(`${from} imports ${name}, for which there are no declarations`);
  return path;
}
