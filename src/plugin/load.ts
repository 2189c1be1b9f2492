import { existsSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import * as tapable from "tapable";
import * as zod from "zod";
import type { HostModule } from "../config/host-modules.ts";
import { messageOf, TeamError } from "../errors.ts";
import { listOf, nearest, quoted } from "../text.ts";
import { refuseExit } from "./exit.ts";
import type { Plugin } from "./plugin.ts";
import { within } from "./within.ts";

/** A plugin as asked for on the command line or in mg-team.yaml. */
export interface PluginSource {
  /** Absolute path of the file. */
  readonly path: string;
  readonly options?: unknown;
}

/** A plugin that is ready to be applied. */
export interface LoadedPlugin {
  readonly plugin: Plugin;
  /** Parsed by the plugin's own schema. */
  readonly options: unknown;
  /** Absolute path; null for built-ins. */
  readonly file: string | null;
}

/**
 * Serves `mg-team`, `zod` and `tapable` to plugin files, which need no node_modules of their own. Names are served exactly as listed
 * (style.md, "Traps"), so the names that people import are all here.
 */
export function serveHostModules(publicApi: Readonly<Record<string, unknown>>): void {
  // tapable is CommonJS: once bundled it has no default export of its own.
  const modules: Record<HostModule, Readonly<Record<string, unknown>>> = {
    "mg-team": publicApi,
    zod,
    "zod/v4": zod,
    tapable: { ...tapable, default: tapable },
  };
  Bun.plugin({
    name: "mg-team host modules",
    setup(build) {
      for (const [name, exports] of Object.entries(modules)) build.module(name, () => ({ exports: { ...exports }, loader: "object" }));
    },
  });
}

/** Loads a plugin's file and checks its shape and options. Throws a TeamError (config) that names the file. */
export async function loadPlugin(source: PluginSource): Promise<LoadedPlugin> {
  const { path } = source;
  if (!existsSync(path)) {
    throw new TeamError("config", `plugin ${path} does not exist`, "Check the path after --plugin or under plugins: in mg-team.yaml.");
  }
  // Bun 1.4.5 finds no module with such a path, though the file is there.
  if (process.platform !== "win32" && /[?\\]/.test(path)) {
    throw failedToLoad(path, "cannot be loaded: its path has a question mark or a backslash", "Fix its name, or that of its directory.");
  }
  const releaseExit = refuseExit();
  let module: { default?: unknown };
  try {
    // Computed, absolute and a URL: a literal path would be bundled at build time.
    module = await within(limitSeconds, import(pathToFileURL(path).href));
  } catch (error) {
    throw failedToLoad(path, `cannot be loaded: ${reasonOf(error, path)}`, "Fix the file, or run without it.", error);
  } finally {
    releaseExit();
  }
  return checkPlugin(module.default, source.options, path);
}

/** Checks that a value is a plugin and parses its options. Throws a TeamError (config) that names plugin and file. */
export function checkPlugin(value: unknown, options: unknown, file: string | null): LoadedPlugin {
  const plugin = value as Plugin | undefined;
  if (typeof plugin !== "object" || plugin === null || typeof plugin.apply !== "function" || typeof plugin.name !== "string") {
    const hint = 'Export one: export default definePlugin({ name: "…", apply(team) { … } })';
    throw failedToLoad(file ?? "", "has no plugin as its default export", hint);
  }
  if (plugin.name.trim() === "") throw failedToLoad(file ?? "", "has an empty name", 'Give it one: definePlugin({ name: "my-report", … })');
  const named = file ? `${plugin.name} (${file})` : plugin.name;
  if (!plugin.options) {
    if (options !== undefined) throw failedToLoad(named, "takes no options", "Remove its options: from mg-team.yaml.");
    return { plugin, options: undefined, file };
  }
  const { problem, data } = parseOptions(plugin.options, options ?? {});
  if (problem !== null) {
    const hint = `Give them in mg-team.yaml: plugins: [{ path: ${file ?? "…"}, options: { … } }]`;
    throw failedToLoad(named, `was given wrong options: ${problem}`, hint);
  }
  return { plugin, options: data, file };
}

/** What to call a plugin file before it has said its name. */
export function nameOfFile(path: string): string {
  return basename(path).replace(/\.[cm]?[jt]s$/, "");
}

// --- internal ---

/** Seconds for a plugin's file to load. */
const limitSeconds = 30;

function failedToLoad(what: string, detail: string, hint: string, cause?: unknown): TeamError {
  return new TeamError("config", `plugin ${what} ${detail}`, hint, { cause });
}

/** Never throws: the schema is the plugin's own, of whatever zod it brought. */
function parseOptions(schema: zod.ZodType, options: unknown): { readonly problem: string | null; readonly data?: unknown } {
  try {
    const parsed = schema.safeParse(options);
    if (!parsed.success) return { problem: zod.prettifyError(parsed.error).replace(/\s*\n\s*/g, " ") };
    return { problem: unknownOption(schema, options), data: parsed.data };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** `z.object` drops what it does not know; a mistyped option would go unnoticed. */
function unknownOption(schema: zod.ZodType, options: unknown): string | null {
  if (!(schema instanceof zod.ZodObject) || schema.def.catchall || typeof options !== "object" || options === null) return null;
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return null;
  const meant = nearest(unknown, known);
  const right = meant === null ? `it knows ${listOf(known) || "none"}` : `did you mean ${meant}?`;
  return `it has no option ${quoted(unknown)}; ${right}`;
}

/** Errors of Bun's parser come in a bundle and say where in fields of their own. */
function reasonOf(error: unknown, path: string): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  const position = (first as { position?: { file: string; line: number } | null } | null | undefined)?.position;
  if (!position) return messageOf(first);
  return `${position.file === path ? "" : `${position.file}, `}line ${position.line}: ${messageOf(first)}`;
}
