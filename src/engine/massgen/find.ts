import { join } from "node:path";
import { isFile, isInside } from "../../config/paths.ts";
import { TeamError } from "../../errors.ts";
import { findOnPath, type MassgenCommand, type Places, parseCommand } from "./command.ts";
import { installHint } from "./install-hint.ts";

/** What decides where MassGen is looked for. */
export interface FindInput extends Places {
  /** Of --massgen, MG_TEAM_MASSGEN or mg-team.yaml, the strongest of them; null when none says anything. */
  readonly explicit: { readonly command: string; readonly source: string } | null;
  /** `plugin_dir` of environment.json, absolute; null when it names none. */
  readonly pluginDir: string | null;
  /** Whether the user trusts a script inside the project (absolute path). Asked only for those. */
  isTrusted(path: string): boolean;
}

export interface FoundCommands {
  /** In the order in which to try them; never empty. All but the first are for when the first does not work. */
  readonly commands: readonly MassgenCommand[];
  /** What was passed over, as sentences. */
  readonly notes: readonly string[];
}

/** Sources of commands that others must tell apart. */
export const wrapperSource = "plugin_dir of environment.json";
export const uvxSource = "uvx massgen";

/**
 * Looks for MassGen: an explicit command, else the wrapper of the plugin, `massgen` on PATH, `uvx massgen` (design.md, "Before any
 * money is spent"). Runs nothing. `uvx` may download two gigabytes, so it is there only where there is nothing else.
 * Throws a TeamError: `preflight` when there is none, or an explicit command lacks a part; `untrusted` for a wrapper in the project.
 */
export function findMassgen(input: FindInput): FoundCommands {
  if (input.explicit !== null) return { commands: [parseCommand(input.explicit.command, input.explicit.source, input)], notes: [] };
  const notes: string[] = [];
  const commands: MassgenCommand[] = [];
  const wrapper = input.pluginDir === null ? null : wrapperOf(input.pluginDir, input, notes);
  if (wrapper !== null) commands.push(wrapper);
  const massgen = findOnPath("massgen", input.env);
  if (massgen !== null) commands.push({ argv: [massgen], source: "massgen on PATH" });
  const uvx = commands.length === 0 ? findOnPath("uvx", input.env) : null;
  if (uvx !== null) commands.push({ argv: [uvx, "massgen"], source: uvxSource });
  if (commands.length > 0) return { commands, notes };
  const looked = `there is no massgen and no uvx on PATH${notes.map((note) => `, and ${note}`).join("")}`;
  throw new TeamError(
    "preflight",
    `MassGen was not found: ${looked}`,
    `${installHint(input.env)}\nIf it is elsewhere, say where: --massgen PATH`,
  );
}

// --- internal ---

function wrapperOf(pluginDir: string, input: FindInput, notes: string[]): MassgenCommand | null {
  const script = join(pluginDir, "scripts", "run-massgen.sh");
  if (!isFile(script)) {
    notes.push(`plugin_dir of environment.json has no scripts/run-massgen.sh (${script})`);
    return null;
  }
  if (isInside(script, input.projectDir) && !input.isTrusted(script)) {
    const hint = "Look at the file, then: mg-team trust. Or pass it by: --massgen massgen";
    throw new TeamError(
      "untrusted",
      `environment.json starts MassGen with a script of this project, ${script}, which you have not trusted`,
      hint,
    );
  }
  const bash = findOnPath("bash", input.env);
  if (bash !== null) return { argv: [bash, script], source: wrapperSource };
  notes.push("bash, which scripts/run-massgen.sh needs, is not on PATH");
  return null;
}
