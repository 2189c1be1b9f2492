import { isGiven } from "../config/tokenise.ts";
import type { CommandContext } from "./command.ts";
import type { Output } from "./io.ts";

/** Whether a command may use colour on an output: a terminal, and nobody said no (`--no-color`, NO_COLOR, a dumb terminal). */
export function hasColor({ options, environment }: Pick<CommandContext, "options" | "environment">, output: Output): boolean {
  if (!output.isTerminal || isGiven(options, "no-color") || environment.TERM === "dumb") return false;
  return (environment.NO_COLOR ?? "") === "" && !/^(1|true|yes|on)$/i.test(environment.MG_TEAM_NO_COLOR ?? "");
}

/** How wide lines may be: the terminal's width, or a usual one for files and pipes. */
export function widthOfOutput(output: Output): number {
  return output.isTerminal ? output.columns : pipeColumns;
}

// --- internal ---

const pipeColumns = 100;
