import { systemClock } from "../clock.ts";
import { runOptions } from "../config/options.ts";
import { isGiven, optionValue } from "../config/tokenise.ts";
import { TeamError } from "../errors.ts";
import type { Command } from "./command.ts";

const [files, output] = ["Query and files", "Output"];

/** One step of one agent by the native engine, with the contract of MassGen's step mode (massgen.md). The engine starts it; people may too. */
export const command: Command = {
  name: "step",
  summary: "One native step of one agent; takes the place of massgen --step",
  definition: {
    meta: {
      name: "step",
      description:
        "Runs one agent until it answers or votes, and writes that into a session directory: the same files, lines and exit codes as " +
        "massgen --step, without MassGen. The agent can read and write files, but not run anything.",
    },
    args: {
      query: { type: "positional", required: false, description: "The task, in quotes" },
      "session-dir": {
        type: "string",
        valueHint: "DIR",
        group: files,
        allowed: "the path of a session directory",
        example: "./session",
        onlyHere: true,
        description: "Where the agents' answers and votes are; made when it is missing",
      },
      config: {
        type: "string",
        valueHint: "FILE",
        group: files,
        allowed: "the path of a config with one agent",
        example: "agent.yaml",
        onlyHere: true,
        description: "The agent: id, and backend with type and model, as MassGen has it",
      },
      "eval-criteria": runOptions["eval-criteria"],
      "stream-events": {
        type: "boolean",
        group: output,
        onlyHere: true,
        description: "Print one JSON event a line on stdout; the status lines go to stderr then",
      },
      automation: { type: "boolean", group: output, onlyHere: true, description: "Does nothing: it is always on" },
    },
  },
  help: {
    usage: "--session-dir DIR --config FILE QUERY",
    examples: ['mg-team step --session-dir ./session --config agent.yaml "What is 2+2?"'],
    sections: [
      {
        title: "Exit codes",
        rows: [
          ["0", "the agent answered or voted"],
          ["1", "the config, the criteria or the key is wrong"],
          ["2", "the agent brought no action; the last line on stderr says why"],
          ["3", "it ran out of time"],
          ["4", "it was interrupted, and nothing was written"],
        ],
      },
    ],
  },
  freeWords: true,
  async run({ options, environment, cwd, stdout, stderr, signals }) {
    const required = (name: string): string => {
      const value = optionValue(options, name);
      if (value !== undefined && value.trim() !== "") return value;
      throw new TeamError("usage", `mg-team step needs --${name}`, "mg-team step --help explains it.");
    };
    const [query, extra] = options.words;
    if (extra !== undefined)
      throw new TeamError("usage", "the task must be one word for the shell", 'Put it in quotes: mg-team step … "TASK"');
    const { runNativeStep } = await import("../native/step.ts");
    return runNativeStep({
      sessionDir: required("session-dir"),
      configPath: required("config"),
      criteriaPath: optionValue(options, "eval-criteria") ?? null,
      query: query?.text ?? "",
      streamEvents: isGiven(options, "stream-events"),
      cwd,
      env: environment,
      clock: systemClock,
      stdout: (text) => stdout.write(text),
      stderr: (text) => stderr.write(text),
      onStop: (callback) => signals.onSignal(({ name }) => callback(name)),
    });
  },
};
