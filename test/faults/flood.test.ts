import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { lineCapBytes } from "../../src/process/lines.ts";
import { defaultLogCapBytes } from "../../src/process/tail.ts";
import { testGround } from "../process/support.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

const mebibyte = 1 << 20;

/** The largest sizes that a log and this process had while a child ran, in bytes, and the longest time that the event loop stood still. */
async function watch(path: string, over: Promise<unknown>) {
  const most = { log: 0, memory: 0, stillMilliseconds: 0 };
  let running = true;
  over.finally(() => {
    running = false;
  });
  for (let last = performance.now(); running; last = performance.now()) {
    await Bun.sleep(5);
    most.log = Math.max(most.log, statSync(path).size);
    most.memory = Math.max(most.memory, process.memoryUsage.rss());
    most.stillMilliseconds = Math.max(most.stillMilliseconds, performance.now() - last - 5);
  }
  return most;
}

describe("too much output (fault 9)", () => {
  test("a line of 100 MB is cut at the cap, counted, and the lines around it arrive", async () => {
    await using ground = testGround();
    const child = ground.sh("echo before; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo after", { logCapBytes: 200 * mebibyte });
    expect((await child.exited).code).toBe(0);
    expect(child.lines.stdout.map((line) => line.slice(-20))).toEqual([
      "before",
      `… (${100_000_000 - lineCapBytes} bytes more)`.slice(-20),
      "after",
    ]);
    expect(child.lines.stdout[1]?.startsWith("x".repeat(lineCapBytes))).toBe(true);
  }, 60_000);

  const floods: [string, string][] = [
    ["of lines", "yes 'a line of the flood, as long as lines are: 0123456789 0123456789 0123456789'"],
    ["of empty lines", "yes ''"],
    ["without any line end", "tr '\\0' z </dev/zero"],
  ];
  for (const [title, source] of floods) {
    test(`a flood of 1 GB ${title} leaves a log below its cap, with its beginning and its end, and holds nothing up`, async () => {
      await using ground = testGround();
      const rss = process.memoryUsage.rss();
      let lines = 0;
      const ends: string[] = [];
      const onLine = (_stream: string, line: string) => {
        lines += 1;
        if (line.includes("STATUS")) ends.push(line);
      };
      const child = ground.sh(`echo STATUS begin; ${source} | head -c 1000000000; echo; echo STATUS end`, { onLine });
      const most = await watch(ground.join("stdout.log"), child.exited);
      expect((await child.exited).code).toBe(0);
      const log = readFileSync(ground.join("stdout.log"));
      console.log(
        `flood ${title}: log at most ${mb(most.log)}, at the end ${mb(log.length)}, memory +${mb(most.memory - rss)}, ` +
          `${lines} lines delivered, event loop still for at most ${Math.round(most.stillMilliseconds)} ms`,
      );
      expect(log.length).toBeLessThanOrEqual(defaultLogCapBytes);
      expect(log.toString("latin1", 0, 13)).toBe("STATUS begin\n");
      expect(log.toString("latin1", log.length - 12)).toBe("\nSTATUS end\n");
      expect(log.includes("[mg-team: about ")).toBe(true);
      expect(ends).toEqual(["STATUS begin", "STATUS end"]);
      // The disk never holds much more than the cap: what the child writes between two looks.
      expect(most.log).toBeLessThan(8 * defaultLogCapBytes);
    }, 120_000);
  }

  test("a flood that has to be killed ends as any other child", async () => {
    await using ground = testGround();
    const child = ground.sh("trap '' TERM; yes", { onLine: () => {} });
    await Bun.sleep(300); // let it flow
    expect(await child.stop("limit", { now: true })).toMatchObject({ signal: "SIGKILL", stopCause: "limit" });
  }, 30_000);
});

function mb(bytes: number): string {
  return `${Math.round(bytes / mebibyte)} MiB`;
}
