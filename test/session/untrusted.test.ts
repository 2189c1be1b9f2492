import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { isRealDirectory } from "../../src/session/untrusted.ts";
import { temporaryDirectory } from "../support/temp.ts";

test("what cannot be looked at is no directory, and no error", async () => {
  await using temp = temporaryDirectory();
  symlinkSync("circle", temp.join("circle"));
  for (const path of ["circle", "circle/x", "missing/x", `${"x".repeat(300)}/y`]) expect(isRealDirectory(temp.join(path))).toBe(false);
  expect(isRealDirectory(temp.path)).toBe(true);
});
