import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment, cookieVariable } from "../../src/process/environment.ts";
import { sweepDeadRuns } from "../../src/process/sweep.ts";
import { createTeamDirectory, type TeamDirectory } from "../../src/session/directory.ts";
import { acquireLock, readHolder } from "../../src/session/lock.ts";
import { isAlive, temporaryDirectory, untilGone } from "../support/temp.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

/** A process of a run whose mg-team is gone: in a session of its own, with nothing but its cookie to tell. */
function stray(cookie: string, script = "sleep 60") {
  const env = { ...childEnvironment(), [cookieVariable]: cookie };
  const child = Bun.spawn(["sh", "-c", `echo ready; ${script}`], {
    env,
    detached: true,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const ready = child.stdout.getReader().read();
  return {
    pid: child.pid,
    ready,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

function crash(directory: TeamDirectory) {
  // What a killed holder leaves: its record, and no lock.
  return Bun.write(join(directory.root, ".holder.json"), JSON.stringify({ pid: 1, started: new Date().toISOString() }));
}

describe("at a start, what dead runs of this project left alive (fault 6)", () => {
  test("is ended, also when it ignores TERM", async () => {
    await using project = temporaryDirectory();
    const run = createTeamDirectory(project.path, new Date());
    await crash(run);
    await using one = stray(run.cookie);
    await using two = stray(run.cookie, "trap '' TERM; while :; do sleep 0.05; done");
    await Promise.all([one.ready, two.ready]);
    const report = await sweepDeadRuns(project.path);
    expect(report).toMatchObject({ runs: [run.id], warnings: [] });
    expect(report.processes).toBeGreaterThanOrEqual(2);
    await untilGone([one.pid, two.pid], 3);
    expect(readHolder(run.root)).toBeNull();
    expect(await sweepDeadRuns(project.path)).toEqual({ runs: [], processes: 0, containers: [], warnings: [] });
  });

  test("is ended though the run itself came to a regular end", async () => {
    await using project = temporaryDirectory();
    const run = createTeamDirectory(project.path, new Date());
    await using one = stray(run.cookie);
    await one.ready;
    expect((await sweepDeadRuns(project.path)).runs).toEqual([run.id]);
    await untilGone([one.pid], 3);
  });

  test("is told from what live runs, other projects, and processes of the same name have", async () => {
    await using project = temporaryDirectory();
    await using elsewhere = temporaryDirectory();
    const live = createTeamDirectory(project.path, new Date());
    const other = createTeamDirectory(elsewhere.path, new Date());
    const dead = createTeamDirectory(project.path, new Date());
    await using lock = acquireLock(live.root);
    await using ofLive = stray(live.cookie);
    await using ofOther = stray(other.cookie);
    await using ofDead = stray(dead.cookie);
    await using sameName = stray("");
    await Promise.all([ofLive.ready, ofOther.ready, ofDead.ready, sameName.ready]);
    expect((await sweepDeadRuns(project.path)).runs).toEqual([dead.id]);
    await untilGone([ofDead.pid], 3);
    expect([ofLive, ofOther, sameName].map(({ pid }) => isAlive(pid))).toEqual([true, true, true]);
    expect(lock).toBeDefined();
  });

  test("costs nothing where there are no runs, or records are damaged", async () => {
    await using project = temporaryDirectory();
    expect(await sweepDeadRuns(project.path)).toEqual({ runs: [], processes: 0, containers: [], warnings: [] });
    const run = createTeamDirectory(project.path, new Date());
    await Bun.write(join(run.root, ".cookie"), "");
    await crash(run);
    await using nobody = stray("");
    await nobody.ready;
    expect(await sweepDeadRuns(project.path)).toMatchObject({ runs: [run.id], processes: 0 });
    expect(isAlive(nobody.pid)).toBe(true);
  });

  test("and the logs of its steps lose their secrets, a step's own files do not", async () => {
    await using project = temporaryDirectory();
    const run = createTeamDirectory(project.path, new Date());
    await crash(run);
    const [first, retry] = [run.runDir("agent_a", 1), run.runDir("agent_a", 1, 2)];
    const own = join(first, "workspace");
    for (const directory of [retry, own, run.synthesisRun]) mkdirSync(directory, { recursive: true });
    for (const directory of [first, retry, own, run.synthesisRun]) await Bun.write(join(directory, "stderr.log"), "key s3cret!\n");
    await sweepDeadRuns(project.path, { redact: (text) => text.replaceAll("s3cret!", "***") });
    const texts = [first, retry, run.synthesisRun, own].map((directory) => readFileSync(join(directory, "stderr.log"), "utf8"));
    expect(texts).toEqual(["key ***\n", "key ***\n", "key ***\n", "key s3cret!\n"]);
    expect(existsSync(join(run.root, ".holder.json"))).toBe(false);
  });
});
