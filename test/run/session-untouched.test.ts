import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { argumentsOf, createRunProject, inTurn, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { type Change, changesBelow, traced } from "../support/written.ts";

// "Nothing is ever written under session/agents/ by us": every system call of mg-team, its helpers and its shim is looked at. Linux with strace.

const hasStrace = Bun.which("strace") !== null;
const files = { "index.html": "<p>Hello", "run.sh": { text: "#!/bin/sh\n", mode: 0o755 }, link: { symlink: "index.html" } } as const;
const work = (text: string): FakeStep => ({ answer: { text, files } });

/** Runs one command after the other in a project, and tells who changed what below `session/agents`. */
async function watch(
  spec: RunSpec,
  look: (changes: readonly Change[], codes: readonly (number | null)[]) => void,
  then: readonly string[][] = [],
): Promise<void> {
  await inTurn(async () => {
    await using project = createRunProject(spec);
    const codes: (number | null)[] = [];
    const changes: Change[] = [];
    for (const [index, argv] of [argumentsOf(spec), ...then].entries()) {
      const file = project.temp.join(`trace${index}`);
      const run = project.start(argv, { wrapper: traced(file) });
      if (index === 0 && then.length > 0) {
        await project.untilAnnounced("hangs");
        // The tracer passes no signals on; the program is its child.
        process.kill(Number(readdirSync(`/proc/${run.pid}/task`).flatMap((task) => childrenOf(run.pid, task))[0]), "SIGINT");
      }
      const ended = await run.result;
      codes.push(ended.code);
      changes.push(...changesBelow(file, "/session/agents/", `${project.env.PATH?.split(":")[0]}/massgen`));
    }
    expect(readdirSync(onlyRun(project).session)).toEqual(["agents"]);
    look(changes, codes);
  });
}

function childrenOf(pid: number, task: string): string[] {
  return readFileSync(join("/proc", String(pid), "task", task, "children"), "utf8")
    .split(" ")
    .filter(Boolean);
}

function expectUntouched(changes: readonly Change[], least: number): void {
  expect(changes.filter(({ theirs }) => !theirs).map(({ line }) => line)).toEqual([]);
  // Else nothing was looked at.
  expect(changes.length).toBeGreaterThan(least);
}

describe.if(hasStrace)("session/agents", () => {
  test.concurrent(
    "is written by MassGen only, in a whole run with files and a synthesis",
    () =>
      watch({ plays: { a: [work("one"), "vote a"], b: [work("two"), "vote a"] }, args: ["--synthesis", "agent"] }, (changes, codes) => {
        expect(codes).toEqual([0]);
        expectUntouched(changes, 20);
      }),
    patience,
  );

  test.concurrent(
    "is written by MassGen only, when steps fail, leave garbage, hang and are stopped",
    () =>
      watch(
        {
          plays: {
            a: [work("one"), { before: { forever: true } }],
            b: [{ answer: { text: "x", garble: "cut" } }, "blank"],
            c: [work("three"), "fail server", { ...work("late"), after: { forever: true } }],
          },
          args: ["--timeout", "10"],
        },
        (changes, codes) => {
          expect(codes).toEqual([0]);
          expectUntouched(changes, 20);
        },
      ),
    patience,
  );

  test.concurrent(
    "is written by MassGen only, through Ctrl-C, a resume and a report of the result again",
    () =>
      watch(
        { plays: { a: [work("one"), { before: { announce: "hangs", forever: true } }, "vote a"], b: [work("two"), "vote a"] } },
        (changes, codes) => {
          expect(codes).toEqual([130, 0, 0]);
          expectUntouched(changes, 20);
        },
        [["resume"], ["resume"]],
      ),
    patience,
  );
});
