import { homedir } from "node:os";
import { join } from "node:path";

/** Where test/massgen/install.sh puts the real MassGen. */
const venv = join(homedir(), ".cache/mg-team/massgen-0.1.97");

export const massgen = join(venv, "bin/massgen");
export const massgenPython = join(venv, "bin/python3");
