/** From here on what plugins print with `console` goes to stderr: stdout carries the result only, and a program may be reading it. */
export function keepStdoutClean(): void {
  for (const name of printing) console[name] = (...values: unknown[]) => console.error(...values);
}

// --- internal ---

const printing = ["log", "info", "debug", "dir", "dirxml", "table", "group", "groupCollapsed"] as const;
