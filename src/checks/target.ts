import { posix } from "node:path";
import { oneLine } from "./check.ts";

/**
 * Whether a link of a file leads to something in the deliverable.
 * @param link as written, entities decoded; may be percent-encoded
 * @param from path of the file that holds it
 * @param loose true for links that a web server may complete: `about` for `about.html`
 * @returns what is wrong in one line, or null; also null for what only a server or the network can answer
 */
export function brokenLink(link: string, from: string, paths: ReadonlySet<string>, loose: boolean): string | null {
  const bare = link.trim().replace(/[?#].*$/s, "");
  if (bare === "" || isElsewhere(bare) || isTemplate(link)) return null;
  const targets = [...new Set([decoded(bare), bare])].map((path) => posix.join(posix.dirname(from), path));
  if (targets.some((target) => completions(target).some((path) => isThere(path, paths)))) return null;
  const [target = ""] = targets;
  const shown = oneLine(link.trim(), 100);
  if (target === ".." || target.startsWith("../")) return `${shown} leads out of the deliverable`;
  if (loose && !/\.[A-Za-z0-9]{1,10}$/.test(target)) return null;
  const other = differentCase(target, paths);
  return other === null ? `${shown} is not in the deliverable` : `${shown} differs in upper and lower case from ${oneLine(other, 100)}`;
}

// --- internal ---

/** Another scheme, another host, or a path from the root of a server that we do not know. */
function isElsewhere(link: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(link) || link.startsWith("/") || link.startsWith("\\");
}

/** Filled in by something else: Jinja, Vue, PHP, template literals. */
function isTemplate(link: string): boolean {
  return /\{\{|\{%|\$\{|<%|<\?|\{[A-Za-z_.]+\}|%[A-Z_]+%/.test(link);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a lone "%" means itself
  }
}

function completions(target: string): readonly string[] {
  const path = target.replace(/\/+$/, "");
  return [path, `${path}.html`, `${path}.md`];
}

function isThere(path: string, paths: ReadonlySet<string>): boolean {
  return path === "." || paths.has(path);
}

function differentCase(target: string, paths: ReadonlySet<string>): string | null {
  const wanted = target.toLowerCase();
  for (const path of paths) if (path.length === target.length && path.toLowerCase() === wanted) return path;
  return null;
}
