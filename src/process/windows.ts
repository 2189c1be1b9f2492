/**
 * Ends a process and its children on Windows, where there are no groups and signals. Experimental: nothing of it is tested there
 * (reliability.md, "Stopping").
 * @param force false asks (windows are closed), true kills
 */
export function taskkill(pid: number, force: boolean): void {
  try {
    Bun.spawnSync(["taskkill", "/PID", String(pid), "/T", ...(force ? ["/F"] : [])], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      timeout: 5000,
    });
  } catch {
    // No taskkill, no other means.
  }
}
