import { builtIns } from "../../plugins/index.ts";
import type { PluginRequest } from "../config/settings.ts";
import { TeamError } from "../errors.ts";
import * as publicApi from "../index.ts";
import { keepStdoutClean } from "../plugin/console.ts";
import { checkPlugin, type LoadedPlugin, loadPlugin, serveHostModules } from "../plugin/load.ts";
import { listOf, nearest, quoted } from "../text.ts";

/** Before the first file of a plugin is loaded: what it imports is there, and what it prints does not mix with the result. */
export function prepareForPlugins(): void {
  keepStdoutClean();
  serveHostModules(publicApi);
}

/**
 * The plugins of a run: the built-in ones, then those asked for, without those that are not wanted. Runs the code of their files.
 * Throws a TeamError: `config` for a file that is no plugin, `usage` for a name of `--without-plugin` that nothing has.
 */
export async function loadPlugins(requests: readonly PluginRequest[], without: readonly string[]): Promise<readonly LoadedPlugin[]> {
  if (requests.length > 0) prepareForPlugins();
  const plugins = builtIns.map((plugin) => checkPlugin(plugin, undefined, null));
  for (const { path, options } of requests) plugins.push(await loadPlugin({ path, options }));
  requireNames(
    without,
    plugins.map(({ plugin }) => plugin.name),
  );
  return plugins.filter(({ plugin }) => !without.includes(plugin.name));
}

/** Throws a TeamError (usage) for a name of `--without-plugin` that is none of `names`. */
export function requireNames(without: readonly string[], names: readonly string[]): void {
  for (const name of without) {
    if (names.includes(name)) continue;
    const meant = nearest(name, names);
    const hint = meant === null ? `There are ${listOf(names)}.` : `Did you mean ${meant}?`;
    throw new TeamError("usage", `--without-plugin: there is no plugin ${quoted(name)}`, hint);
  }
}
