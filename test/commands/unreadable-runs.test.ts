import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sweepDeadRuns } from "../../src/process/sweep.ts";
import { sessionsPath, type TeamDirectory } from "../../src/session/directory.ts";
import { runCommand } from "../support/command.ts";
import { started } from "../support/events.ts";
import { age, writeTeam } from "../support/team-on-disk.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

// A real directory of runs that several people, or nobody in particular, have written into.

setDefaultTimeout(60_000); // a busy machine is no fault

/** Errors are broken into lines. */
const unbroken = (text: string) => text.replace(/\s+/g, " ");

const longAgo = new Date(2020, 1, 1);

/** A readable run, and a newer one that something is wrong with. */
function project(spoil: (root: string) => void): { temp: TemporaryDirectory; good: TeamDirectory; bad: TeamDirectory } {
  const temp = temporaryDirectory();
  const good = writeTeam(temp.path, { date: new Date(2026, 10, 1), events: [started("ab")], result: {}, finalAnswer: "It is done." });
  const bad = writeTeam(temp.path, { date: new Date(2026, 10, 2), events: [started("ab")], result: {} });
  age(good, longAgo);
  spoil(bad.root);
  return { temp, good, bad };
}

const spoiled: readonly (readonly [what: string, spoil: (root: string) => void])[] = [
  ["its record of processes is a directory", (root) => replace(join(root, ".cookie"), mkdirSync)],
  ["its record of processes is a device", (root) => replace(join(root, ".cookie"), (path) => symlinkSync("/dev/zero", path))],
  ["it is a link to itself", (root) => replace(root, (path) => symlinkSync(path, path))],
  ["it is a link to nothing", (root) => replace(root, (path) => symlinkSync(`${path}-gone`, path))],
  ["it is a file", (root) => replace(root, (path) => writeFileSync(path, ""))],
];

function replace(path: string, make: (path: string) => unknown): void {
  rmSync(path, { recursive: true });
  make(path);
}

describe.each(spoiled)("of a run of which %s", (_, spoil) => {
  test("the others are listed, shown, looked at, swept and cleaned all the same", async () => {
    const { temp, good, bad } = project(spoil);
    await using _ = temp;
    const say = (...argv: string[]) => runCommand(argv, { cwd: temp.path });
    const { sessions } = JSON.parse((await say("sessions", "--json")).stdout);
    expect(sessions.at(-1)).toMatchObject({ session_id: good.id, state: "finished" });
    for (const entry of sessions.slice(0, -1)) expect(entry).toMatchObject({ session_id: bad.id, state: "unknown", query: null });
    for (const argv of [["status"], ["show"], ["report", "--json"]]) {
      const { code, stdout, stderr } = await say(...argv);
      expect({ argv, code, stderr: code === 0 ? "" : stderr }).toEqual({ argv, code: 0, stderr: "" });
      expect(stdout).not.toBe("");
    }
    expect((await sweepDeadRuns(temp.path)).warnings).toEqual([]);
    expect((await say("clean", "--older-than", "30d", "--yes")).code).toBe(0);
    expect(existsSync(good.root)).toBe(false);
  });

  test("its own name brings an error that says what to type", async () => {
    const { temp, bad } = project(spoil);
    await using _ = temp;
    for (const command of ["status", "show", "resume", "report"]) {
      const { code, stderr } = await runCommand([command, bad.id], { cwd: temp.path });
      expect({ command, code, stderr: unbroken(stderr) }).toEqual({
        command,
        code: expect.any(Number),
        stderr: expect.stringContaining("mg-team sessions"),
      });
      expect([2, 3]).toContain(code);
    }
  });
});

// Root may read anything, so another user looks.
test.if(process.getuid?.() === 0)("a run of another user is unknown to sessions, spared by clean, and passed over elsewhere", async () => {
  const { temp, good, bad } = project(() => {});
  await using _ = temp;
  for (const path of [join(temp.path, ".."), temp.path, temp.join(".massgen-quality"), temp.join(sessionsPath), good.root])
    chmodSync(path, 0o755);
  for (const path of [good.journal, good.result, good.config, good.finalAnswer, join(good.root, ".cookie"), join(good.root, "synthesis")])
    chmodSync(path, 0o755);
  process.setegid?.(65534);
  process.seteuid?.(65534);
  try {
    const say = (...argv: string[]) => runCommand(argv, { cwd: temp.path });
    const { sessions } = JSON.parse((await say("sessions", "--json")).stdout);
    expect(sessions.map(({ state }: { state: string }) => state)).toEqual(["unknown", "finished"]);
    expect((await say("status", "--json")).code).toBe(0);
    expect((await say("show")).stdout).toContain("It is done.");
    expect((await sweepDeadRuns(temp.path)).warnings).toEqual([]);
    const cleaned = await say("clean", "--older-than", "1d", "--dry-run");
    expect([cleaned.code, unbroken(cleaned.stderr)]).toEqual([0, expect.stringContaining(`${bad.id} is left alone: no permission`)]);
    expect(unbroken((await say("status", bad.id)).stderr)).toContain("no permission");
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
});

test.each(["sessions", "status", "show", "resume", "clean --older-than 30d"])(
  "%s says that the directory of runs is a file",
  async (words) => {
    await using temp = temporaryDirectory();
    temp.write(sessionsPath, "");
    const { code, stderr } = await runCommand(words.split(" "), { cwd: temp.path });
    expect([code, unbroken(stderr)]).toEqual([3, expect.stringContaining("a part of the path is a file, not a directory")]);
  },
);

test.each(["sessions", "status", "report"])(
  "%s says of a journal that is no file what it is, and does not wait for it",
  async (command) => {
    const { temp, bad } = project((root) => replace(join(root, "events.jsonl"), (path) => symlinkSync("/dev/zero", path)));
    await using _ = temp;
    const { code, stdout, stderr } = await runCommand([command], { cwd: temp.path });
    if (command === "sessions") expect([code, stdout]).toEqual([0, expect.stringContaining(bad.id)]);
    else expect([code, unbroken(stderr)]).toEqual([3, expect.stringContaining("it is no regular file")]);
  },
);
