import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment } from "../../src/process/environment.ts";
import { readExitRecord } from "../../src/process/exit.ts";
import { until, untilExists, untilGone } from "../support/temp.ts";
import { type Ground, livingWith, testGround } from "./support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

const parents: Bun.Subprocess[] = [];
afterAll(() => parents.map((parent) => parent.kill("SIGKILL")));

/** Starts a small mg-team with one child for each script; resolves when all children are at work. */
async function startParent(ground: Ground, scripts: readonly string[], ...args: string[]) {
  const directories = scripts.map((_, at) => ground.join(`child${at}`));
  const specs = scripts.map((script, at) => {
    const logDir = directories[at] ?? "";
    mkdirSync(logDir);
    return { argv: ["sh", "-c", `echo >ready; ${script}`], cwd: logDir, logDir, env: childEnvironment(), cookie: ground.cookie };
  });
  const command = [process.execPath, join(import.meta.dir, "parent.ts"), JSON.stringify(specs), ...args];
  const parent = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "ignore", env: process.env });
  parents.push(parent);
  await Promise.all(directories.map((directory) => untilExists(join(directory, "ready"))));
  return { parent, directories };
}

const nothingLives = (ground: Ground) => until(() => livingWith(ground.cookie).length === 0, "the end of all children");

describe("when mg-team is gone, its children go (fault 6)", () => {
  const obedient = "trap 'exit 6' TERM; while :; do sleep 0.05; done";

  test("after kill -9, with their end kept", async () => {
    await using ground = testGround();
    const { parent, directories } = await startParent(ground, [obedient, obedient, "exec sleep 60"]);
    parent.kill("SIGKILL");
    await nothingLives(ground);
    expect(directories.map((directory) => readExitRecord(directory)?.code)).toEqual([6, 6, null]);
    expect(readExitRecord(directories[2] ?? "")?.signal).toBe("SIGTERM");
  });

  test("with strays that left the group and ignore TERM", async () => {
    await using ground = testGround();
    const { parent } = await startParent(ground, [
      "setsid sh -c 'trap \"\" TERM HUP; echo >stray; sleep 60' & while ! [ -e stray ]; do sleep 0.02; done; sleep 60",
    ]);
    await untilExists(ground.join("child0", "stray"));
    parent.kill("SIGKILL");
    await nothingLives(ground);
  });

  test("after process.exit and after an uncaught error, at once with killAllNow", async () => {
    for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
      await using ground = testGround();
      // One in the group without any mark, one with a mark outside the group.
      const script = "trap '' TERM; setsid sleep 60 & env -i sleep 60 & echo $! >pid; wait";
      const { parent, directories } = await startParent(ground, [script], "kill-at-exit");
      const file = join(directories[0] ?? "", "pid");
      await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"), "the pid");
      parent.kill(signal);
      await parent.exited;
      await untilGone([Number(readFileSync(file, "utf8")), ...livingWith(ground.cookie)], 3);
    }
  });

  test("and one that had ended unseen can be adopted", async () => {
    await using ground = testGround();
    const { parent, directories } = await startParent(ground, ["while ! [ -e go ]; do sleep 0.02; done; exit 0"]);
    parent.kill("SIGSTOP"); // sees nothing any more
    await Bun.write(join(directories[0] ?? "", "go"), "");
    await untilExists(join(directories[0] ?? "", "exit.json"));
    parent.kill("SIGKILL");
    await nothingLives(ground);
    expect(readExitRecord(directories[0] ?? "")).toMatchObject({ code: 0, signal: null });
  });

  test("but not while it only stands still (fault 18)", async () => {
    await using ground = testGround();
    const { parent, directories } = await startParent(ground, ["while ! [ -e go ]; do sleep 0.02; done; sleep 0.3; exit 9"]);
    parent.kill("SIGSTOP");
    await Bun.write(join(directories[0] ?? "", "go"), "");
    await untilExists(join(directories[0] ?? "", "exit.json"));
    parent.kill("SIGCONT");
    await parent.exited;
    expect(readExitRecord(directories[0] ?? "")).toMatchObject({ code: 9, signal: null });
  });
});
