import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import type { TeamEvent } from "../../src/session/events.ts";
import type { RunResult } from "../../src/session/result.ts";
import { filesBelow, isTheirs } from "../support/run-rules.ts";
import { argumentsOf, createRunProject, linesOf, onlyRun, patience, type RunSpec, runHere } from "../support/runs.ts";

// Exit 7: what a run has decided could not be written. The disk of the project is small and fills up at a moment of the run's life.
// Only root may mount one; the faults of single files are in test/faults.

const isRoot = process.getuid?.() === 0;
const agree = "answer, vote a";

interface Spoilt {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whole, or absent. */
  readonly result: RunResult | null;
  readonly events: readonly TeamEvent[];
  readonly files: readonly string[];
}

/** Runs in a project on a disk of its own, which is full from the first event on that `when` holds for. */
async function runOnFullDisk(spec: RunSpec, when: (event: TeamEvent) => boolean): Promise<Spoilt> {
  await using project = createRunProject({ ...spec, files: {} });
  await using _disk = mount(project.directory);
  for (const [path, text] of Object.entries(spec.files ?? {})) writeFileSync(join(project.directory, path), text);
  let full = false;
  const { code, stdout, stderr } = await runHere(project, argumentsOf(spec), (event) => {
    if (!full && when(event)) fill(project.directory);
    full ||= when(event);
  });
  const directory = onlyRun(project, stderr);
  expect(findMarked(cookieVariable, new Set([directory.cookie]))).toEqual([]);
  const files = filesBelow(directory.root, isTheirs);
  expect(files.filter((path) => path.endsWith(".tmp"))).toEqual([]);
  const result = existsSync(directory.result) ? (JSON.parse(readFileSync(directory.result, "utf8")) as RunResult) : null;
  return { code, stdout, stderr, result, events: linesOf(readFileSync(directory.journal, "utf8")), files };
}

function mount(path: string): AsyncDisposable {
  const { exitCode, stderr } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", path], { env: process.env });
  if (exitCode !== 0) throw new Error(`cannot mount: ${stderr}`);
  return { [Symbol.asyncDispose]: async () => void Bun.spawnSync(["umount", "-l", path], { env: process.env }) };
}

/** To the last byte. */
function fill(directory: string): void {
  for (let size = 1 << 22, at = 0; size >= 1; size >>= 1, at++) {
    try {
      for (;;) writeFileSync(join(directory, `filler${at}`), Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full for this size.
    }
  }
}

describe.if(isRoot)("the disk is full", () => {
  const spec: RunSpec = { plays: { a: agree, b: "answer, vote a" }, args: ["--no-report"] };
  const moments: Readonly<Record<string, (event: TeamEvent) => boolean>> = {
    "from the first round on": ({ type }) => type === "round.started",
    "from the first step on": ({ type }) => type === "step.started",
    "from the first answer on": ({ type }) => type === "step.finished",
    "from the second round on": (event) => event.type === "round.started" && event.round === 2,
    "from the first vote on": (event) => event.type === "step.finished" && event.action.kind === "vote",
    "from the decision on": ({ type }) => type === "decision",
    "while the document is made": ({ type }) => type === "synthesis.started",
    "once the document is written": ({ type }) => type === "synthesis.finished",
    "at the very end": ({ type }) => type === "run.finished",
  };
  for (const [moment, when] of Object.entries(moments)) {
    test(
      `${moment}: exit 7, said on stderr, every file whole or absent, nothing left running`,
      async () => {
        const run = await runOnFullDisk(spec, when);
        expect(run.code).toBe(7);
        expect(run.stderr).toContain("ENOSPC");
        expect(run.stderr).toContain("the result could not be written as it should be");
        expect(run.stderr.trimEnd().split("\n").at(-1)).toStartWith("total spent: ");
        expect(run.events.map(({ seq }) => seq)).toEqual(run.events.map((_, index) => index + 1));
        if (run.result) expect(run.result.version).toBe(1);
      },
      patience,
    );
  }

  test(
    "after the decision the answer is printed all the same, and --json says exit_code 7",
    async () => {
      const decided = ({ type }: TeamEvent) => type === "decision";
      const { stdout } = await runOnFullDisk({ ...spec, args: ["--events"] }, decided);
      expect(stdout).toContain('"type":"decision"');
      // Without events there is nothing to go by: a plugin fills the disk instead.
      const filler = `import { writeFileSync } from "node:fs";
import { definePlugin } from "mg-team";
export default definePlugin({
  name: "filler",
  apply(team) {
    team.hooks.onEvent.tap("filler", ({ type }) => {
      if (type !== "decision") return;
      for (let size = 1 << 22, at = 0; size >= 1; size >>= 1, at++) {
        try {
          for (;;) writeFileSync(\`filler\${at}\`.replace(/^/, team.run.directory + "/"), Buffer.alloc(size), { flag: "a" });
        } catch {}
      }
    });
  },
});
`;
      const filled = { ...spec, files: { "filler.ts": filler } };
      const json = await runOnFullDisk({ ...filled, args: ["--json", "--plugin", "./filler.ts"] }, () => false);
      expect(json.code).toBe(7);
      expect(JSON.parse(json.stdout)).toMatchObject({
        exit_code: 7,
        answer: "An answer, number 1",
        decision: { kind: "consensus" },
        synthesis: { path: null },
      });
    },
    patience,
  );
});
