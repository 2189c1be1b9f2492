import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { unifiedDiff } from "../../src/view/diff.ts";
import { temporaryDirectory } from "../support/temp.ts";

// git is started for every case.
setDefaultTimeout(60_000);

const anyLines = fc
  .array(fc.constantFrom("a", "b", "c", "", "a long line", "-x", "+y", "\\ z", "@@ -1 +1 @@"), { maxLength: 14 })
  .map((lines) => lines.map((line) => `${line}\n`).join(""));

test("git applies it to one text and gets the other, whatever the two are", async () => {
  await using temp = temporaryDirectory();
  fc.assert(
    fc.property(anyLines, anyLines, (from, to) => {
      const file = temp.write("text", from);
      const diff = unifiedDiff({ name: "text", text: from }, { name: "text", text: to }, null);
      if (diff === "") return expect(to).toBe(from);
      const { success, stderr } = Bun.spawnSync(["git", "apply", "-p0", "--whitespace=nowarn", "-"], {
        stdin: Buffer.from(diff),
        cwd: temp.path,
        stderr: "pipe",
      });
      expect([success, stderr.toString()]).toEqual([true, ""]);
      expect(readFileSync(file, "utf8")).toBe(to);
    }),
    { numRuns: 30 },
  );
});

test("of two long texts without anything in common it does not take long, and is still right", async () => {
  await using temp = temporaryDirectory();
  const text = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${(index * 7919) % 20_011}\n`).join("");
  const [from, to] = [text("old"), text("new")];
  const diff = unifiedDiff({ name: "text", text: from }, { name: "text", text: to }, null);
  const file = temp.write("text", from);
  expect(Bun.spawnSync(["git", "apply", "-p0", "-"], { stdin: Buffer.from(diff), cwd: temp.path }).success).toBe(true);
  expect(readFileSync(file, "utf8")).toBe(to);
});
