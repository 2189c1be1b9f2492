import { findOnPath } from "./command.ts";

/** The MassGen that this version of mg-team was tested with (massgen.md). */
export const testedVersion = "0.1.97";

/** The `mcp` that it works with: 2.x breaks it at import. Quoted for a shell. */
export const workingMcp = '"mcp<1.28"';

/** How to install MassGen so that it works, with the first installer that is here (massgen.md, "Installing it"). */
export function installHint(env: Readonly<Record<string, string | undefined>>): string {
  const recipe = recipes.find(({ program }) => findOnPath(program, env) !== null);
  return recipe === undefined ? `Install uv, or Python 3.11 or newer. Then: ${recipes[0]?.command}` : `Install MassGen: ${recipe.command}`;
}

// --- internal ---

/** In order of preference. To add an installer, add a line. */
const recipes: readonly { readonly program: string; readonly command: string }[] = [
  { program: "uv", command: `uv tool install massgen==${testedVersion} --with ${workingMcp}` },
  { program: "pipx", command: `pipx install massgen==${testedVersion} && pipx runpip massgen install ${workingMcp}` },
  {
    program: "python3",
    // One after the other: pip refuses the two together over an unrelated package.
    command: `python3 -m venv ~/.massgen/venv && ~/.massgen/venv/bin/pip install massgen==${testedVersion} && ~/.massgen/venv/bin/pip install ${workingMcp}; then: mg-team doctor --massgen ~/.massgen/venv/bin/massgen`,
  },
];
