import { force } from "../consensus.ts";
import { messageOf } from "../errors.ts";
import { deliberationOf } from "../session/state.ts";
import type { AgentId, Verdict } from "../types.ts";
import { currentAnswers } from "./api.ts";
import type { Run } from "./run.ts";

/** A verdict with the text of the answer that it is for. */
export interface Chosen {
  readonly verdict: Verdict;
  /** Null when there is no answer. */
  readonly answer: string | null;
  /** Absolute path of the files of that very answer; null without. */
  readonly workspace: string | null;
}

/**
 * Reads the winner's answer. Where that is gone or spoilt since it was submitted (only MassGen may write to the session, but anything could),
 * the others are still paid for: the forced rule chooses among them, and the verdict says so.
 */
export function readWinner(run: Run, decided: Verdict): Chosen {
  const gone = new Set<AgentId>();
  for (let verdict = decided; ; ) {
    const { winner, reason } = verdict;
    if (winner === null) return { verdict, answer: null, workspace: null };
    try {
      // Both at once: a step that a signal left running may answer before the files are copied.
      const { text = null, workspace = null } = currentAnswers(run).find(({ agent }) => agent === winner) ?? {};
      return { verdict, answer: text, workspace };
    } catch (error) {
      const message = messageOf(error);
      run.emit({ type: "preflight.warning", message });
      run.log.warn(message);
      gone.add(winner);
      verdict = force(without(run, gone), reason, `${winner} was chosen, but its answer cannot be read any more`);
    }
  }
}

// --- internal ---

function without({ state, settings }: Run, gone: ReadonlySet<AgentId>) {
  const { agents, current, ...rest } = deliberationOf(state, settings.limits.maxRounds, null);
  return {
    ...rest,
    agents: agents.map((agent) => (gone.has(agent.id) ? { ...agent, answers: [] } : agent)),
    current: Object.fromEntries(Object.entries(current).filter(([id]) => !gone.has(id))),
  };
}
