import { oneLine } from "./fit.ts";

/**
 * What to print on a terminal so that it tells its owner that something has ended: a notification where the terminal is known to have
 * them, else the bell. Inside tmux and screen only the bell gets through.
 */
export function notification(message: string, environment: Readonly<Record<string, string | undefined>>): string {
  const text = oneLine(message).replaceAll(";", ",");
  const { TMUX = "", STY = "", TERM = "", TERM_PROGRAM = "" } = environment;
  if (TMUX === "" && STY === "" && !TERM.startsWith("screen")) {
    if (osc9.has(TERM_PROGRAM) || osc9.has(TERM)) return `\u001b]9;mg-team: ${text}\u0007`;
    if (osc777.has(TERM_PROGRAM) || osc777.has(TERM)) return `\u001b]777;notify;mg-team;${text}\u0007`;
  }
  return "\u0007";
}

// --- internal ---

// Terminals that show "OSC 9 ; text" as a notification, by TERM_PROGRAM or TERM. Windows Terminal does not: its OSC 9 is something else.
const osc9: ReadonlySet<string> = new Set(["iTerm.app", "WezTerm", "ghostty", "xterm-ghostty", "xterm-kitty"]);

// Those that know "OSC 777 ; notify ; title ; text".
const osc777: ReadonlySet<string> = new Set(["foot", "foot-extra"]);
