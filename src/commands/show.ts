import { isGiven, optionValue } from "../config/tokenise.ts";
import { ExitCode, TeamError } from "../errors.ts";
import { neutralise } from "../session/text.ts";
import { quoted } from "../text.ts";
import { unifiedDiff } from "../view/diff.ts";
import { findStatusTarget } from "../view/status/read.ts";
import { type AnswerName, openAnswers, parseAnswerName } from "./answers.ts";
import { hasColor } from "./appearance.ts";
import type { Command, CommandContext } from "./command.ts";

/** Prints the final answer of a run, any other answer, or what differs between two. */
export const command: Command = {
  name: "show",
  summary: "Print the final answer, any other, or what differs between two",
  definition: {
    meta: {
      name: "show",
      description:
        "Prints the final answer of a run, or with --agent any other answer, on stdout: as it is into files and pipes, with control characters " +
        "made visible on a terminal. With --diff it prints what differs between two answers.",
    },
    args: {
      id: { type: "positional", required: false, description: "A team id or a path; default: the newest run" },
      agent: {
        type: "string",
        alias: "a",
        valueHint: "AGENT",
        group: "What to show",
        allowed: "an agent of the run, or its model",
        example: "agent_b",
        description: "Its newest answer: agent_b, or b, or its model",
      },
      step: {
        type: "string",
        alias: "s",
        valueHint: "N",
        group: "What to show",
        allowed: "the number of a step, 1 or more",
        example: "2",
        description: "The answer of that step, with --agent",
      },
      diff: { type: "boolean", alias: "d", group: "What to show", description: "What differs between the two answers behind ID" },
    },
  },
  help: {
    usage: "[ID] [options]\n       mg-team show [ID] --diff ANSWER ANSWER",
    examples: [
      "mg-team show",
      "mg-team show team_20261129_181500 > answer.md",
      "mg-team show --agent agent_b --step 2",
      "mg-team show --diff agent_a agent_b",
      "mg-team show --diff agent_b:1 agent_b:3",
      "mg-team show --agent agent_b --diff 1 3",
    ],
    sections: [
      {
        title: "An ANSWER is one of",
        rows: [
          ["agent_b, b, gemini", "the agent's newest answer"],
          ["agent_b:2", "that of its step 2"],
          ["2", "that of step 2 of the agent of --agent"],
          ["final", "the final answer"],
        ],
      },
    ],
  },
  freeWords: true,
  async run(context) {
    const { options, cwd, stdout, log } = context;
    const request = readRequest(context);
    const answers = openAnswers(findStatusTarget(cwd, request.id));
    const terminal = stdout.isTerminal ? { color: hasColor(context, stdout) } : null;
    if (isGiven(options, "diff")) {
      const [from, to] = request.names.map((name) => answers.read(name));
      const diff = from && to ? unifiedDiff(from, to, terminal) : "";
      if (diff === "") log.info("the two answers are the same");
      stdout.write(diff);
      return ExitCode.ok;
    }
    const { text, files } = answers.read(request.names[0] ?? { agent: null, step: null });
    stdout.write(withNewline(terminal ? neutralise(text) : text));
    if (files !== null && stdout.isTerminal) log.info(`files: ${files}`);
    return ExitCode.ok;
  },
};

// --- internal ---

interface Request {
  readonly id: string | undefined;
  readonly names: readonly AnswerName[];
}

/** Sorts the words: an id, and with `--diff` two answers behind it. */
function readRequest({ options }: CommandContext): Request {
  const agent = optionValue(options, "agent") ?? null;
  const step = stepOf(optionValue(options, "step"));
  const words = options.words.map(({ text }) => text);
  if (step !== null && agent === null)
    throw usage("--step needs to know whose step it is", "For example: mg-team show --agent agent_b --step 2");
  if (!isGiven(options, "diff")) {
    const [id, extra] = words;
    if (extra === undefined) return { id, names: [{ agent, step }] };
    const hint = `To compare two answers: mg-team show --diff ${words.slice(-2).join(" ")}`;
    throw usage(`mg-team show takes one argument; ${quoted(extra)} is too much`, hint);
  }
  if (step !== null)
    throw usage("--step and --diff exclude each other", "Name the steps with the answers: mg-team show --diff agent_b:1 agent_b:2");
  if (words.length < 2 || words.length > 3) {
    throw usage(
      "--diff needs two answers",
      "For example: mg-team show --diff agent_a agent_b\nOf one agent: mg-team show --diff agent_b:1 agent_b:2",
    );
  }
  return { id: words.length === 3 ? words[0] : undefined, names: words.slice(-2).map((word) => parseAnswerName(word, agent)) };
}

function stepOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^0*[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw usage(`--step must be the number of a step, 1 or more, not ${quoted(text)}`, "For example: mg-team show --agent agent_b --step 2");
}

function usage(message: string, hint: string): TeamError {
  return new TeamError("usage", message, hint);
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
