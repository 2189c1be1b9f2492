import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ChildExit } from "../../src/process/child.ts";
import { livingWith } from "../process/support.ts";
import { temporaryDirectory, until } from "../support/temp.ts";
import { runTraced } from "./inject.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

const parse = (output: string) =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ChildExit);

const nothingLives = (cookie: string) => until(() => livingWith(cookie).length === 0, "the end of all children");

describe("a system that refuses another process (fault 13)", () => {
  test("at the k-th launch fails that one with EAGAIN and no other", async () => {
    for (const when of [1, 2, 4]) {
      await using temp = temporaryDirectory();
      const cookie = randomBytes(16).toString("hex");
      // Bun starts programs by vfork; a thread that it cannot start (clone3) would be the end of Bun itself.
      const inject = ["-e", "trace=vfork", "-e", `inject=vfork:error=EAGAIN:when=${when}`];
      const exits = parse(await runTraced(temp, "launcher.ts", [temp.path, cookie, "4"], inject));
      expect(exits.map(({ spawnError }) => spawnError?.code ?? null)).toEqual([1, 2, 3, 4].map((n) => (n === when ? "EAGAIN" : null)));
      expect(exits[when - 1]?.spawnError?.message).toContain("the system refuses another process");
      expect(exits.filter(({ code }) => code === 7).length).toBe(3);
      await nothingLives(cookie);
    }
  });

  test("in the shim is told from an end of the child, or does not matter", async () => {
    // The shim's first fork is its watcher, the second the child; later ones write the exit record.
    const cases = [
      [1, "refused"],
      [2, "refused"],
      [3, 7],
      [4, 7],
      [5, 7],
    ] as const;
    for (const [when, expected] of cases) {
      await using temp = temporaryDirectory();
      const cookie = randomBytes(16).toString("hex");
      const inject = ["-f", "-e", "trace=clone,fork", "-e", `inject=clone,fork:error=EAGAIN:when=${when}`];
      const [exit] = parse(await runTraced(temp, "launcher.ts", [temp.path, cookie, "1", "exit 7"], inject));
      if (expected === 7) expect(exit).toMatchObject({ code: 7, spawnError: null });
      else expect(exit).toMatchObject({ code: null, signal: null, spawnError: { code: "EAGAIN" } });
      await nothingLives(cookie);
    }
  });
});

test("too few descriptors fail some launches with EMFILE; the others run, and nothing leaks (fault 13)", async () => {
  await using temp = temporaryDirectory();
  const cookie = randomBytes(16).toString("hex");
  const command = `ulimit -n 60; exec "$@"`;
  const launcher = [process.execPath, join(import.meta.dir, "launcher.ts"), temp.path, cookie, "24", "sleep 0.5; exit 7"];
  const run = Bun.spawn(["sh", "-c", command, "sh", ...launcher], {
    stdin: Buffer.from("\n"),
    stdout: "pipe",
    stderr: "inherit",
    env: process.env,
  });
  const exits = parse((await new Response(run.stdout).text()).replace('"ready"\n', ""));
  expect(exits.length).toBe(24);
  const refused = exits.filter(({ spawnError }) => spawnError !== null);
  expect(refused.length).toBeGreaterThan(3);
  expect(refused.length).toBeLessThan(24);
  expect(new Set(refused.map(({ spawnError }) => spawnError?.code))).toEqual(new Set(["EMFILE"]));
  expect(exits.filter(({ code }) => code === 7).length).toBe(24 - refused.length);
  await nothingLives(cookie);
});
