import { expect, test } from "bun:test";
import { join } from "node:path";

test("nothing that a plugin prints gets into the result on stdout, and none of it is lost", () => {
  const child = Bun.spawnSync([process.execPath, join(import.meta.dir, "printing-program.ts")], { stdin: "ignore" });
  expect([child.exitCode, child.stdout.toString()]).toEqual([0, "result\n"]);
  const printed = [..."debug error log info warn dir dirxml table trace count timeLog timeEnd group groupCollapsed write".split(" ")];
  for (const name of [...printed, "detached", "imported", "stdout", "bytes", "called-back"]) {
    expect(child.stderr.toString()).toContain(`printed-${name}`);
  }
});
