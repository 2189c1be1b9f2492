import { expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ChildExit } from "../../src/process/child.ts";
import { temporaryDirectory } from "../support/temp.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

// Only root may make a namespace of processes.
const unshare = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const possible = Bun.spawnSync([...unshare, "true"], { stderr: "ignore", env: process.env }).exitCode === 0;

// Orphans: their parent ends first, so their new one is PID 1, our program, which does not reap what it did not start.
const orphans = `
import os
end, held = os.pipe()
if os.fork() == 0:
    for _ in range(1000):
        if os.fork() == 0:
            os.close(held)
            os.read(end, 1)
            os._exit(0)
    os._exit(0)
os.close(held)
os.wait()
`;

test.if(possible)(
  "as PID 1 without an init, with 1000 orphans that became zombies, children end as ever (fault 16)",
  async () => {
    await using temp = temporaryDirectory();
    const script = temp.write("orphans.py", orphans);
    const cookie = randomBytes(16).toString("hex");
    const program = `python3 '${script}'; until [ "$(cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z ')" -ge 1000 ]; do sleep 0.1; done; exit 7`;
    const launcher = [process.execPath, join(import.meta.dir, "launcher.ts"), temp.path, cookie, "1", program];
    const run = Bun.spawn([...unshare, ...launcher], { stdin: Buffer.from("\n"), stdout: "pipe", stderr: "inherit", env: process.env });
    const exit = JSON.parse((await new Response(run.stdout).text()).replace('"ready"\n', "")) as ChildExit;
    expect(exit).toMatchObject({ code: 7, signal: null, spawnError: null });
    expect(exit.warnings).toBeUndefined();
  },
  60_000,
);
