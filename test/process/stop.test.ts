import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readExitRecord } from "../../src/process/exit.ts";
import { groupMembers, signalProcess } from "../../src/process/processes.ts";
import { graceSeconds } from "../../src/process/supervise.ts";
import { until } from "../support/temp.ts";
import { livingWith, manualClock, testGround } from "./support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

const obedient = "trap 'echo term; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
const stubborn = "trap '' TERM; echo ready; while :; do sleep 0.05; done";

describe("stop", () => {
  test("asks first: what the child writes on TERM is delivered", async () => {
    await using ground = testGround();
    const child = ground.sh(obedient);
    await child.saw("ready");
    expect(await child.stop("limit")).toMatchObject({ code: 0, signal: null, stopCause: "limit" });
    expect(child.lines.stdout).toEqual(["ready", "term"]);
  });

  test("kills after the grace period, and no sooner (fault 2)", async () => {
    await using ground = testGround();
    const clock = manualClock();
    const child = ground.sh(stubborn, {}, clock);
    await child.saw("ready");
    const stopped = child.stop("limit");
    clock.advance(graceSeconds - 0.1);
    await Bun.sleep(100); // nothing to await: the point is that nothing happens
    expect(groupMembers(child.pid).length).toBeGreaterThan(1);
    clock.advance(0.2);
    expect(await stopped).toMatchObject({ code: null, signal: "SIGKILL", stopCause: "limit" });
    expect(readExitRecord(ground.path)).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(livingWith(ground.cookie)).toEqual([]);
  });

  test("waits for the same grace when the clock on the wall is turned by an hour (fault 18)", async () => {
    await using ground = testGround();
    for (const hour of [3600, -3600]) {
      const clock = manualClock();
      const child = ground.sh(stubborn, {}, clock);
      await child.saw("ready");
      const stopped = child.stop("limit");
      clock.stepDate(hour);
      await Bun.sleep(50);
      expect(groupMembers(child.pid).length).toBeGreaterThan(1);
      clock.advance(graceSeconds);
      expect((await stopped).signal).toBe("SIGKILL");
    }
  });

  test("keeps the first cause and is the same promise for all callers (fault 5)", async () => {
    await using ground = testGround();
    const child = ground.sh(obedient);
    await child.saw("ready");
    const exits = await Promise.all([child.stop("first"), child.stop("second"), child.stop("third", { now: true })]);
    expect(new Set(exits).size).toBe(1);
    expect(exits[0]?.stopCause).toBe("first");
    expect((await child.stop("late")).stopCause).toBe("first");
  });

  test("with now kills at once, also while a graceful stop is under way (fault 5)", async () => {
    await using ground = testGround();
    const child = ground.sh(stubborn, {}, manualClock()); // a clock that stands still: the grace period never ends
    await child.saw("ready");
    const stopped = child.stop("first");
    child.stop("second", { now: true });
    expect(await stopped).toMatchObject({ signal: "SIGKILL", stopCause: "first" });
  });

  test("after the end changes nothing: the child ended by itself", async () => {
    await using ground = testGround();
    const child = ground.sh("exit 0");
    await child.exited;
    expect(await child.stop("late", { now: true })).toMatchObject({ code: 0, stopCause: null });
  });

  test("right after the start works, in any moment of it", async () => {
    await using ground = testGround();
    for (let milliseconds = 0; milliseconds < 12; milliseconds += 2) {
      const child = ground.sh("sleep 60");
      await Bun.sleep(milliseconds);
      const exit = await child.stop("early");
      // A TERM that got lost would be followed by KILL.
      expect(exit).toMatchObject({ stopCause: "early", code: null, signal: "SIGTERM", spawnError: null });
      expect(livingWith(ground.cookie)).toEqual([]);
    }
  });

  test("ends a child that is stopped (SIGSTOP)", async () => {
    await using ground = testGround();
    const child = ground.sh(obedient);
    await child.saw("ready");
    signalProcess(-child.pid, "SIGSTOP");
    expect(await child.stop("limit")).toMatchObject({ code: 0, stopCause: "limit" });
  });

  test("ends a child that signals its own group, and its supervision survives that", async () => {
    await using ground = testGround();
    const child = ground.sh(
      "trap '' HUP INT TERM USR1; kill -HUP 0; kill -INT 0; kill -TERM 0; kill -USR1 0; sleep 0.1; echo alive; exit 4",
    );
    expect(await child.exited).toMatchObject({ code: 4, stopCause: null });
    expect(child.lines.stdout).toEqual(["alive"]);
  });
});

test("zombies do not count as alive (fault 16)", async () => {
  await using ground = testGround();
  // The child's children become zombies that nobody reaps for as long as the outer program runs.
  const python = `
import os, sys, time
for _ in range(50):
    if os.fork() == 0:
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
time.sleep(60)
`;
  const child = ground.start(["python3", "-c", python]);
  await child.saw("ready");
  const zombies = () =>
    Bun.spawnSync(["ps", "-o", "stat=", "-s", String(child.pid)])
      .stdout.toString()
      .match(/^Z/gm)?.length ?? 0;
  await until(() => zombies() === 50, "50 zombies");
  expect(groupMembers(child.pid).length).toBeLessThanOrEqual(3); // shim, watcher, python
  expect(await child.stop("test")).toMatchObject({ signal: "SIGTERM", stopCause: "test" });
});

test("a group of nothing but zombies is at its end", async () => {
  // setsid + fork: the parent (outside the group) never reaps, so the group consists of a zombie.
  const script = "import os,time\npid=os.fork()\nif pid==0:\n os.setsid(); os._exit(0)\nprint(pid,flush=True)\ntime.sleep(60)";
  await using ground = testGround();
  const child = ground.start(["python3", "-c", script]);
  await until(() => child.lines.stdout.length > 0, "the pid");
  const pid = Number(child.lines.stdout[0]);
  const state = () => Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)], { env: process.env }).stdout.toString();
  await until(() => state().startsWith("Z"), "the zombie");
  expect(groupMembers(pid)).toEqual([]);
  expect(() => process.kill(pid, 0)).not.toThrow();
  expect(() => process.kill(-pid, 0)).not.toThrow();
  await child.stop("test", { now: true });
});
