import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { untilGone } from "../support/temp.ts";
import { livingWith, testGround } from "./support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

describe("what a child leaves behind", () => {
  test("may finish within a second, and its lines are delivered (fault 1)", async () => {
    await using ground = testGround();
    const child = ground.sh("(sleep 0.2; echo from the grandchild) & echo done");
    expect(await child.exited).toMatchObject({ code: 0, stopCause: null });
    expect(child.lines.stdout).toEqual(["done", "from the grandchild"]);
  });

  test("is ended after a second when it keeps stdout open, even when it ignores TERM (fault 1)", async () => {
    await using ground = testGround();
    const child = ground.sh("(trap '' TERM; while :; do sleep 0.05; done) & echo done");
    await child.saw("done");
    const begin = performance.now();
    expect((await child.exited).code).toBe(0);
    expect(performance.now() - begin).toBeLessThan(2500); // one second and a slow machine
    expect(livingWith(ground.cookie)).toEqual([]);
  });

  test("is found outside its group and session, and orphaned (fault 3)", async () => {
    await using ground = testGround();
    const daemon = `setsid sh -c 'trap "" TERM HUP; (setsid sh -c "echo \\$\\$ >pid; exec sleep 60" &) ; while :; do sleep 0.05; done' >/dev/null 2>&1 </dev/null &
      while ! [ -s pid ]; do sleep 0.02; done; echo done`;
    const child = ground.sh(daemon);
    await child.saw("done");
    const pid = Number(readFileSync(ground.join("pid"), "utf8"));
    expect(livingWith(ground.cookie)).toContain(pid);
    expect((await child.exited).code).toBe(0);
    await untilGone([pid], 3);
    expect(livingWith(ground.cookie)).toEqual([]);
  });

  test("does not include other children of the same run", async () => {
    await using ground = testGround();
    const other = ground.sh("echo ready; sleep 60", { logDir: ground.join("other") });
    await other.saw("ready");
    await ground.sh("setsid sleep 60 & exit 0").exited;
    const left = livingWith(ground.cookie);
    expect(left).toContain(other.pid);
    await other.stop("done", { now: true });
  });

  test("is ended too when the child is stopped", async () => {
    await using ground = testGround();
    const child = ground.sh("setsid sh -c 'trap \"\" TERM; sleep 60' & (trap '' TERM; sleep 60) & echo ready; sleep 60");
    await child.saw("ready");
    await child.stop("now", { now: true });
    expect(livingWith(ground.cookie)).toEqual([]);
  });
});
