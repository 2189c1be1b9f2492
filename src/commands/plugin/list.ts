import { builtIns } from "../../../plugins/index.ts";
import type { PluginRequest } from "../../config/settings.ts";
import { type ResolvedConfig, readSources } from "../../config/sources.ts";
import { configSubject, type TrustState, type TrustSubject, trustHint, trustState } from "../../config/trust.ts";
import { messageOf, TeamError } from "../../errors.ts";
import type { HookName } from "../../plugin/hooks.ts";
import { sameName } from "../../plugin/host.ts";
import { loadPlugin } from "../../plugin/load.ts";
import { catchStrayErrors } from "../../plugin/stray.ts";
import type { CommandContext } from "../command.ts";
import { prepareForPlugins, requireNames } from "../load-plugins.ts";
import { hooksOf } from "./hooks-of.ts";

/** A plugin that a run here would load, and what would come of it; also its `--json` form. */
export interface ListedPlugin {
  /** Null when its file was not loaded, or is none. */
  readonly name: string | null;
  /** Built in, named in mg-team.yaml, or by `--plugin`. */
  readonly source: "built_in" | "file" | "flag";
  /** Absolute path; null for a built-in. */
  readonly file: string | null;
  readonly summary: string | null;
  /** What a built-in taps; null for all others, as only a run could tell. */
  readonly hooks: readonly HookName[] | null;
  /** Null where no consent is needed. */
  readonly trust: TrustState | null;
  readonly state: "ready" | "left_out" | "untrusted" | "broken";
  /** Why a run would be refused, and what to do about it; null when it would not. */
  readonly problem: { readonly message: string; readonly hint: string } | null;
}

export interface PluginList {
  /** In the order in which a run applies them. */
  readonly plugins: readonly ListedPlugin[];
  /** Absolute path of the configuration file; null without. */
  readonly config: string | null;
}

/**
 * What a run here would load. Runs the code of files that the user trusts, or names by `--plugin`, and of no others. Throws a TeamError as
 * `readSources` does, and `usage` for a name of `--without-plugin` that nothing has.
 */
export async function listPlugins({ options, environment, cwd, log }: CommandContext): Promise<PluginList> {
  const config = readSources(options, environment, cwd);
  const consent = consentTo(config, environment, cwd);
  const listed: ListedPlugin[] = [];
  for (const plugin of builtIns) {
    const facts = { source: "built_in", file: null, trust: null, state: "ready", problem: null } as const;
    listed.push({ name: plugin.name, summary: plugin.summary ?? null, hooks: await hooksOf(plugin), ...facts });
  }
  if (config.plugins.length > 0) prepareForPlugins();
  const released = catchStrayErrors((error) => log.warn(`a plugin leaves an error behind: ${messageOf(error)}`));
  for (const request of config.plugins) listed.push(await look(request, request.source === "file" ? consent : null));
  await released();
  const names = listed.flatMap(({ name }) => name ?? []);
  // A file that was not loaded may be of that name.
  if (names.length === listed.length) requireNames(config.withoutPlugins, names);
  return { plugins: settle(listed, config.withoutPlugins), config: config.file?.path ?? null };
}

// --- internal ---

interface Consent {
  readonly state: TrustState;
  readonly hint: string;
}

/** One consent covers all that a configuration file names. */
function consentTo({ file }: ResolvedConfig, environment: CommandContext["environment"], cwd: string): Consent | null {
  const subject: TrustSubject | null = file === null ? null : configSubject(file);
  return subject && { state: trustState(subject, environment), hint: trustHint(subject, cwd) };
}

async function look({ path, options, source }: PluginRequest, consent: Consent | null): Promise<ListedPlugin> {
  const facts = { name: null, source, file: path, summary: null, hooks: null, trust: consent?.state ?? null };
  if (consent && consent.state !== "trusted") {
    const message = consent.state === "changed" ? "has changed since you trusted it" : "is not trusted yet";
    return { ...facts, state: "untrusted", problem: { message, hint: consent.hint } };
  }
  try {
    const { plugin } = await loadPlugin({ path, options });
    const summary = typeof plugin.summary === "string" ? plugin.summary : null;
    return { ...facts, name: plugin.name, summary, state: "ready", problem: null };
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    return { ...facts, state: "broken", problem: { message: error.message, hint: error.hint } };
  }
}

/** What only all of them together show: who is left out, and who has another's name. */
function settle(listed: readonly ListedPlugin[], without: readonly string[]): ListedPlugin[] {
  const owners = new Map<string, ListedPlugin>();
  return listed.map((plugin) => {
    const { name, file } = plugin;
    if (name === null) return plugin;
    if (without.includes(name)) return { ...plugin, state: "left_out" };
    const other = owners.get(name);
    owners.set(name, other ?? plugin);
    if (!other) return plugin;
    const { message, hint } = sameName(name, other.file, file);
    return { ...plugin, state: "broken", problem: { message, hint } };
  });
}
