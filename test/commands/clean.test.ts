import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "../../src/commands/remove-tree.ts";
import { sessionsPath, type TeamDirectory } from "../../src/session/directory.ts";
import { acquireLock } from "../../src/session/lock.ts";
import { runCommand } from "../support/command.ts";
import { started } from "../support/events.ts";
import { age, writeStep, writeTeam } from "../support/team-on-disk.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";
import { openTmux } from "../support/tmux.ts";

// A real terminal and a whole run, on a machine that may be busy.
setDefaultTimeout(60_000);

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

/** A run that nobody has touched for so many days. */
function oldRun(temp: TemporaryDirectory, days: number): TeamDirectory {
  const directory = writeTeam(temp.path, { date: daysAgo(days), events: [started("ab")], result: {}, query: `asked ${days} days ago` });
  writeStep(directory.session, "agent_a", 1, "x".repeat(100_000));
  age(directory, daysAgo(days));
  return directory;
}

const clean = (temp: TemporaryDirectory, ...args: string[]) => runCommand(["clean", ...args], { cwd: temp.path });
const left = (temp: TemporaryDirectory) => readdirSync(temp.join(sessionsPath)).sort();

describe("what goes", () => {
  test("are the runs that are older, whole, and nothing else", async () => {
    await using temp = temporaryDirectory();
    const [old, young] = [oldRun(temp, 40), oldRun(temp, 20)];
    writeFileSync(temp.join(sessionsPath, "notes.txt"), "mine");
    mkdirSync(temp.join(sessionsPath, "team_of_somebody"));
    const { code, stdout, stderr } = await clean(temp, "--older-than", "30d", "--yes");
    expect(code).toBe(0);
    expect(stdout).toInclude(old.id);
    expect(stdout).toInclude("asked 40 days ago");
    expect(stdout).toMatch(/^1 run, 10\d kB$/m);
    expect(stderr).toMatch(/removed 1 run, 10\d kB/);
    expect(left(temp)).toEqual(["notes.txt", young.id, "team_of_somebody"].sort());
  });

  test.each([
    ["40d", 1],
    ["5w", 2],
    ["900h", 2],
    ["0d", 3],
    ["1.5d", 3],
  ])("older than %s: %i runs of 50, 38 and 2 days", async (text, count) => {
    await using temp = temporaryDirectory();
    for (const days of [50, 38, 2]) oldRun(temp, days);
    const { stdout } = await clean(temp, "--older-than", text, "--dry-run", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, dry_run: true, removed: [], failed: [] });
    expect(JSON.parse(stdout).old).toHaveLength(count);
  });

  test("nothing with --dry-run, whatever else is said", async () => {
    await using temp = temporaryDirectory();
    const { id } = oldRun(temp, 40);
    expect((await clean(temp, "--older-than", "30d", "--dry-run", "--yes")).stdout).toInclude(id);
    expect(left(temp)).toEqual([id]);
  });

  test("a run that was resumed lately is as young as its last word", async () => {
    await using temp = temporaryDirectory();
    const run = oldRun(temp, 40);
    writeFileSync(run.result, readFileSync(run.result));
    expect((await clean(temp, "--older-than", "30d", "--yes")).stderr).toInclude("nothing to remove");
    expect(existsSync(run.root)).toBe(true);
  });

  test("runs of other programs too, and runs that never began", async () => {
    await using temp = temporaryDirectory();
    const run = writeTeam(temp.path, { date: daysAgo(40) });
    age(run, daysAgo(40));
    await clean(temp, "--older-than", "30d", "--yes");
    expect(left(temp)).toEqual([]);
  });
});

describe("what is never touched", () => {
  test("a run at work, however old", async () => {
    await using temp = temporaryDirectory();
    const run = oldRun(temp, 40);
    {
      await using _lock = acquireLock(run.root);
      age(run, daysAgo(40));
      const { code, stderr } = await clean(temp, "--older-than", "30d", "--yes");
      expect([code, stderr]).toEqual([0, expect.stringContaining(`${run.id} is left alone: a process works on it`)]);
    }
    expect(readFileSync(run.config, "utf8")).toInclude("asked 40 days ago");
  });

  test("what a link leads to: as a run, inside of one, as the directory of runs", async () => {
    await using temp = temporaryDirectory();
    const treasure = temp.write("treasure/config.json", "{}");
    const run = oldRun(temp, 40);
    symlinkSync(temp.join("treasure"), join(run.session, "agents", "agent_a", "001", "workspace"));
    symlinkSync(treasure, join(run.root, "link.json"));
    symlinkSync(temp.join("treasure"), temp.join(sessionsPath, "team_20200101_000000"));
    const { stderr } = await clean(temp, "--older-than", "30d", "--yes");
    expect(stderr).toInclude("team_20200101_000000 is left alone: it is a link");
    expect(existsSync(run.root)).toBe(false);
    expect(readFileSync(treasure, "utf8")).toBe("{}");

    await using other = temporaryDirectory();
    symlinkSync(temp.join(".massgen-quality"), other.join(".massgen-quality"));
    expect(await clean(other, "--older-than", "0d", "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is a link, and clean\s+follows none/),
    });
  });
});

describe("asks", () => {
  const answered = async (types: string | undefined, columns: number | null = 80) => {
    await using temp = temporaryDirectory();
    oldRun(temp, 40);
    const result = await runCommand(["clean", "--older-than", "30d"], { cwd: temp.path, types, columns: columns ?? undefined });
    return { ...result, left: left(temp).length };
  };

  test.each([
    ["y", 0],
    ["Yes ", 0],
    ["", 1],
    ["n", 1],
    ["yesterday", 1],
  ])("and takes %p for an answer", async (types, count) => {
    const { stderr, code, left: still } = await answered(types);
    expect([still, code]).toEqual([count, 0]);
    expect(stderr).toInclude("Remove this run for good? [y/N] ");
  });

  test("nobody where nobody can answer: it needs --yes then", async () => {
    expect(await answered(undefined)).toMatchObject({
      code: 2,
      left: 1,
      stderr: expect.stringContaining("mg-team clean --older-than 30d --yes"),
    });
    expect(await answered("y", null)).toMatchObject({ code: 2, left: 1 });
  });

  test("on a real terminal, and ends after the answer", async () => {
    await using temp = temporaryDirectory();
    oldRun(temp, 40);
    oldRun(temp, 41);
    await using tmux = await openTmux({
      columns: 80,
      rows: 24,
      cwd: temp.path,
      env: { HOME: temp.path, PATH: "/usr/bin:/bin", LANG: "C.UTF-8" },
    });
    tmux.type("mg-team clean --older-than 30d");
    await tmux.until((screen) => screen.includes("Remove these 2 runs for good? [y/N]"));
    tmux.type("y");
    await tmux.until((screen) => screen.includes("removed 2 runs") && screen.endsWith("$"));
    expect(left(temp)).toEqual([]);
  });
});

test.each([
  [[], /clean needs to know how old: --older-than AGE/],
  [["--older-than", "30"], /must be a time such as 12h, 30d or 8w, not "30"/],
  [["--older-than", "soon"], /must be a time such as 12h, 30d or 8w, not "soon"/],
])("%j is refused before anything is looked at", async (args, message) => {
  await using temp = temporaryDirectory();
  const { code, stderr } = await clean(temp, ...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

describe("a tree", () => {
  test("with read-only directories, deep ones, pipes and names that are no text is removed", async () => {
    await using temp = temporaryDirectory();
    const root = temp.join("tree");
    const deep = join(root, ...Array.from({ length: 60 }, (_, index) => `level ${index}`));
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, "file"), "x");
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), "x");
    Bun.spawnSync(["mkfifo", join(root, "pipe")]);
    chmodSync(deep, 0o500);
    expect(await removeTree(root, ".lock")).toEqual([]);
    expect(existsSync(root)).toBe(false);
  });
});
