import { describe, expect, test } from "bun:test";
import { argumentSpace, checkContext, checkCriteria, checkDisk, checkProject, diskCheck } from "../../src/preflight/places.ts";
import { createPlace } from "./support.ts";

describe("the project directory", () => {
  test("must be one, and writable down to where runs are kept", async () => {
    await using place = createPlace();
    expect(await checkProject(place.project)).toMatchObject({ status: "ok" });
    expect(await checkProject(place.temp.join("none"))).toMatchObject({ status: "fail" });
    expect(await checkProject(place.temp.write("file", ""))).toMatchObject({ status: "fail" });
    place.temp.write("project/.massgen-quality/sessions", "");
    expect((await checkProject(place.project)).message).toContain("is a file, where runs need a directory");
  });

  test("on a read-only file system is refused", async () => {
    expect(await checkProject("/proc/self")).toMatchObject({ status: "fail" });
  });
});

test("little free space warns, next to none fails", () => {
  expect(diskCheck(2 * 1024 ** 3)).toMatchObject({ status: "ok", message: "2048 MiB free" });
  expect(diskCheck(500 * 1024 ** 2)).toMatchObject({ status: "warn" });
  expect(diskCheck(49 * 1024 ** 2)).toMatchObject({ status: "fail", message: "only 49 MiB free" });
  expect(diskCheck(30 * 1024 ** 3).message).toBe("30 GiB free");
});

test("free space is that for users, and one that cannot be told is a warning", async () => {
  await using place = createPlace();
  expect((await checkDisk(place.project, async () => ({ bavail: 1000, bsize: 4096 }))).status).toBe("fail");
  expect((await checkDisk(place.temp.join("none"))).status).toBe("warn");
  expect((await checkDisk(place.project)).message).toContain("free");
});

describe("context paths", () => {
  test("that are all there are counted", async () => {
    await using place = createPlace();
    const checks = await checkContext([
      { path: place.project, permission: "write" },
      { path: place.temp.write("notes.md", ""), permission: "read" },
    ]);
    expect(checks).toMatchObject([{ status: "ok", message: "2 paths for the agents to read or write" }]);
    expect(await checkContext([])).toEqual([]);
  });

  test("that are missing, or may not be written, are named", async () => {
    await using place = createPlace();
    const checks = await checkContext([
      { path: place.temp.join("none"), permission: "read" },
      { path: "/proc/self", permission: "write" },
    ]);
    expect(checks.map(({ status }) => status)).toEqual(["fail", "fail"]);
    expect(checks[0]?.message).toContain("does not exist");
  });
});

test("criteria are counted, or refused with what is wrong", async () => {
  await using place = createPlace();
  expect(await checkCriteria(place.temp.write("c.json", '[{"text":"a"},{"text":"b"}]'))).toMatchObject({ status: "ok" });
  expect(await checkCriteria(place.temp.write("d.json", "[3]"))).toMatchObject({ status: "fail", code: "config" });
});

test("the space for arguments is known on this system", () => {
  expect(argumentSpace()).toBeGreaterThanOrEqual(128 * 1024);
  expect(argumentSpace("darwin")).toBe(1024 * 1024);
});
