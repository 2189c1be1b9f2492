import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { prepareBallotFix } from "../../../src/engine/massgen/ballot/fix.ts";
import { readBallotLine } from "../../../src/engine/massgen/ballot/line.ts";
import { temporaryDirectory } from "../../support/temp.ts";

test("the repair is a file of its owner, in a directory of its owner", async () => {
  await using temp = temporaryDirectory();
  const directory = temp.join("runs/ballot");
  await prepareBallotFix({ directory, env: {}, mode: "auto", need: "needed" });
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(`${directory}/sitecustomize.py`).mode & 0o777).toBe(0o600);
});

test("a PYTHONPATH of the user's own comes after the repair", async () => {
  await using temp = temporaryDirectory();
  const directory = temp.path;
  const place = (PYTHONPATH?: string) => prepareBallotFix({ directory, env: { PYTHONPATH }, mode: "on", need: "unknown" });
  expect((await place()).env).toEqual({ PYTHONPATH: directory });
  expect((await place("")).env).toEqual({ PYTHONPATH: directory });
  expect((await place("/a::/b")).env).toEqual({ PYTHONPATH: `${directory}:/a::/b` });
});

test("auto leaves a MassGen alone that is known to be healthy, on does not, off always does", async () => {
  await using temp = temporaryDirectory();
  const directory = temp.path;
  const state = async (mode: "auto" | "on" | "off", need: "needed" | "not_needed" | "unknown") =>
    (await prepareBallotFix({ directory, env: {}, mode, need })).state;
  expect([await state("auto", "needed"), await state("auto", "unknown"), await state("auto", "not_needed")]).toEqual(["on", "on", "off"]);
  expect([await state("on", "needed"), await state("on", "not_needed")]).toEqual(["on", "on"]);
  expect([await state("off", "needed"), await state("off", "unknown")]).toEqual(["off", "off"]);
});

test("off is a warning only where nobody asked for it", async () => {
  await using temp = temporaryDirectory("a:b");
  const fix = await prepareBallotFix({ directory: temp.path, env: {}, mode: "auto", need: "needed" });
  expect(fix).toEqual({ env: {}, state: "off", note: `PYTHONPATH cannot hold a path with a ":": ${temp.path}`, warn: true });
  expect(await prepareBallotFix({ directory: temp.path, env: {}, mode: "off", need: "needed" })).toMatchObject({ warn: false });
});

test("a directory that cannot be made is an error of writing that names it", async () => {
  await using temp = temporaryDirectory();
  const directory = `${temp.write("file", "")}/ballot`;
  const place = prepareBallotFix({ directory, env: {}, mode: "on", need: "needed" });
  expect(place).rejects.toMatchObject({ code: "write", message: expect.stringContaining(directory) });
});

test("only the repair's own line is a verdict", () => {
  expect(readBallotLine("mg-team ballot: applied")).toEqual({ verdict: "applied", detail: "" });
  expect(readBallotLine("mg-team ballot: ready\r")).toEqual({ verdict: "ready", detail: "" });
  expect(readBallotLine("mg-team ballot: not needed")).toEqual({ verdict: "not_needed", detail: "" });
  expect(readBallotLine("mg-team ballot: unexpected code: KeyError: 'a: b'")).toEqual({
    verdict: "unexpected",
    detail: "KeyError: 'a: b'",
  });
  for (const line of ["", "applied", " mg-team ballot: applied", "mg-team ballot: appliedly", "mg-team ballot: other", "mg-team ballot:"]) {
    expect(readBallotLine(line)).toBeNull();
  }
});
