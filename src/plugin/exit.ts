/**
 * While plugins are at work `process.exit` throws: a plugin that ends the process would lose steps that are paid for. Nests.
 * @returns allows it again; idempotent
 */
export function refuseExit(): () => void {
  if (refusals++ === 0) process.exit = refuse;
  let released = false;
  return () => {
    if (released) return;
    released = true;
    if (--refusals === 0) process.exit = exit;
  };
}

// --- internal ---

const { exit } = process;
let refusals = 0;

function refuse(code?: number | string | null): never {
  throw new Error(`it called process.exit(${code ?? ""}); plugins end a run with team.stop(…)`);
}
