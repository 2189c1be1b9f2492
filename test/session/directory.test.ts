import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { TeamError } from "../../src/errors.ts";
import {
  createTeamDirectory,
  findTeamDirectory,
  listTeamIds,
  projectOf,
  sessionsPath,
  teamDirectory,
} from "../../src/session/directory.ts";
import { temporaryDirectory } from "../support/temp.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

const evening = new Date(2026, 10, 29, 18, 15, 0);

function thrown(work: () => unknown): TeamError {
  try {
    work();
  } catch (error) {
    if (error instanceof TeamError) return error;
    throw error;
  }
  throw new Error("it did not throw");
}

describe("a team directory", () => {
  test("is named by the local time, is its owner's only, and has its parts", async () => {
    await using project = temporaryDirectory("with space\nand é");
    const directory = createTeamDirectory(project.path, evening);
    expect(directory.id).toBe("team_20261129_181500");
    expect(directory.root).toBe(join(project.path, sessionsPath, directory.id));
    expect(statSync(directory.root).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory.root).sort()).toEqual([".cookie", "configs", "runs", "session", "synthesis"]);
    expect(readdirSync(directory.session)).toEqual(["agents"]);
    expect(directory.cookie).toMatch(/^[0-9a-f]{32}$/);
    expect(directory.runDir("agent_a", 1)).toBe(join(directory.root, "runs/agent_a/r1"));
    expect(directory.runDir("agent_a", 2, 3)).toBe(join(directory.root, "runs/agent_a/r2/try3"));
    expect(directory.finalAnswer).toBe(join(directory.root, "synthesis/final_answer.md"));
  });

  test("knows its project, wherever it is named from, unless it was moved out of it", async () => {
    await using project = temporaryDirectory();
    expect(projectOf(createTeamDirectory(project.path, evening))).toBe(project.path);
    expect(projectOf(teamDirectory(project.join("team_20261129_181500"), ""))).toBeNull();
    expect(projectOf(teamDirectory(join("/", sessionsPath, "team_20261129_181500"), ""))).toBe("/");
  });

  test("of the same second gets _2, _3 …, each with a cookie of its own (fault 19)", async () => {
    await using project = temporaryDirectory();
    const made = Array.from({ length: 12 }, () => createTeamDirectory(project.path, evening.getTime()));
    expect(made.map(({ id }) => id.slice("team_20261129_181500".length))).toEqual([
      "",
      ..."2 3 4 5 6 7 8 9 10 11 12".split(" ").map((n) => `_${n}`),
    ]);
    expect(new Set(made.map(({ cookie }) => cookie)).size).toBe(12);
  });

  test("of several processes at the same moment is claimed by one each (fault 19)", async () => {
    await using project = temporaryDirectory();
    const module = join(import.meta.dir, "../../src/session/directory.ts");
    const script = project.write(
      "claim.ts",
      `
      import { createTeamDirectory } from ${JSON.stringify(module)};
      for (let n = 0; n < 10; n++) console.log(createTeamDirectory(${JSON.stringify(project.path)}, ${evening.getTime()}).root);
    `,
    );
    const runs = [1, 2, 3].map(() =>
      Bun.spawn([process.execPath, script], { stdin: "ignore", stdout: "pipe", stderr: "inherit", env: process.env }),
    );
    const claimed = (await Promise.all(runs.map((run) => new Response(run.stdout).text()))).join("").trim().split("\n");
    expect(new Set(claimed).size).toBe(30);
    expect(listTeamIds(project.path).length).toBe(30);
  });
});

describe("a team directory that cannot be created is an error before anything is spent:", () => {
  test("a file is in the way", async () => {
    await using project = temporaryDirectory();
    project.write(".massgen-quality", "");
    const error = thrown(() => createTeamDirectory(project.path, evening));
    expect(error).toMatchObject({ code: "preflight", exitCode: 3 });
    expect(error.message).toContain("a part of the path is a file, not a directory");
    expect(error.hint).not.toBe("");
  });

  test("the project is not there", async () => {
    await using project = temporaryDirectory();
    project.write("file", "");
    expect(thrown(() => createTeamDirectory(project.join("file"), evening)).code).toBe("preflight");
  });

  // Root may write anywhere, so another user tries.
  test.if(process.getuid?.() === 0)("no permission", async () => {
    await using project = temporaryDirectory();
    chmodSync(project.path, 0o755);
    chmodSync(join(project.path, ".."), 0o755);
    process.setegid?.(65534);
    process.seteuid?.(65534);
    try {
      const error = thrown(() => createTeamDirectory(project.path, evening));
      expect(error.message).toContain("no permission");
    } finally {
      process.seteuid?.(0);
      process.setegid?.(0);
    }
    expect(existsSync(project.join(".massgen-quality"))).toBe(false);
  });
});

describe("a run is found", () => {
  test("by id, by path, and the newest without a name", async () => {
    await using project = temporaryDirectory();
    const [first, second] = [createTeamDirectory(project.path, evening), createTeamDirectory(project.path, new Date(2026, 10, 30))];
    for (let n = 2; n <= 10; n++) createTeamDirectory(project.path, new Date(2026, 10, 30));
    expect(findTeamDirectory(project.path).id).toBe("team_20261130_000000_10");
    expect(findTeamDirectory(project.path, first.id)).toMatchObject({ root: first.root, cookie: first.cookie });
    expect(findTeamDirectory("/", second.root).root).toBe(second.root);
    expect(findTeamDirectory(project.path, `.massgen-quality/sessions/${first.id}/`).root).toBe(first.root);
    mkdirSync(project.join(sessionsPath, "team_20991231_000000.old"));
    project.write(`${sessionsPath}/team_20991231_000000`, "a file");
    expect(findTeamDirectory(project.path).id).toBe("team_20261130_000000_10");
  });

  test("or the error says what to type", async () => {
    await using project = temporaryDirectory();
    expect(thrown(() => findTeamDirectory(project.path))).toMatchObject({ code: "not_found", exitCode: 2 });
    expect(thrown(() => findTeamDirectory(project.path, "team_20261129_181500")).hint).toContain("mg-team sessions");
    createTeamDirectory(project.path, evening);
    expect(thrown(() => findTeamDirectory(project.path, "team_20261129_181501")).hint).toContain("Did you mean team_20261129_181500?");
    expect(thrown(() => findTeamDirectory(project.path, project.path)).message).toContain("is not a team directory");
  });
});
