import { linkTarget } from "../../checks/markdown.ts";

/** Links from the report to files beside it. Pure. */

/**
 * A link to a file of the run, as seen from report.html; null for a path that leads elsewhere, or that no link can name.
 * @param path relative to the team directory, with `/` or the system's separator
 */
export function linkTo(path: string): string | null {
  const names = path.replaceAll("\\", "/").split("/");
  if (path === "" || names.some((name) => name === ".." || name === "") || path.includes("\ufffd") || /^[A-Za-z]:/.test(path)) return null;
  return linkTarget(names.join("/"));
}

/** The path of an agent's step directory (massgen.md, "What it leaves"), relative to the team directory. */
export function stepPath(agent: string, step: number): string {
  return `session/agents/${agent}/${String(step).padStart(3, "0")}`;
}
