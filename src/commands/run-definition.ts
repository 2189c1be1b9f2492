import { runOptions } from "../config/options.ts";
import type { Command } from "./command.ts";

/** Everything about `mg-team run` but what it does: `run.ts` spreads it into its command. */
export const runCommand: Omit<Command, "run"> = {
  name: "run",
  summary: "Ask several models; they answer, vote, and one answer wins",
  definition: {
    meta: {
      name: "run",
      description:
        "Asks several models the same question. Each answers or votes for another's answer, round after round, until more than half " +
        "agree or a limit is reached. The final answer goes to stdout, everything else to stderr.",
    },
    args: {
      query: { type: "positional", required: false, description: "The task, in quotes. The word run may be left out" },
      ...runOptions,
    },
  },
  help: {
    usage: "QUERY [with|using MODELS] [options]",
    examples: [
      'mg-team "Build a landing page"',
      'mg-team "Build a landing page" with codex, gemini, and grok',
      'mg-team "Review ./src" --models codex claude --context ./src',
      "mg-team --query-file task.md --timeout 1h --cost-budget 5",
    ],
    sections: [
      {
        title: "Short names",
        rows: [
          ["codex, gemini", "codex/gpt-5.4, gemini/gemini-3.1-pro-preview"],
          ["claude, grok", "claude/claude-opus-4-6, grok/grok-4.20-0309-reasoning"],
          ["BACKEND/MODEL", "any other model, such as openai/gpt-5-mini"],
        ],
      },
      {
        title: "Settings",
        rows: [
          ["mg-team.yaml", "holds the same settings: max_rounds: 5"],
          ["MG_TEAM_MAX_ROUNDS", "and the like: one variable for each option with one value"],
          ["Precedence", "option, then variable, then mg-team.yaml, then default"],
        ],
      },
      {
        title: "Exit codes",
        rows: [
          ["0", "an answer was delivered"],
          ["1", "a fault in mg-team"],
          ["2", "the command line is wrong"],
          ["3", "a check before the start failed, or the configuration is wrong"],
          ["4", "a plugin stopped the run; the best answer is still printed"],
          ["5", "there is no answer"],
          ["6", "no consensus, with --strict"],
          ["7", "the result could not be written, or the run is held by another"],
          ["130, 143, 129", "interrupted, terminated, hung up"],
        ],
      },
    ],
  },
  freeWords: true,
};
