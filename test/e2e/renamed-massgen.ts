import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * A MassGen of a later day, in which the class that mg-team's repair of the ballot looks for is called `Conductor`: the package of an
 * installed one by links, but for what names that class. `directory` goes onto PYTHONPATH, before the installed package.
 * @param massgen path of its launcher, `VENV/bin/massgen`
 */
export function renameOrchestrator(massgen: string, directory: string): void {
  const library = join(dirname(dirname(massgen)), "lib");
  const python = readdirSync(library).find((name) => name.startsWith("python3")) ?? "python3";
  const installed = join(library, python, "site-packages", "massgen");
  const renamed = join(directory, "massgen");
  mkdirSync(renamed, { recursive: true });
  for (const name of readdirSync(installed)) {
    const [from, to] = [join(installed, name), join(renamed, name)];
    // Python would write the bytecode of ours into theirs.
    if (name === "__pycache__") continue;
    if (namesTheClass(from)) {
      cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith("__pycache__") });
      for (const path of pythonFiles(to)) writeFileSync(path, readFileSync(path, "utf8").replace(theClass, "Conductor"));
    } else symlinkSync(from, to);
  }
}

// --- internal ---

const theClass = /\bOrchestrator\b/g;

/** Directories that MassGen's web server and its tests are in are left alone: steps do not import them. */
function namesTheClass(path: string): boolean {
  if (/\/(tests|frontend|configs)$/.test(path)) return false;
  return pythonFiles(path).some((file) => readFileSync(file, "utf8").search(theClass) !== -1);
}

function pythonFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return path.endsWith(".py") ? [path] : [];
  return readdirSync(path, { recursive: true, encoding: "utf8" }).flatMap((name) => (name.endsWith(".py") ? [join(path, name)] : []));
}
