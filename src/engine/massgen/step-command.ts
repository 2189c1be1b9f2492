import { TeamError } from "../../errors.ts";
import type { StepCommand, StepSpec } from "../engine.ts";
import type { MassgenInstall } from "./install.ts";
import { massgenEnvironment } from "./step-environment.ts";

/**
 * The command of a step (massgen.md, "Launching one step"): only options that this MassGen has. The query is the last argument, after
 * `--`, and reaches MassGen byte for byte.
 * @param env the caller's environment, keys included
 * @param more variables of the engine itself; those of the step win
 * @throws TeamError `config` when this MassGen cannot do what the step needs
 */
export function stepCommand(
  install: MassgenInstall,
  step: StepSpec,
  env: Readonly<Record<string, string | undefined>>,
  more: Readonly<Record<string, string>> = {},
): StepCommand {
  const has = (flag: string) => install.flags.has(flag);
  if (step.criteriaPath !== null && !has("--eval-criteria")) throw tooOld(install, "--eval-criteria", "leave out the criteria");
  if (!has("--no-parse-at-references") && namesReference(step.query)) {
    throw tooOld(install, "--no-parse-at-references", "write the query without words that begin with @, which it takes for files");
  }
  const optional = ["--stream-events", "--no-parse-at-references", "--no-session-registry"].filter(has);
  const { env: whole, added } = massgenEnvironment(env, install, { ...more, ...step.env });
  return {
    argv: [
      ...install.argv,
      "--step",
      "--session-dir",
      step.sessionDir,
      "--config",
      step.configPath,
      ...(step.criteriaPath === null ? [] : ["--eval-criteria", step.criteriaPath]),
      "--automation",
      ...optional,
      ...step.args,
      "--",
      step.query,
    ],
    cwd: step.runDir,
    env: whole,
    added,
  };
}

/**
 * Whether MassGen would take a word of the query for a file, where that cannot be switched off: `@types/node`, not `me@example.com`, not
 * `\@literal` (massgen 0.1.97, `path_handling/prompt_parser.py`).
 */
export function namesReference(query: string): boolean {
  const mails = [...query.matchAll(/\b[\w.-]+@[\w.-]+\.[a-zA-Z]{2,}\b/g)].map((mail) => [mail.index, mail.index + mail[0].length] as const);
  const references = query.matchAll(/(?<!\\)@(?:"[^"]+"|[^\s@:"]+?)(?::w)?(?=\s|$|[,;!?)}\]>:]|\.(?=\s|$))/g);
  return [...references].some(({ index }) => !mails.some(([start, end]) => start <= index && index < end));
}

// --- internal ---

function tooOld(install: MassgenInstall, flag: string, otherwise: string): TeamError {
  const hint = `Install a newer MassGen (pip install massgen==0.1.97), or ${otherwise}.`;
  return new TeamError("config", `this MassGen (${install.version}, ${install.source}) has no ${flag}`, hint);
}
