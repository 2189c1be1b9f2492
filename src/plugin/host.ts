import { messageOf, TeamError } from "../errors.ts";
import { refuseExit } from "./exit.ts";
import { guardHooks, PluginError, type TapOwner } from "./guard.ts";
import type { TeamHooks } from "./hooks.ts";
import type { LoadedPlugin } from "./load.ts";
import type { Cleanup, Team } from "./plugin.ts";
import { catchStrayErrors } from "./stray.ts";
import { within } from "./within.ts";

/** Runs the plugins of one run: applies them in order, keeps their taps guarded, cleans up in reverse. */
export interface PluginHost {
  /** Applies each plugin. Throws a TeamError that names plugin and file; what was applied before is still cleaned up by `close`. */
  apply(plugins: readonly LoadedPlugin[], teamFor: (plugin: LoadedPlugin) => Team): Promise<void>;
  /** Runs every cleanup, last plugin first; errors are warnings. Idempotent. */
  close(): Promise<void>;
}

/** @param warn told of every failure that does not stop the run */
export function createPluginHost(hooks: TeamHooks, warn: (error: PluginError) => void): PluginHost {
  const owners = new Map<string, TapOwner>();
  const cleanups: { owner: TapOwner; cleanup: Cleanup }[] = [];
  let applying: TapOwner | null = null;
  guardHooks(hooks, (tapName) => applying ?? owners.get(tapName) ?? { name: tapName, file: null }, warn);
  const releaseExit = refuseExit();
  let releaseStray: (() => Promise<void>) | null = null;

  return {
    async apply(plugins, teamFor) {
      for (const loaded of plugins) {
        const { plugin, options, file } = loaded;
        const other = owners.get(plugin.name);
        if (other) throw sameName(plugin.name, other.file, file);
        // Built-ins alone have no stray errors: such an error is a bug then, and ends the program as one.
        if (file) releaseStray ??= catchStrayErrors((error) => warn(strayError(error, owners.values())));
        applying = { name: plugin.name, file };
        owners.set(plugin.name, applying);
        try {
          const cleanup = await within(limitSeconds, plugin.apply(teamFor(loaded), options));
          if (typeof cleanup === "function") cleanups.push({ owner: applying, cleanup });
        } catch (error) {
          const where = file ? ` (${file})` : "";
          const detail = error instanceof PluginError ? `${error.hook}: ${error.detail}` : messageOf(error);
          throw new TeamError("config", `plugin ${plugin.name}${where} failed to start: ${detail}`, "Fix it, or run without it.", {
            cause: error,
          });
        } finally {
          applying = null;
        }
      }
    },
    async close() {
      for (const { owner, cleanup } of cleanups.splice(0).reverse()) {
        try {
          await within(limitSeconds, cleanup());
        } catch (error) {
          warn(new PluginError(owner.name, "cleanup", messageOf(error), owner.file, { cause: error }));
        }
      }
      await releaseStray?.();
      releaseExit();
    },
  };
}

/** The error for two plugins of one name; `null` is a built-in one's file. */
export function sameName(name: string, one: string | null, other: string | null): TeamError {
  const both = `${whereFrom(one)} and ${whereFrom(other)}`;
  return new TeamError("config", `two plugins are named ${name}: ${both}`, "Rename yours; --without-plugin would leave out both.");
}

// --- internal ---

/** Seconds for a plugin's `apply` and for each cleanup. */
const limitSeconds = 30;

/** An error that no hook was told of belongs to the plugin whose file its stack names. */
function strayError(error: unknown, owners: Iterable<TapOwner>): PluginError {
  const stack = error instanceof Error ? `${error.stack}` : "";
  const owner = [...owners].find(({ file }) => file !== null && stack.includes(file));
  return new PluginError(owner?.name ?? "(unknown)", "background", messageOf(error), owner?.file ?? null, { cause: error });
}

function whereFrom(file: string | null): string {
  return file ?? "built in";
}
