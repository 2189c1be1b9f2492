import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readHolder } from "../../src/session/lock.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, linesOf, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { until, untilExists } from "../support/temp.ts";
import { openTmux } from "../support/tmux.ts";
import { livingBy, tornFiles } from "./run-check.ts";

// Faults 15 and 18 at a whole run. Ctrl-Z with fg and bg, as a person sees it: test/view/live/terminal.test.ts; the clock: test/process/stop.test.ts.

const waits: FakeStep = { answer: { text: "The answer", workspace: false }, before: { announce: "waits", file: "go" } };
const slow: RunSpec = { plays: { a: [waits, "vote a"], b: "answer, vote a" } };
/** As people type it: no events. */
const words = (spec: RunSpec) => argumentsOf(spec).filter((word) => word !== "--events");

/** What a run in a terminal left; nothing of it may be alive. */
async function ended(project: TestProject): Promise<RunResult> {
  await until(() => livingBy(project.temp.path).length === 0, "the end of all processes", 30);
  const directory = onlyRun(project);
  expect(tornFiles(directory)).toEqual([]);
  expect(linesOf(readFileSync(directory.journal, "utf8")).at(-1)?.type).toBe("run.finished");
  return JSON.parse(readFileSync(directory.result, "utf8"));
}

async function inTerminal(project: TestProject, command: string, act: (close: () => Promise<void>) => Promise<void>): Promise<void> {
  // The shell of the terminal must not be counted: it does not get the project's environment, the program does.
  const settings = project.temp.write(
    "settings.sh",
    Object.entries(project.env)
      .map(([name, value]) => `export ${name}='${value}'`)
      .join("\n"),
  );
  const tmux = await openTmux({ columns: 80, rows: 24, cwd: project.directory, env: { HOME: project.home } });
  let open = true;
  const close = async () => {
    if (open) await tmux[Symbol.asyncDispose]();
    open = false;
  };
  try {
    tmux.type(`(. ${settings}; ${command})`);
    await project.untilAnnounced("waits");
    await act(close);
  } finally {
    await close();
  }
}

const quoted = (argv: readonly string[]) => argv.map((word) => `'${word}'`).join(" ");

describe("a terminal that is closed", () => {
  test(
    "in the middle of a round forces a result that is on disk within 7 s, with exit code 129, and leaves nothing alive",
    async () => {
      await using project = createRunProject(slow);
      await inTerminal(project, `mg-team ${quoted(words(slow))}`, async (close) => {
        await until(() => /"type":"step\.finished"/.test(readFileSync(onlyRun(project).journal, "utf8")), "agent_b's answer");
        const at = performance.now();
        await close();
        await untilExists(onlyRun(project).result, 7);
        expect((performance.now() - at) / 1000).toBeLessThan(7);
      });
      expect(await ended(project)).toMatchObject({
        exit_code: 129,
        decision: { kind: "forced", reason: "interrupted", winner: "agent_b" },
      });
    },
    patience,
  );

  test(
    "while steps ignore TERM and HUP: the result comes first, then they are killed",
    async () => {
      const spec: RunSpec = {
        plays: { a: [{ ...waits, process: { ignoreTerm: true, grandchildren: [{ ignoreTerm: true, ownSession: true }] } }], b: "answer" },
      };
      await using project = createRunProject(spec);
      await inTerminal(project, `mg-team ${quoted(words(spec))}`, async (close) => {
        await close();
        await untilExists(onlyRun(project).result, 7);
      });
      expect(await ended(project)).toMatchObject({ exit_code: 129 });
    },
    patience,
  );

  test(
    "under nohup changes nothing: the run goes on to its end, and what it says is in nohup.out",
    async () => {
      await using project = createRunProject(slow);
      // A function cannot be started by nohup.
      const command = `nohup "$(type -P env)" bash -c '. ${project.temp.join("settings.sh")}; exec ${programOf(project)} "$@"' bash ${quoted(words(slow))}`;
      await inTerminal(project, command, (close) => close());
      await Bun.sleep(500); // a hang-up that ends it would do so by now
      expect(existsSync(onlyRun(project).result)).toBe(false);
      project.signal("go");
      expect(await ended(project)).toMatchObject({ exit_code: 0, decision: { kind: "consensus", winner: "agent_a" } });
      const said = readFileSync(join(project.directory, "nohup.out"), "utf8");
      expect(said).toContain("The answer");
      expect(said).toContain("total spent: $0.04");
    },
    patience,
  );
});

describe("a program that is stopped (Ctrl-Z) and goes on", () => {
  for (const signal of ["SIGTSTP", "SIGSTOP"] as const) {
    test(
      `${signal}: steps go on meanwhile, what they left is taken over, and the time counts`,
      async () => {
        await using project = createRunProject(slow);
        const run = project.start(argumentsOf(slow), { wrapper: asJob });
        await project.untilAnnounced("waits");
        const pid = readHolder(onlyRun(project).root)?.pid ?? 0;
        process.kill(pid, signal);
        await until(() => stateOf(pid) === "T", "the stop");
        project.signal("go");
        await untilExists(join(onlyRun(project).session, "agents/agent_a/001/answer.json"));
        const at = performance.now();
        await Bun.sleep(2500);
        expect(stateOf(pid)).toBe("T");
        const stopped = (performance.now() - at) / 1000;
        process.kill(pid, "SIGCONT");
        expect((await run.result).code).toBe(0);
        const result = await ended(project);
        expect(result).toMatchObject({
          exit_code: 0,
          decision: { kind: "consensus", winner: "agent_a" },
          cost: { known: "all", total_usd: 0.04 },
        });
        expect(result.duration_seconds).toBeGreaterThan(stopped);
      },
      patience,
    );
  }

  test(
    "SIGSTOP for longer than the run may take: it ends by its time limit once it goes on",
    async () => {
      const spec: RunSpec = { ...slow, args: ["--timeout", "3"] };
      await using project = createRunProject(spec);
      const run = project.start(argumentsOf(spec));
      await project.untilAnnounced("waits");
      run.kill("SIGSTOP");
      await Bun.sleep(3200); // longer than the limit
      run.kill("SIGCONT");
      const at = performance.now();
      expect((await run.result).code).toBe(0);
      expect((performance.now() - at) / 1000).toBeLessThan(7);
      expect(await ended(project)).toMatchObject({ decision: { kind: "forced", reason: "timeout", winner: "agent_b" } });
    },
    patience,
  );
});

// --- internal ---

/** In a process group of its own, as a shell's job: the kernel stops nobody by SIGTSTP in a group that no shell looks after. */
const asJob = ["bash", "-c", 'set -m; "$@" & wait -f $!', "bash"];

/** The words that `startCli` begins with. */
function programOf(_project: TestProject): string {
  const cli = join(import.meta.dir, "../../src/cli.ts");
  return quoted([process.execPath, "--no-env-file", "--no-install", "--config=/dev/null", cli, "--"]).replaceAll("'", '"');
}

function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}
