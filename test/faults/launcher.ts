// A small program that starts children with the real code, all at once, and says how each ended. See inject.ts for "ready".
import { dlopen } from "bun:ffi";
import fs from "node:fs";
import { join } from "node:path";
import { startChild } from "../../src/process/child.ts";
import { childEnvironment } from "../../src/process/environment.ts";

const [directory = "", cookie = "", count = "1", script = "exit 7"] = process.argv.slice(2);
try {
  dlopen("libc.so.6", { prctl: { args: ["int", "u64"], returns: "int" } }).symbols.prctl(0x59616d61, 0xffffffffffffffffn);
} catch {
  // See writer.ts.
}
fs.writevSync(1, [Buffer.from('"ready"\n')]);
fs.readSync(0, Buffer.alloc(1));
const children = Array.from({ length: Number(count) }, (_, at) => {
  const logDir = join(directory, String(at));
  fs.mkdirSync(logDir, { recursive: true });
  return startChild({ argv: ["sh", "-c", script], cwd: logDir, env: childEnvironment(), logDir, cookie });
});
for (const child of children) fs.writevSync(1, [Buffer.from(`${JSON.stringify(await child.exited)}\n`)]);
