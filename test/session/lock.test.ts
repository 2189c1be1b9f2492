import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { TeamError } from "../../src/errors.ts";
import { acquireLock, isLocked, readHolder, whileUnlocked } from "../../src/session/lock.ts";
import { temporaryDirectory } from "../support/temp.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

const lockModule = join(import.meta.dir, "../../src/session/lock.ts");

const holders: Bun.Subprocess[] = [];
afterAll(() => holders.map((child) => child.kill("SIGKILL")));

/** Another process that takes the lock of a directory and keeps it. */
async function holder(directory: string) {
  const code = `import { acquireLock } from ${JSON.stringify(lockModule)}; acquireLock(${JSON.stringify(directory)}); Bun.gc(true); console.log("held"); setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", code], { stdin: "ignore", stdout: "pipe", stderr: "inherit", env: process.env });
  holders.push(child);
  await child.stdout.getReader().read();
  return child;
}

describe("the lock of a run", () => {
  test("keeps others out, in this process and in another, and names who holds it (fault 19)", async () => {
    await using temp = temporaryDirectory("team_20261129_181500");
    await using lock = acquireLock(temp.path);
    expect(() => acquireLock(temp.path)).toThrow(
      new RegExp(`^process ${process.pid}, started \\d{4}-\\d\\d-\\d\\d .* is working on team_20261129_181500$`),
    );
    expect(readHolder(temp.path)?.pid).toBe(process.pid);
    expect(isLocked(temp.path)).toBe(true);
    const code = `import { acquireLock } from ${JSON.stringify(lockModule)}; try { acquireLock(${JSON.stringify(temp.path)}) } catch (error) { console.log(error.code, error.exitCode, error.hint) }`;
    const other = Bun.spawnSync([process.execPath, "-e", code], { env: process.env });
    expect(other.stdout.toString().trim()).toBe("locked 7 Wait until it ends, or watch it: mg-team status team_20261129_181500");
    lock.close();
  });

  test.skipIf(process.getuid?.() === 0)("is not kept from us by what a step made unreadable in its working directory", async () => {
    await using temp = temporaryDirectory();
    const kept = temp.write("runs/agent_a/r1/kept/.launch.json.0123456789ab.tmp", "");
    const locked = dirname(kept);
    chmodSync(locked, 0);
    try {
      acquireLock(temp.path).close();
    } finally {
      chmodSync(locked, 0o700);
    }
  });

  test("is free after close, close may be called twice, and no holder is named any more", async () => {
    await using temp = temporaryDirectory();
    const lock = acquireLock(temp.path);
    lock.close();
    lock.close();
    expect(isLocked(temp.path)).toBe(false);
    expect(readHolder(temp.path)).toBeNull();
    acquireLock(temp.path).close();
  });

  test("is free after kill -9, and the holder that crashed is still named", async () => {
    await using temp = temporaryDirectory();
    const child = await holder(temp.path);
    expect(isLocked(temp.path)).toBe(true);
    expect(readHolder(temp.path)?.pid).toBe(child.pid);
    child.kill("SIGKILL");
    await child.exited;
    expect(isLocked(temp.path)).toBe(false);
    expect(readHolder(temp.path)?.pid).toBe(child.pid);
    await using lock = acquireLock(temp.path);
    expect(readHolder(temp.path)?.pid).toBe(process.pid);
    lock.close();
  });

  test("is not held by a child of its holder", async () => {
    await using temp = temporaryDirectory();
    const lock = acquireLock(temp.path);
    const child = Bun.spawn(["sleep", "60"], { stdio: ["ignore", "ignore", "ignore"] });
    lock.close();
    expect(isLocked(temp.path)).toBe(false);
    child.kill("SIGKILL");
    await child.exited;
  });

  test("survives somebody who only asks", async () => {
    await using temp = temporaryDirectory();
    await using lock = acquireLock(temp.path);
    for (let n = 0; n < 3; n++) expect(isLocked(temp.path)).toBe(true);
    const asks = `import { isLocked } from ${JSON.stringify(lockModule)}; console.log(isLocked(${JSON.stringify(temp.path)}))`;
    for (let n = 0; n < 2; n++)
      expect(Bun.spawnSync([process.execPath, "-e", asks], { env: process.env }).stdout.toString()).toBe("true\n");
    lock.close();
  });

  test("is no link: whose file it leads to stays as it is", async () => {
    await using temp = temporaryDirectory("team_1");
    const other = temp.write("../other", "theirs");
    chmodSync(other, 0o644);
    symlinkSync(other, temp.join(".lock"));
    expect(() => acquireLock(temp.path)).toThrow(".lock is a link; remove it");
    expect([statSync(other).mode & 0o777, readFileSync(other, "utf8")]).toEqual([0o644, "theirs"]);
  });

  test("clears away what killed writers left", async () => {
    await using temp = temporaryDirectory();
    temp.write(".result.json.0123456789ab.tmp", "half");
    temp.write("synthesis/.final_answer.md.0123456789ab.tmp", "half");
    await using lock = acquireLock(temp.path);
    expect(readdirSync(temp.path).sort()).toEqual([".holder.json", ".lock", "synthesis"]);
    expect(readdirSync(temp.join("synthesis"))).toEqual([]);
    lock.close();
  });

  test("cannot be taken where nothing can be written: that is said, not that it is held", async () => {
    await using temp = temporaryDirectory();
    const error = (() => {
      try {
        acquireLock(temp.join("gone"));
      } catch (reason) {
        return reason;
      }
    })();
    expect(error).toBeInstanceOf(TeamError);
    expect(error).toMatchObject({ code: "write" });
    expect(isLocked(temp.join("gone"))).toBe(false);
    expect(existsSync(temp.join("gone"))).toBe(false);
  });
});

describe("work on a run that nobody works on", () => {
  test("keeps others out while it lasts, also when it fails", async () => {
    await using temp = temporaryDirectory();
    expect(await whileUnlocked(temp.path, async () => expect(isLocked(temp.path)).toBe(true))).toBe(true);
    await expect(whileUnlocked(temp.path, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(isLocked(temp.path)).toBe(false);
  });

  test("is not done when somebody works on it", async () => {
    await using temp = temporaryDirectory();
    await using lock = acquireLock(temp.path);
    let done = false;
    expect(
      await whileUnlocked(temp.path, async () => {
        done = true;
      }),
    ).toBe(false);
    expect(done).toBe(false);
    lock.close();
  });
});
