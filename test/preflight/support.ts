import { chmodSync } from "node:fs";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

/** A directory with a project, a home and a bin that is all of PATH but the system's own tools. */
export interface Place extends AsyncDisposable {
  readonly temp: TemporaryDirectory;
  readonly project: string;
  readonly home: string;
  readonly bin: string;
  /** HOME and PATH, nothing else. Edit before use. */
  readonly env: Record<string, string>;
  /** Writes an executable below the temporary directory (`bin/massgen`); returns its path. */
  program(name: string, text: string): string;
}

export function createPlace(name = ""): Place {
  const temp = temporaryDirectory(name);
  for (const directory of ["project", "home", "bin"]) temp.write(`${directory}/.keep`, "");
  const [project, home, bin] = [temp.join("project"), temp.join("home"), temp.join("bin")];
  return {
    temp,
    project,
    home,
    bin,
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: home },
    program(path, text) {
      const absolute = temp.write(path, text);
      chmodSync(absolute, 0o755);
      return absolute;
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

/** A shell script that answers `--help` as MassGen does, and counts its starts in `$0.starts`. */
export function helpScript(
  flags = "--step --session-dir --no-parse-at-references --stream-events --no-session-registry --quickstart --headless --config-backend --config-model --config-agent-id",
): string {
  return `#!/bin/sh\necho start >> "$0.starts"\necho "usage: massgen [-h] ${flags}"\n`;
}
