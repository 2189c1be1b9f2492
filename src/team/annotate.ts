import { PluginError } from "../plugin/guard.ts";
import type { Action } from "../types.ts";
import type { Run } from "./run.ts";

/**
 * `onAction`: plugins see a copy; only their notes are kept, so that no plugin can change what an agent did. A signal ends it at once: the
 * action counts, with the notes that it has by then.
 */
export async function annotate(run: Run, action: Action): Promise<void> {
  if (run.stopper.interrupted) return;
  try {
    const copy = structuredClone(action);
    const annotated = run.hooks.onAction.promise(copy).then((answer) => answer ?? copy);
    const answer = await Promise.race([annotated, run.stopper.whenInterrupted.then(() => null)]);
    if (answer === null)
      run.pluginWarned(new PluginError("(unknown)", "onAction", "it did not finish before the signal", null), "onAction");
    const { notes } = answer ?? copy;
    if (Array.isArray(notes)) action.notes = shortened(notes.map((note) => run.redact(String(note))));
  } catch (error) {
    run.pluginFailed(error, "onAction");
  }
}

// --- internal ---

/** They share one line of the journal with the action, which is worth more. */
const mostNotes = 50;
const mostCharacters = 2000;

function shortened(notes: readonly string[]): string[] {
  const kept: string[] = [];
  let room = mostCharacters;
  for (const note of notes) {
    if (kept.length === mostNotes || room === 0) break;
    kept.push(note.length > room ? `${note.slice(0, room).toWellFormed()}…` : note);
    room -= Math.min(room, note.length);
  }
  const lost = notes.length - kept.length;
  return lost > 0 ? [...kept, `… (${lost} more)`] : kept;
}
