import { createOutput } from "../../src/commands/io.ts";
import { keepStdoutClean } from "../../src/plugin/console.ts";

// Prints "result" as the program does, and in every way that a plugin has around it.

const output = createOutput(process.stdout);
keepStdoutClean();
output.write("re");
const methods = console as unknown as Record<string, (...values: unknown[]) => unknown>;
for (const name of Object.getOwnPropertyNames(console)) {
  // It writes a file, and Console is a class.
  if (typeof methods[name] !== "function" || ["takeHeapSnapshot", "Console"].includes(name)) continue;
  try {
    methods[name]?.call(console, name === "assert" ? false : name === "table" ? [{ column: `printed-${name}` }] : `printed-${name}`);
    // Some say what they know only of something that was counted or timed.
    methods[name]?.call(console);
  } catch {
    // Not every method takes what it is given here.
  }
}
const { log } = console;
log("printed-detached");
(await import("node:console")).default.log("printed-imported");
process.stdout.write("printed-stdout\n");
process.stdout.write(new TextEncoder().encode("printed-bytes\n"));
await new Promise<void>((resolve) => process.stdout.write("printed-called-back\n", () => resolve()));
output.write("sult\n");
await output.flush();
