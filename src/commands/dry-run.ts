import { join } from "node:path";
import type { RunSettings } from "../config/settings.ts";
import type { Environment } from "../config/trust-store.ts";
import type { Engine, StepSpec } from "../engine/engine.ts";
import type { TeamDirectory } from "../session/directory.ts";
import { formatDuration, formatMoney, plural, shellWord } from "../text.ts";
import { version } from "./version.ts";

/** What a run would do, for `--dry-run`; also its `--json` form. */
export interface DryRun {
  readonly version: 1;
  readonly dry_run: true;
  readonly mg_team: string;
  readonly engine: { readonly name: string; readonly version: string; readonly ballot_fix: string };
  readonly session_dir: string;
  readonly docker: boolean;
  readonly synthesis: "agent" | "markdown";
  /** The first step of each agent. */
  readonly steps: readonly {
    readonly agent: string;
    readonly model: string;
    readonly command: readonly string[];
    readonly cwd: string;
    /** Names only: values may be secrets. */
    readonly added_variables: readonly string[];
  }[];
  readonly at_most: { readonly steps: number; readonly seconds: number; readonly usd: number | null };
  readonly warnings: readonly string[];
}

/**
 * Describes the first round of a run without starting or writing anything.
 * @param environment the caller's own, without keys from files: what steps get beside it is what mg-team adds
 */
export function describeDryRun(
  settings: RunSettings,
  engine: Engine,
  directory: TeamDirectory,
  environment: Environment,
  more: { readonly docker: boolean; readonly warnings: readonly string[] },
): DryRun {
  const { agents, limits, synthesis } = settings;
  const steps = agents.map((agent) => {
    const spec: StepSpec = {
      agent,
      query: settings.query,
      sessionDir: directory.session,
      configPath: join(directory.configs, `${agent.id}_step.yaml`),
      criteriaPath: settings.criteriaPath,
      runDir: directory.runDir(agent.id, 1),
      args: [],
      env: {},
      timeoutSeconds: limits.stepTimeoutSeconds,
    };
    const { argv, cwd, env } = engine.command(spec);
    const added = Object.keys(env).filter((name) => env[name] !== environment[name]);
    return { agent: agent.id, model: agent.model, command: argv, cwd, added_variables: added };
  });
  const inRounds = agents.length * limits.maxRounds * (1 + limits.retries);
  return {
    version: 1,
    dry_run: true,
    mg_team: version,
    engine: engine.info,
    session_dir: directory.root,
    ...more,
    synthesis,
    steps,
    at_most: { steps: inRounds + (synthesis === "agent" ? 1 : 0), seconds: limits.timeoutSeconds, usd: limits.costBudget },
  };
}

/** The same for people. */
export function formatDryRun(dry: DryRun, { maxRounds, retries }: RunSettings["limits"]): string {
  const { engine, at_most: most } = dry;
  const lines = [
    "Nothing was started, and nothing was spent. A run would do this:",
    "",
    `engine      ${engine.name} ${engine.version}, ballot repair ${engine.ballot_fix}, ${codePlace(dry)}`,
    `files       ${dry.session_dir}`,
    `at most     ${plural(most.steps, "step")} (${plural(dry.steps.length, "agent")} × ${plural(maxRounds, "round")}${retries > 0 ? `, each with up to ${plural(retries, "retry", "retries")}` : ""}${dry.synthesis === "agent" ? ", and one for the synthesis" : ""})`,
    `            ${most.seconds} s (${formatDuration(most.seconds)}), ${most.usd === null ? "no limit on money" : formatMoney(most.usd)}`,
  ];
  for (const { agent, model, command, cwd, added_variables: added } of dry.steps) {
    lines.push("", `${agent}     ${model}`, `  command   ${command.map(shellWord).join(" ")}`, `  directory ${cwd}`);
    lines.push(`  adds      ${added.length === 0 ? "no variables" : added.join(" ")}`);
  }
  return `${lines.join("\n")}\n`;
}

// --- internal ---

function codePlace({ engine, docker }: DryRun): string {
  if (engine.name === "native") return "the agents run no code";
  return `the agents' code runs ${docker ? "in docker" : "locally"}`;
}
