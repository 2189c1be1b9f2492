import { dirname, join } from "node:path";
import { isFile } from "../../config/paths.ts";
import { TeamError } from "../../errors.ts";
import { neutralise } from "../../session/text.ts";
import { shellWord } from "../../text.ts";
import type { Captured } from "../capture.ts";
import type { MassgenCommand } from "./command.ts";
import { installHint, workingMcp } from "./install-hint.ts";
import type { PythonHome } from "./python.ts";

/** Whether it died at import because `mcp` 2 is installed (massgen.md, "Installing it"). */
export function isBrokenMcp({ stdout, stderr }: Pick<Captured, "stdout" | "stderr">): boolean {
  return /cannot import name ['"]?streamablehttp_client/.test(stderr) || /cannot import name ['"]?streamablehttp_client/.test(stdout);
}

/** Why a MassGen that was asked for its `--help` cannot run steps, as a TeamError `preflight` with what to type next. Pure but for `isFile`. */
export function explainFailure(
  command: MassgenCommand,
  answer: Captured,
  python: PythonHome | null,
  env: Readonly<Record<string, string | undefined>>,
): TeamError {
  const { exit, timedOut } = answer;
  const shown = [...command.argv.map(shellWord), "--help"].join(" ");
  const fail = (problem: string, hint: string) => new TeamError("preflight", `MassGen (${command.source}) ${problem}`, hint);
  if (exit.spawnError !== null) return fail(`cannot be started: ${exit.spawnError.message}`, `Try it yourself: ${shown}`);
  if (isBrokenMcp(answer)) {
    return fail(
      "does not start: the installed `mcp` package is too new for it (cannot import name 'streamablehttp_client')",
      `Repair it: ${repairOf(python)}`,
    );
  }
  if (timedOut) return fail(`did not answer --help within ${Math.round(exit.seconds)} s`, `Try it yourself: ${shown}`);
  const last = lastLine(answer.stderr) || lastLine(answer.stdout);
  if (/No module named ['"]?massgen\b/.test(last)) return fail(`does not start: its Python has no massgen (${last})`, installHint(env));
  if (exit.code !== 0) {
    const how = exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
    return fail(`does not start (${how})${last === "" ? "" : `: ${last}`}`, `Try it yourself: ${shown}`);
  }
  const version = python?.version ? ` ${python.version}` : "";
  return fail(
    `has no step mode: version${version || " unknown"}, no --step in its --help`,
    `${installHint(env)}\nIf another program bears the name massgen, say where MassGen is: --massgen PATH`,
  );
}

// --- internal ---

/** The command that brings back a working `mcp`, in the environment that this MassGen lives in. */
function repairOf(python: PythonHome | null): string {
  if (python === null) return `pip install ${workingMcp} in the environment of MassGen`;
  const { interpreter, version } = python;
  if (/\/uv\/tools\/massgen\/|\/archive-v\d+\//.test(interpreter))
    return `uv tool install --force massgen${version ? `==${version}` : ""} --with ${workingMcp}`;
  if (/\/pipx\/venvs\/massgen\//.test(interpreter)) return `pipx runpip massgen install ${workingMcp}`;
  const pip = join(dirname(interpreter), "pip");
  return isFile(pip) ? `${shellWord(pip)} install ${workingMcp}` : `${shellWord(interpreter)} -m pip install ${workingMcp}`;
}

/** The last line that tells of an error, else the last line that says something; at most 300 characters. */
function lastLine(text: string): string {
  const lines = neutralise(text)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(-20);
  const line = lines.findLast((one) => /error|not found|denied|no such/i.test(one)) ?? lines.at(-1) ?? "";
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
