import {
  differences,
  type EnvironmentFile,
  environmentPath,
  readEnvironment,
  renderEnvironment,
  type Surroundings,
  setAsideEnvironment,
  writeEnvironment,
} from "../config/environment.ts";
import { keyVariables, placeOf } from "../config/keys.ts";
import { TeamError } from "../errors.ts";
import { errorOf, ok, type PreflightCheck, warn } from "./check.ts";
import { askPrograms, checkDocker, type LookInput, lookAtFiles, surroundingsOf } from "./surroundings.ts";

export interface Initialised {
  readonly path: string;
  /** Whether the file is new or was brought up to date; false where it was left as it is. */
  readonly written: boolean;
  readonly found: Surroundings;
  readonly checks: readonly PreflightCheck[];
}

/**
 * Looks around and writes environment.json. One that exists is left alone, with what differs, unless `force`; then what is ours in it is
 * brought up to date and the rest kept, and one that is not JSON is set aside. Throws a TeamError: `config` for a broken file, `write`, that
 * of an explicit command that does not work, `untrusted` for a wrapper in the project.
 */
export async function initialise(input: LookInput, force: boolean): Promise<Initialised> {
  const { projectDir, home } = input;
  const aside: PreflightCheck[] = [];
  let before: EnvironmentFile | null = null;
  try {
    before = await readEnvironment(projectDir, home);
  } catch (error) {
    if (!force || !(error instanceof TeamError)) throw error;
    aside.push(warn("environment", `the old file was no use (${error.message}) and is now ${await setAsideEnvironment(projectDir)}`));
  }
  const files = await lookAtFiles(input);
  const programs = await askPrograms(input, before);
  const failure = errorOf(programs.massgen.checks);
  // Neither says anything about whether there is a MassGen.
  if (failure !== null && (input.command !== null || failure.code === "untrusted")) throw failure;
  const found = surroundingsOf(files, programs);
  const sources = Object.entries(files.keys.variables).map(([name, { source }]) => ok("keys", `${name} from ${placeOf(source)}`));
  const looked = [
    ...programs.massgen.checks,
    ...checkDocker(programs.docker),
    ...(sources.length > 0
      ? sources
      : [warn("keys", "none found", `Set two of them, such as OPENAI_API_KEY and GEMINI_API_KEY, in your shell or in ./.env`)]),
    ...files.checks,
  ];
  const written = before === null || force;
  if (written) await writeEnvironment(projectDir, renderEnvironment(found, keyVariables, before));
  const path = environmentPath(projectDir);
  const outcome = written
    ? [...aside, ok("environment", `${before === null ? "wrote" : "brought up to date:"} ${path}`)]
    : [...differing(before, found), ok("environment", `left as it is: ${path}`, "Bring it up to date: mg-team init --force")];
  return { path, written, found, checks: [...looked, ...outcome] };
}

// --- internal ---

function differing(file: EnvironmentFile | null, found: Surroundings): PreflightCheck[] {
  return file === null ? [] : differences(file, found).map(({ message }) => warn("environment", message));
}
