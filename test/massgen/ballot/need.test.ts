import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { prepareBallotFix } from "../../../src/engine/massgen/ballot/fix.ts";
import { needsBallotFix } from "../../../src/engine/massgen/ballot/need.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { massgen } from "./support.ts";

const limit = 120_000;

test.concurrent(
  "the released MassGen needs the repair, and asking leaves nothing in the home directory",
  async () => {
    await using temp = temporaryDirectory();
    expect(await needsBallotFix([massgen], { env: withHome(temp.path), home: temp.path })).toEqual({ need: "needed", why: "" });
    expect(Array.from(new Bun.Glob("**/*").scanSync({ cwd: temp.path, dot: true }))).toEqual([]);
  },
  limit,
);

test.concurrent(
  "a MassGen with a healthy ballot does not need it, however it came to be healthy",
  async () => {
    await using temp = temporaryDirectory();
    await prepareBallotFix({ directory: temp.join("made"), env: {}, mode: "on", need: "unknown" });
    const repair = readFileSync(temp.join("made/sitecustomize.py"), "utf8");
    temp.write("healthy/sitecustomize.py", `import sys\nsys.argv.append("--step")\n${repair}\nsys.argv.remove("--step")\n`);
    const env = { ...withHome(temp.path), PYTHONPATH: temp.join("healthy") };
    expect(await needsBallotFix([massgen], { env, home: temp.path })).toEqual({ need: "not_needed", why: "" });
  },
  limit,
);

test("behind a wrapper or uvx nobody knows, and nothing is started", async () => {
  await using temp = temporaryDirectory();
  const wrapper = temp.write("run-massgen.sh", `#!/bin/bash\ntouch "${temp.join("started")}"\n`);
  for (const argv of [["bash", wrapper], ["uvx", "massgen"], [wrapper]]) {
    const { need, why } = await needsBallotFix(argv, { env: process.env, home: temp.path });
    expect(need).toBe("unknown");
    expect(why).toContain(argv.join(" "));
  }
  expect(await Bun.file(temp.join("started")).exists()).toBe(false);
});

test("a Python without MassGen, or one that does not start, is unknown with the reason", async () => {
  const options = { env: process.env, home: "/nonexistent" };
  const without = await needsBallotFix(["/usr/bin/python3", "-m", "massgen"], options);
  expect(without).toEqual({ need: "unknown", why: "ModuleNotFoundError: No module named 'massgen'" });
  const missing = await needsBallotFix(["massgen"], { ...options, interpreter: "/nonexistent/python" });
  expect(missing).toEqual({ need: "unknown", why: "program not found: /nonexistent/python" });
});

test("a check that hangs ends at its limit", async () => {
  await using temp = temporaryDirectory();
  temp.write("massgen/__init__.py", "import time\ntime.sleep(60)\n");
  const env = { ...process.env, PYTHONPATH: temp.path };
  const check = await needsBallotFix([join("/usr/bin/python3")], { env, home: temp.path, limitSeconds: 0.5 });
  expect(check).toEqual({ need: "unknown", why: "/usr/bin/python3 did not end within 0.5 s" });
});

// --- internal ---

function withHome(home: string): Record<string, string | undefined> {
  return { ...process.env, HOME: home };
}
