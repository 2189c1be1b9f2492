import { chmodSync } from "node:fs";
import type { TestProject } from "../support/project.ts";

/**
 * Puts shell code around the steps of one agent: what the fake itself does not do. `$session` is the session directory, the working directory that
 * of the step.
 * @param code `after` runs once the step has ended; without it the step takes the place of the shell
 */
export function wrapSteps(project: TestProject, agent: string, code: { readonly before?: string; readonly after?: string }): void {
  const real = `'${project.env.PATH?.split(":")[0]}/massgen' "$@"`;
  const lines = [
    "#!/bin/sh",
    `case "$*" in *--step*${agent}_step.yaml*) ;; *) exec ${real} ;; esac`,
    'previous= session=; for word; do [ "$previous" = --session-dir ] && session=$word; previous=$word; done',
    code.before ?? "",
    ...(code.after === undefined ? [`exec ${real}`] : [real, "code=$?", code.after, "exit $code"]),
    "",
  ];
  chmodSync(project.temp.write("wrapped/massgen", lines.join("\n")), 0o755);
  project.env.PATH = `${project.temp.join("wrapped")}:${project.env.PATH}`;
}
