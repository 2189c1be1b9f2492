import { childEnvironment } from "../../process/environment.ts";
import type { StepCommand, StepSpec } from "../engine.ts";

/**
 * The command of a native step: mg-team itself. The query is the last argument, after `--`, byte for byte.
 * @param program how to start mg-team
 * @param env the caller's environment, keys included
 */
export function nativeStepCommand(
  program: readonly string[],
  step: StepSpec,
  env: Readonly<Record<string, string | undefined>>,
): StepCommand {
  const whole: Record<string, string> = { ...childEnvironment(env), ...step.env };
  // Whatever changes how Bun behaves: one of them prints requests with their keys.
  for (const name of Object.keys(whole)) if (name.startsWith("BUN_") && !(name in step.env)) delete whole[name];
  return {
    argv: [
      ...program,
      "step",
      "--session-dir",
      step.sessionDir,
      "--config",
      step.configPath,
      ...(step.criteriaPath === null ? [] : ["--eval-criteria", step.criteriaPath]),
      "--stream-events",
      ...step.args,
      "--",
      step.query,
    ],
    cwd: step.runDir,
    env: whole,
    added: Object.keys(whole).filter((name) => whole[name] !== env[name]),
  };
}
