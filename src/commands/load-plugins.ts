import { builtIns } from "../../plugins/index.ts";
import type { PluginRequest } from "../config/settings.ts";
import { TeamError } from "../errors.ts";
import * as publicApi from "../index.ts";
import { keepStdoutClean } from "../plugin/console.ts";
import { checkPlugin, type LoadedPlugin, loadPlugin, serveHostModules } from "../plugin/load.ts";
import { listOf, nearest, quoted } from "../text.ts";

/**
 * The plugins of a run: the built-in ones, then those asked for, without those that are not wanted. Runs the code of their files.
 * Throws a TeamError: `config` for a file that is no plugin, `usage` for a name of `--without-plugin` that nothing has.
 */
export async function loadPlugins(requests: readonly PluginRequest[], without: readonly string[]): Promise<readonly LoadedPlugin[]> {
  if (requests.length > 0) {
    keepStdoutClean();
    serveHostModules(publicApi);
  }
  const plugins = builtIns.map((plugin) => checkPlugin(plugin, undefined, null));
  for (const { path, options } of requests) plugins.push(await loadPlugin({ path, options }));
  const names = plugins.map(({ plugin }) => plugin.name);
  for (const name of without) {
    if (names.includes(name)) continue;
    const meant = nearest(name, names);
    const hint = meant === null ? `There are ${listOf(names)}.` : `Did you mean ${meant}?`;
    throw new TeamError("usage", `--without-plugin: there is no plugin ${quoted(name)}`, hint);
  }
  return plugins.filter(({ plugin }) => !without.includes(plugin.name));
}
