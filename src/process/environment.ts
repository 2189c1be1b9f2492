/** Where a child carries the cookie of its run; processes of dead runs are found by it. */
export const cookieVariable = "MG_TEAM_COOKIE";

/** Where everything that one child started carries that child's own mark. */
export const childVariable = "MG_TEAM_CHILD";

/**
 * The caller's environment as children get it: without what would change them behind our back, and with output that is not held back.
 * Never changes `env` itself. Note that `process.env.X = …` reaches no child of Bun by itself: give the result to `startChild`.
 */
export function childEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    // Shells drop names that are none of theirs (`ProgramFiles(x86)`); so that it does not depend on the shell, we do.
    const keep = process.platform === "win32" || /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
    if (value !== undefined && keep && !harmful.has(name)) result[name] = value;
  }
  result.PYTHONUNBUFFERED = "1"; // else Python keeps its status lines until it ends
  return result;
}

// --- internal ---

const harmful: ReadonlySet<string> = new Set([
  // Change how a Bun binary starts, and our own steps may be one (reliability.md, "Build flags").
  "BUN_OPTIONS",
  "BUN_BE_BUN",
  "BUN_INSPECT",
  "BUN_INSPECT_CONNECT_TO",
  "BUN_INSPECT_NOTIFY",
  // Block a nested Claude session or tie it to our caller's (massgen.md, "Launching one step").
  "CLAUDECODE",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_SSE_PORT",
  // Name a pipe that is open only in the process that they were made for.
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "NODE_UNIQUE_ID",
  // Of a run that we are a step of; ours are set at the start.
  cookieVariable,
  childVariable,
]);
