import { existsSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import * as tapable from "tapable";
import * as zod from "zod";
import { messageOf, TeamError } from "../errors.ts";
import type { Plugin } from "./plugin.ts";

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
  const modules: Record<string, Readonly<Record<string, unknown>>> = { "mg-team": publicApi, zod, "zod/v4": zod, tapable };
  Bun.plugin({
    name: "mg-team host modules",
    setup(build) {
      for (const [name, exports] of Object.entries(modules)) build.module(name, () => ({ exports: { ...exports }, loader: "object" }));
    },
  });
}

/** Loads a plugin's file and checks its shape and options. Throws a TeamError (plugin) that names the file. */
export async function loadPlugin(source: PluginSource): Promise<LoadedPlugin> {
  const { path } = source;
  if (!existsSync(path))
    throw new TeamError("config", `plugin ${path} does not exist`, "Check the path after --plugin or under plugins: in mg-team.yaml.");
  let module: { default?: unknown };
  try {
    // Computed, absolute and a URL: a literal path would be bundled at build time.
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    throw failedToLoad(path, `cannot be loaded: ${messageOf(error)}`, "Fix the file, or run without it.", error);
  }
  return checkPlugin(module.default, source.options, path);
}

/** Checks that a value is a plugin and parses its options. */
export function checkPlugin(value: unknown, options: unknown, file: string | null): LoadedPlugin {
  const plugin = value as Plugin | undefined;
  if (typeof plugin !== "object" || plugin === null || typeof plugin.apply !== "function" || typeof plugin.name !== "string") {
    throw failedToLoad(
      file ?? "",
      "has no plugin as its default export",
      'Export one: export default definePlugin({ name: "…", apply(team) { … } })',
    );
  }
  if (plugin.name.trim() === "") throw failedToLoad(file ?? "", "has an empty name", 'Give it one: definePlugin({ name: "my-report", … })');
  if (!plugin.options) {
    if (options !== undefined) throw failedToLoad(plugin.name, "takes no options", "Remove its options: from mg-team.yaml.");
    return { plugin, options: undefined, file };
  }
  const parsed = plugin.options.safeParse(options ?? {});
  if (!parsed.success) {
    throw failedToLoad(
      plugin.name,
      `was given wrong options: ${zod.prettifyError(parsed.error).replace(/\s*\n\s*/g, " ")}`,
      `Give them in mg-team.yaml: plugins: [{ path: ${file ?? "…"}, options: { … } }]`,
    );
  }
  return { plugin, options: parsed.data, file };
}

/** What to call a plugin file before it has said its name. */
export function nameOfFile(path: string): string {
  return basename(path).replace(/\.[cm]?[jt]s$/, "");
}

// --- internal ---

function failedToLoad(what: string, detail: string, hint: string, cause?: unknown): TeamError {
  return new TeamError("config", `plugin ${what} ${detail}`, hint, { cause });
}
