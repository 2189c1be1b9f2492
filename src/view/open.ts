import type { Clock } from "../clock.ts";
import type { OutputSettings } from "../config/settings.ts";
import type { RunState } from "../session/state.ts";
import { createLiveView } from "./live/view.ts";
import { createProgress, type Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

export interface ViewOptions {
  readonly state: RunState;
  readonly clock: Clock;
  readonly output: OutputSettings;
  /** The terminal that stderr is; null when it is none, or not to be drawn on. */
  readonly terminal: Terminal | null;
  /** Writes one line to stderr. */
  readonly write: (line: string) => void;
  /** Makes a line fit to be shown: without secrets and control characters. */
  readonly clean: (line: string) => string;
}

/** The live view where there is a terminal to draw on; else plain lines, and under `--quiet` only what others print. */
export function openView({ state, clock, output, terminal, write, clean }: ViewOptions): Progress {
  if (terminal) return createLiveView(state, clock, terminal, { color: output.color, clean });
  const progress = createProgress(state, clock, output.quiet ? () => {} : (line) => write(clean(line)), { verbose: output.verbose });
  return { ...progress, print: write };
}

/**
 * Whether a run is shown live: on a terminal of some size that we own, and that knows how to move its cursor. With `--verbose` the lines
 * are wanted, with `--quiet` nothing is, and events that are printed on the same terminal would tear the frame apart.
 */
export function wantsLiveView(
  { mode, quiet, verbose }: OutputSettings,
  environment: Readonly<Record<string, string | undefined>>,
  terminal: { readonly stderr: boolean; readonly stdout: boolean },
): boolean {
  const { TERM = "", CI = "" } = environment;
  const isCi = CI !== "" && CI !== "false" && CI !== "0";
  if (!terminal.stderr || TERM === "" || TERM === "dumb" || isCi) return false;
  return !quiet && !verbose && !(mode === "events" && terminal.stdout);
}
