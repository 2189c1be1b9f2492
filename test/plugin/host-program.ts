import * as publicApi from "../../src/index.ts";
import { createHooks } from "../../src/plugin/hooks.ts";
import { createPluginHost } from "../../src/plugin/host.ts";
import { loadPlugin, serveHostModules } from "../../src/plugin/load.ts";
import { fakeTeam } from "../support/team.ts";

// A tiny program that loads and applies one plugin as mg-team does; run from source and compiled by modules.test.ts.
// Arguments: path of the plugin, its options as JSON or nothing. Prints what the plugin logs, then "ok", or the error.
const [path = "", options] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);
serveHostModules(publicApi);
const hooks = createHooks();
const host = createPluginHost(hooks, (error) => print(error.message));
try {
  const plugin = await loadPlugin({ path, options: options === undefined ? undefined : JSON.parse(options) });
  await host.apply([plugin], () => ({ ...fakeTeam({ hooks }), log: { info: print, warn: print } }));
  print("ok");
} catch (error) {
  print(String(error));
} finally {
  await host.close();
}
