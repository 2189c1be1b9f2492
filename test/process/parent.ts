// A small mg-team: starts the children of its first argument (a list of specs as JSON), says so, and waits. Tests kill it.
import { type ChildSpec, killAllNow, startChild } from "../../src/process/child.ts";

const [specs = "[]", atExit] = process.argv.slice(2);
if (atExit === "kill-at-exit") process.on("exit", killAllNow);
// Bun prints an uncaught error and waits for what is pending; only a handler ends the process (seen with 1.4.5).
process.on("uncaughtException", () => process.exit(1));
process.on("SIGUSR1", () => process.exit(0));
process.on("SIGUSR2", () => {
  throw new Error("a bug");
});
const children = (JSON.parse(specs) as ChildSpec[]).map((spec) => startChild(spec));
console.log(JSON.stringify(children.map((child) => child.pid)));
for (const child of children) console.log(JSON.stringify(await child.exited));
