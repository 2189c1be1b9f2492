import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TeamError } from "../../src/errors.ts";
import { writeFileAtomic, writeFileAtomicSync } from "../../src/session/atomic.ts";
import { createTeamDirectory } from "../../src/session/directory.ts";
import { openJournal, readJournal } from "../../src/session/journal.ts";
import { acquireLock } from "../../src/session/lock.ts";
import { testGround } from "../process/support.ts";
import { temporaryDirectory } from "../support/temp.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

// A small disk of our own. Only root may mount one; limits of file sizes (below) are for everybody.
const disk = mkdtempSync(join(tmpdir(), "mg-team-disk-"));
const mounted =
  Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk], { stderr: "ignore", env: process.env }).exitCode === 0;
afterAll(() => {
  if (mounted) Bun.spawnSync(["umount", "-l", disk], { env: process.env });
  rmSync(disk, { recursive: true, force: true });
});

/** Fills the disk to the last byte. */
function fill(): void {
  for (let size = 1 << 20, at = 0; size >= 1; size >>= 1, at++) {
    try {
      for (;;) writeFileSync(join(disk, `filler${at}`), Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full for this size.
    }
  }
}

function free(): void {
  for (const name of readdirSync(disk)) if (name.startsWith("filler")) rmSync(join(disk, name));
}

const full = expect.stringContaining("the disk is full (ENOSPC)");

describe.if(mounted)("on a full disk (fault 8)", () => {
  beforeAll(free);

  test("an atomic write fails with words and a hint, the old file stays, and no temporary file does", async () => {
    const path = join(disk, "result.json");
    writeFileAtomicSync(path, "old");
    fill();
    for (const data of ["x", "y".repeat(100_000)]) {
      await expect(writeFileAtomic(path, data)).rejects.toMatchObject({
        code: "write",
        message: full,
        hint: expect.stringContaining("Free some space"),
      });
      expect(() => writeFileAtomicSync(path, data)).toThrow(TeamError);
    }
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(readdirSync(disk).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    free();
  });

  test("the journal reports what it could not write, keeps what it has, and goes on when there is space", () => {
    const path = join(disk, "events.jsonl");
    const journal = openJournal(path, { elapsed: () => 0 });
    const message = "x".repeat(3000); // pages are of 4096 bytes: lines are written in part
    fill();
    let written = 0;
    expect(() => {
      for (; ; written++) journal.append({ type: "preflight.warning", message });
    }).toThrow(expect.objectContaining({ code: "write", message: full }));
    expect(readJournal(path)).toMatchObject({ torn: false, damaged: 0 });
    expect(readJournal(path).events.length).toBe(written);
    free();
    expect(journal.append({ type: "preflight.warning", message: "next" }).seq).toBe(written + 1);
    journal.close();
    expect(readJournal(path).events.length).toBe(written + 1);
  });

  test("no run begins: neither its directory nor its lock can be had", () => {
    fill();
    expect(() => createTeamDirectory(disk, new Date())).toThrow(
      expect.objectContaining({ code: "preflight", message: expect.stringContaining("the disk is full") }),
    );
    expect(() => acquireLock(disk)).toThrow(expect.objectContaining({ code: "write" }));
    free();
    acquireLock(disk).close();
  });

  test("a child's end is known though its record could not be kept, and that is said", async () => {
    await using ground = testGround();
    const child = ground.sh("echo started; while ! [ -e go ]; do sleep 0.02; done; echo lost; exit 9", { logDir: disk });
    await child.saw("started");
    fill();
    ground.write("go", "");
    const exit = await child.exited;
    expect(exit.code).toBe(9);
    expect(exit.warnings?.join("\n")).toContain("exit.json");
    free();
  });

  test("a key in a log does not stay there because there is no space for a clean one", async () => {
    await using ground = testGround();
    const redact = (text: string) => text.replaceAll("s3cret-key", "[redacted]");
    const child = ground.sh("echo s3cret-key; while ! [ -e go ]; do sleep 0.02; done", { logDir: disk, redact });
    await child.saw("[redacted]");
    fill();
    ground.write("go", "");
    const exit = await child.exited;
    expect(readFileSync(join(disk, "stdout.log"), "utf8")).toBe("");
    expect(exit.warnings?.join("\n")).toContain("was emptied");
    expect(exit.warnings?.join("\n")).not.toContain("s3cret-key");
    free();
  });
});

test("a write that the system takes only a part of leaves no part of it (a limit of file sizes)", async () => {
  await using temp = temporaryDirectory();
  const program = `
    import { openJournal } from ${JSON.stringify(join(import.meta.dir, "../../src/session/journal.ts"))};
    import { writeFileAtomicSync } from ${JSON.stringify(join(import.meta.dir, "../../src/session/atomic.ts"))};
    const journal = openJournal("events.jsonl", { elapsed: () => 0 });
    let written = 0, error = "", other = "";
    try { for (;; written++) journal.append({ type: "preflight.warning", message: "x".repeat(700) }); } catch (reason) { error = reason.message; }
    try { writeFileAtomicSync("result.json", "y".repeat(100_000)); } catch (reason) { other = reason.message; }
    console.log(JSON.stringify({ written, error, other }));
  `;
  const script = temp.write("program.ts", program);
  const run = Bun.spawnSync(["sh", "-c", `trap '' XFSZ; ulimit -f 20; exec "$@"`, "sh", process.execPath, script], {
    cwd: temp.path,
    env: process.env,
  });
  const { written, error, other } = JSON.parse(run.stdout.toString()) as { written: number; error: string; other: string };
  expect(written).toBeGreaterThan(5);
  expect(error).toContain("the file would be larger than the system allows (EFBIG)");
  expect(other).toContain("the file would be larger than the system allows (EFBIG)");
  expect(readJournal(temp.join("events.jsonl"))).toMatchObject({ torn: false, damaged: 0 });
  expect(readJournal(temp.join("events.jsonl")).events.length).toBe(written);
  expect(readdirSync(temp.path).sort()).toEqual(["events.jsonl", "program.ts"]);
});

test("a read-only disk is named as such before anything is spent", async () => {
  await using temp = temporaryDirectory();
  chmodSync(temp.path, 0o555);
  const bound =
    mounted &&
    Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", temp.path], { stderr: "ignore", env: process.env }).exitCode === 0;
  try {
    const words = bound ? "the disk is mounted read-only" : "no permission";
    if (bound || process.getuid?.() !== 0) expect(() => createTeamDirectory(temp.path, new Date())).toThrow(words);
  } finally {
    if (bound) Bun.spawnSync(["umount", "-l", temp.path], { env: process.env });
    chmodSync(temp.path, 0o755);
  }
});
