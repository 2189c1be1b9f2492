import { expect } from "bun:test";
import { runOptions } from "../../src/config/options.ts";
import { type CommandLine, pickCommand, tokenise } from "../../src/config/tokenise.ts";
import { TeamError } from "../../src/errors.ts";

/** Commands that the tests assume; the registry's own are for test/cli. */
export const commandNames = ["run", "trust", "report", "status", "completion"];

/** What `mg-team ARGV…` means, as a run. */
export function lineOf(...argv: readonly string[]): CommandLine {
  return tokenise(pickCommand(argv, commandNames, runOptions), runOptions);
}

/** The TeamError that a call throws or rejects with; every one must say what to do next. */
export async function errorOf(call: () => unknown): Promise<TeamError> {
  let error: unknown;
  try {
    await call();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(TeamError);
  if (!(error instanceof TeamError)) throw error;
  expect(error.message).not.toBe("");
  expect(error.hint).not.toBe("");
  return error;
}
