import { Console } from "node:console";

/**
 * From here on what plugins print with `console` or `process.stdout.write` goes to stderr: stdout carries the result only, and a program may
 * be reading it. The program's own output was bound to the stream before (see `createOutput`). Whoever writes to the descriptor itself
 * (`fs.writeSync(1, …)`) is not held back.
 */
export function keepStdoutClean(): void {
  const { stdout, stderr } = process;
  // All methods, whatever a later Bun adds: those that node knows print as usual, the others print nothing.
  const safe = new Console({ stdout: stderr, stderr });
  const onStderr: Methods = {
    ...methodsOf(safe),
    // Of Bun alone.
    write: (...parts) => void stderr.write(parts.join("")),
    // Bun 1.4.5 leaves out what is traced.
    trace: (...values) => safe.error(...values, new Error().stack?.replace(/^.*/, "")),
  };
  const global = console as unknown as Record<string, unknown>;
  for (const name of Object.keys(methodsOf(console))) if (name !== "Console") global[name] = onStderr[name] ?? (() => {});
  stdout.write = stderr.write.bind(stderr);
}

// --- internal ---

type Methods = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;

function methodsOf(holder: object): Methods {
  const entries = Object.entries(Object.getOwnPropertyDescriptors(holder)).map(([name, { value }]) => [name, value] as const);
  return Object.fromEntries(entries.filter(([, value]) => typeof value === "function"));
}
