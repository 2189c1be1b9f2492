import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TeamEvent } from "../../src/session/events.ts";
import type { RunResult } from "../../src/session/result.ts";
import { argumentsOf, createRunProject, inTurn, linesOf, onlyRun, patience, playRefusal, playRun, type RunSpec } from "../support/runs.ts";
import { until } from "../support/temp.ts";

// stdout carries the result only, every byte of it; stderr the rest, with the total spent as the last line.

const agree = "answer, vote a";
const team: RunSpec = { plays: { a: agree, b: agree } };
const long = `A long answer.\n${"All work and no play makes a dull answer. ".repeat(8_000)}`;
const longTeam: RunSpec = { plays: { a: [{ answer: { text: long, workspace: false } }, "vote a"], b: agree } };

/** The result only: no progress, no colours. */
const textMode = (spec: RunSpec): string[] => argumentsOf(spec).filter((word) => word !== "--events");

/** The CLI as a child of a shell line in which "$@" is mg-team. */
async function shell(
  line: string,
  spec: RunSpec,
  look: (run: { code: number | null; stdout: string; stderr: string; directory: string }) => void,
): Promise<void> {
  await inTurn(async () => {
    await using project = createRunProject(spec);
    const argv = spec.args?.includes("--json") || spec.args?.includes("--events") ? argumentsOf(spec) : textMode(spec);
    const ended = await project.cli(argv, { wrapper: ["/bin/bash", "-c", line, "bash"] });
    look({ ...ended, directory: onlyRun(project, ended.stderr).root });
  });
}

const resultOf = (directory: string): RunResult => JSON.parse(readFileSync(join(directory, "result.json"), "utf8"));
const lastLine = (text: string) => text.trimEnd().split("\n").at(-1);

describe("what stdout carries", () => {
  test.concurrent(
    "text: the document, word for word, and nothing else",
    () =>
      shell('"$@"', team, ({ code, stdout, stderr, directory }) => {
        expect(code).toBe(0);
        expect(stdout.trimEnd()).toBe(readFileSync(join(directory, "synthesis/final_answer.md"), "utf8").trimEnd());
        expect(stdout).toContain("An answer, number 1");
        expect(stdout.endsWith("\n")).toBe(true);
        expect(lastLine(stderr)).toMatch(/^total spent: \$0\.04 in /);
        expect(stderr).not.toContain("\u001b");
      }),
    patience,
  );

  test.concurrent(
    "text: nothing at all when there is no answer",
    () =>
      shell('"$@"', { plays: { a: "fail auth", b: "fail auth" } }, ({ code, stdout, stderr }) => {
        expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
        expect(stderr).toContain("no answer: ");
        expect(lastLine(stderr)).toStartWith("total spent: ");
      }),
    patience,
  );

  test.concurrent(
    "--json: result.json, byte for byte",
    () =>
      shell('"$@"', { ...team, args: ["--json"] }, ({ code, stdout, directory }) => {
        expect(code).toBe(0);
        expect(stdout).toBe(readFileSync(join(directory, "result.json"), "utf8"));
      }),
    patience,
  );

  test.concurrent(
    "--json without an answer is a whole result",
    async () => {
      const { stdout } = await playRun({ plays: { a: "fail auth", b: "fail auth" }, args: ["--json"] });
      expect(JSON.parse(stdout)).toMatchObject({ version: 1, exit_code: 5, answer: null, decision: { kind: "none" } });
    },
    patience,
  );

  test.concurrent(
    "--events: the journal, line by line, from run.started to run.finished without a gap",
    () =>
      shell('"$@"', { ...team, args: ["--events"] }, ({ code, stdout, directory }) => {
        expect(code).toBe(0);
        expect(stdout).toBe(readFileSync(join(directory, "events.jsonl"), "utf8"));
        const events = linesOf<TeamEvent>(stdout);
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
        expect([events[0]?.type, events.at(-1)?.type]).toEqual(["run.started", "run.finished"]);
        for (const { v, ts, elapsed } of events) {
          expect(v).toBe(1);
          expect(new Date(ts).toISOString()).toBe(ts);
          expect(elapsed).toBeGreaterThanOrEqual(0);
        }
      }),
    patience,
  );

  test.concurrent(
    "--events arrive as they happen, not at the end",
    () =>
      inTurn(async () => {
        const spec: RunSpec = {
          plays: { a: [{ answer: "x", before: { file: "go" } }, "vote a"], b: agree },
          args: ["--events"],
        };
        await using project = createRunProject(spec);
        const run = project.start(argumentsOf(spec));
        await until(() => run.output.stdout.includes('"type":"step.started"'), "the first step's start");
        project.signal("go");
        expect((await run.result).code).toBe(0);
      }),
    patience,
  );

  test.concurrent(
    "--json and --events at once are refused",
    async () => {
      const { code, stderr } = await playRefusal({ ...team, args: ["--json", "--events"] });
      expect(code).toBe(2);
      expect(stderr).toContain("--events");
    },
    patience,
  );

  test.concurrent(
    "an event whose text is long is cut, with the number of bytes that are missing, and stays one line of JSON below 8 KiB",
    async () => {
      const { stdout } = await playRun({
        plays: { a: ["answer", { vote: { target: "agent_a".padEnd(20_000, "x"), reason: "\u0001".repeat(9_000) } }, "vote a"], b: agree },
      });
      for (const line of stdout.trimEnd().split("\n")) expect(Buffer.byteLength(line)).toBeLessThan(8192);
      expect(stdout).toMatch(/more\)/);
    },
    patience,
  );
});

describe("every byte arrives", () => {
  test.concurrent(
    "of a result above 64 KB through a pipe",
    () =>
      shell('set -o pipefail; "$@" | cat', { ...longTeam, args: ["--json"] }, ({ code, stdout, directory }) => {
        expect(code).toBe(0);
        expect(stdout.length).toBeGreaterThan(300_000);
        expect(stdout).toBe(readFileSync(join(directory, "result.json"), "utf8"));
      }),
    patience,
  );

  test.concurrent(
    "with a reader that sleeps first and then reads in small pieces",
    () =>
      shell('"$@" | (sleep 2; dd bs=512 status=none)', { ...longTeam, args: ["--json"] }, ({ stdout, directory }) => {
        expect(stdout).toBe(readFileSync(join(directory, "result.json"), "utf8"));
      }),
    patience,
  );

  test.concurrent(
    "in its place, with stdout and stderr in one pipe that is read in small pieces",
    () =>
      shell('("$@" 2>&1) | (sleep 1; dd bs=100 status=none)', longTeam, ({ stdout }) => {
        expect(stdout.includes(long.trim())).toBe(true);
        expect(lastLine(stdout)).toStartWith("total spent: ");
      }),
    patience,
  );

  test.concurrent(
    "into a file",
    () =>
      shell(
        '"$@" > "$HOME/out"; code=$?; cat "$HOME/out"; exit $code',
        { ...longTeam, args: ["--json"] },
        ({ code, stdout, directory }) => {
          expect(code).toBe(0);
          expect(stdout).toBe(readFileSync(join(directory, "result.json"), "utf8"));
        },
      ),
    patience,
  );
});

describe("a stdout that goes away", () => {
  for (const [mode, args] of [
    ["text", []],
    ["--json", ["--json"]],
    ["--events", ["--events"]],
  ] as const) {
    test.concurrent(
      `| head -1 with ${mode} is no error: the run goes on, and its files are whole`,
      () =>
        shell('set -o pipefail; "$@" | head -n 1 > "$HOME/out"', { ...longTeam, args: [...args] }, ({ code, stderr, directory }) => {
          expect(code).toBe(0);
          expect(resultOf(directory)).toMatchObject({ exit_code: 0, decision: { kind: "consensus" } });
          expect(readFileSync(join(directory, "synthesis/final_answer.md"), "utf8").includes(long.trim())).toBe(true);
          expect(lastLine(stderr)).toStartWith("total spent: ");
        }),
      patience,
    );

    test.concurrent(
      `> /dev/full with ${mode}: exit 7, said with words, and the files are whole`,
      () =>
        shell('"$@" > /dev/full', { ...team, args: [...args] }, ({ code, stderr, directory }) => {
          expect(code).toBe(7);
          expect(stderr).toContain("mg-team: the result could not be written: ");
          expect(resultOf(directory)).toMatchObject({ decision: { kind: "consensus" }, answer: "An answer, number 1" });
        }),
      patience,
    );
  }

  test.concurrent(
    "a stdout that is closed from the start: the files are whole",
    () =>
      shell('"$@" >&-', team, ({ directory }) => {
        expect(resultOf(directory).decision.kind).toBe("consensus");
      }),
    patience,
  );

  test.concurrent(
    "a stderr that goes away, or is full, or is closed, is no error",
    async () => {
      for (const line of ['"$@" 2> /dev/full', '"$@" 2> >(head -n 1 > /dev/null)', '"$@" 2>&-']) {
        await shell(line, team, ({ code, stdout, directory }) => {
          expect({ line, code }).toEqual({ line, code: 0 });
          expect(stdout).toContain("An answer, number 1");
          expect(resultOf(directory).exit_code).toBe(0);
        });
      }
    },
    patience,
  );
});

describe("what stderr tells", () => {
  test.concurrent(
    "plain lines with the time: agents, rounds, steps, votes, decision, where the answer is, and the total spent at the end",
    async () => {
      const { stderr, result } = await playRun({ plays: { a: agree, b: "answer, vote b, vote a", c: "answer, answer after b, vote a" } });
      const lines = stderr.trimEnd().split("\n");
      const inOrder = [
        /models: grok\/model-a, grok\/model-b, grok\/model-c \(from --models\)$/,
        /^\[ +\d+s\] 3 agents: agent_a is grok\/model-a, agent_b is grok\/model-b, and agent_c is grok\/model-c$/,
        /\] files: .*\.massgen-quality\/sessions\/team_\d{8}_\d{6}$/,
        /\] round 1: agent_a, agent_b, and agent_c work$/,
        /\] agent_.: answered after \d+(\.\d)?s, \$0\.01$/,
        /\] round 2: agent_a, agent_b, and agent_c work$/,
        /\] agent_b: voted for itself after .*, \$0\.01$/,
        /\] agent_a's vote for agent_a is stale: agent_c has a newer answer/,
        /\] round 3: /,
        /\] agent_b: voted for agent_a after /,
        /\] votes: agent_a \(grok\/model-a\) 3$/,
        /\] decision: consensus for agent_a \(grok\/model-a\)\. 3 of 3 agents/,
        /^answer: .*synthesis\/final_answer\.md$/,
        /^total spent: \$0\.09 in \d+(\.\d)?s$/,
      ];
      let at = 0;
      for (const pattern of inOrder) {
        const found = lines.findIndex((line, index) => index >= at && pattern.test(line));
        expect(`${pattern} ${found >= 0}`).toBe(`${pattern} true`);
        at = found + 1;
      }
      expect(result.warnings.filter((warning) => !warning.includes("ballot"))).toEqual([]);
    },
    patience,
  );

  test.concurrent(
    "--quiet: nothing but warnings and errors",
    () =>
      shell('"$@"', { ...team, args: ["--quiet"] }, ({ code, stdout, stderr }) => {
        expect(code).toBe(0);
        expect(stdout).toContain("An answer, number 1");
        expect(stderr.split("\n").filter((line) => line !== "" && !/warning/.test(line))).toEqual([]);
      }),
    patience,
  );

  test.concurrent(
    "--quiet: a run without an answer still says why",
    () =>
      shell('"$@"', { plays: { a: "fail auth", b: "fail auth" }, args: ["--quiet"] }, ({ code, stderr }) => {
        expect(code).toBe(5);
        expect(stderr).toContain("no answer: ");
        expect(stderr).toContain("auth: 401");
      }),
    patience,
  );

  test.concurrent(
    "escape sequences of an agent reach no terminal through stderr",
    async () => {
      const evil = "\u001b]0;owned\u0007\u001b[2J";
      const { stderr } = await playRun({
        plays: { a: [{ fail: { stderr: `Error: ${evil}broken` } }], b: ["answer", { vote: { target: `${evil}x`, reason: evil } }] },
        args: ["--max-rounds", "2"],
      });
      expect(stderr).not.toMatch(/[\u0007\u001b]/);
      expect(stderr).toContain("broken");
    },
    patience,
  );
});
