// A small program that keeps its state as a run does, with the real code. Tests let system calls of it fail, or kill it in them.
// It says "ready", waits for a line on stdin, then says for each operation how it ended, by writev, which no test lets fail.
import { dlopen } from "bun:ffi";
import fs from "node:fs";
import { TeamError } from "../../src/errors.ts";
import { writeFileAtomic, writeFileAtomicSync } from "../../src/session/atomic.ts";
import { createTeamDirectory, type TeamDirectory } from "../../src/session/directory.ts";
import { type Journal, openJournal } from "../../src/session/journal.ts";
import { acquireLock, type Lock } from "../../src/session/lock.ts";

const [project = "", warmUp = ""] = process.argv.slice(2);
const say = (value: unknown) => fs.writevSync(1, [Buffer.from(`${JSON.stringify(value)}\n`)]);

allowTracing();
await work(warmUp, () => {}); // threads are started, files are loaded: what follows is ours
say("ready");
fs.readSync(0, Buffer.alloc(1));
await work(project, say);
process.kill(process.pid, "SIGKILL"); // no goodbye: what is acknowledged must be on disk

async function work(place: string, report: (value: unknown) => void): Promise<void> {
  let directory: TeamDirectory | null = null;
  let lock: Lock | null = null;
  let journal: Journal | null = null;
  const attempt = async (name: string, operation: () => void | Promise<void>) => {
    try {
      await operation();
      report({ name, ok: true });
    } catch (error) {
      const { message } = error as Error;
      report({ name, ok: false, expected: error instanceof TeamError, code: error instanceof TeamError ? error.code : "", message });
    }
  };
  const append = (name: string, durable: boolean) =>
    attempt(name, () => void journal?.append({ type: "preflight.warning", message: `${name} ${"x".repeat(500)}` }, { durable }));

  await attempt("directory", () => {
    directory = createTeamDirectory(place, new Date(2026, 10, 29));
  });
  const { root, journal: path, result } = directory ?? { root: place, journal: `${place}/events.jsonl`, result: `${place}/result.json` };
  await attempt("lock", () => {
    lock = acquireLock(root);
  });
  const open = () => {
    journal = openJournal(path, { elapsed: () => 1 });
  };
  await attempt("journal", open);
  if (journal === null) await attempt("journal again", open);
  await append("event 1", false);
  await append("event 2", true);
  await attempt("result old", () => writeFileAtomicSync(result, `old ${"o".repeat(5000)}`));
  await append("event 3", true);
  await attempt("result new", () => writeFileAtomic(result, `new ${"n".repeat(5000)}`));
  await append("event 4", false);
  await attempt("close", () => journal?.close());
  await attempt("free", () => lock?.close());
}

// Yama lets only ancestors trace; here everybody may.
function allowTracing(): void {
  try {
    dlopen("libc.so.6", { prctl: { args: ["int", "u64"], returns: "int" } }).symbols.prctl(0x59616d61, 0xffffffffffffffffn);
  } catch {
    // Another libc: root may trace all the same.
  }
}
