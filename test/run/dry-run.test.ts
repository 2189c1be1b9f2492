import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { DryRun } from "../../src/commands/dry-run.ts";
import { filesBelow } from "../support/run-rules.ts";
import { argumentsOf, createRunProject, inTurn, patience, type RunSpec, runHere } from "../support/runs.ts";

// --dry-run: what would run, and nothing is started, spent or written.

const plays = { a: "answer", b: "answer", c: "answer" };

interface Dry {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Everything below the project and the home that was not there before. */
  readonly written: readonly string[];
  /** What of MassGen was started. */
  readonly started: readonly string[];
}

async function dryRun(spec: RunSpec, look: (dry: Dry) => void): Promise<void> {
  await inTurn(async () => {
    await using project = createRunProject(spec);
    const snapshot = () => [...filesBelow(project.directory), ...filesBelow(project.home)];
    const before = new Set(snapshot());
    const argv = argumentsOf({ ...spec, args: ["--dry-run", ...(spec.args ?? [])] }).filter((word) => word !== "--events");
    const ended = await runHere(project, argv);
    const started = project.launches().map(({ kind }) => kind);
    look({ ...ended, written: snapshot().filter((path) => !before.has(path)), started });
    expect(readdirSync(project.directory).filter((name) => name === ".massgen-quality")).toEqual([]);
  });
}

describe("--dry-run", () => {
  test.concurrent(
    "prints each agent's command, directory and the names of added variables, and starts and writes nothing",
    () =>
      dryRun({ plays, query: "Build a 'landing' page" }, ({ code, stdout, written, started }) => {
        expect(code).toBe(0);
        expect(written).toEqual([]);
        expect(started.filter((kind) => kind !== "help")).toEqual([]);
        expect(stdout).toStartWith("Nothing was started, and nothing was spent.");
        for (const letter of "abc") {
          const part = stdout.slice(stdout.indexOf(`agent_${letter}     grok/model-${letter}`));
          expect(part).toMatch(
            /^agent_. +grok\/model-.\n {2}command {3}\S*massgen --step --session-dir \/\S+\/session --config \/\S+\/configs\/agent_._step\.yaml /,
          );
          expect(part).toMatch(/\n {2}directory \/\S+\/runs\/agent_.\/r1\n {2}adds {6}.*PYTHONUNBUFFERED/);
        }
        expect(stdout).toContain(`-- "Build a 'landing' page"\n`);
      }),
    patience,
  );

  test.concurrent(
    "tells the most steps and seconds that the run can take",
    () =>
      dryRun({ plays, args: ["--max-rounds", "4", "--retries", "2", "--timeout", "10m", "--cost-budget", "2.50"] }, ({ stdout }) => {
        expect(stdout).toContain("36 steps (3 agents × 4 rounds, each with up to 2 retries)");
        expect(stdout).toContain("600 s (10m");
        expect(stdout).toContain("$2.50");
      }),
    patience,
  );

  test.concurrent(
    "--json: the same as data; a synthesis is one more step; without a budget there is no limit on money",
    () =>
      dryRun({ plays, args: ["--json", "--synthesis", "agent"] }, ({ code, stdout, written }) => {
        const dry: DryRun = JSON.parse(stdout);
        expect(code).toBe(0);
        expect(written).toEqual([]);
        expect(dry).toMatchObject({ version: 1, dry_run: true, synthesis: "agent", at_most: { steps: 31, seconds: 1800, usd: null } });
        for (const { command, cwd, added_variables: added } of dry.steps) {
          expect(isAbsolute(command[0] ?? "") && isAbsolute(cwd)).toBe(true);
          expect(command.at(-1)).toBe("Say hello");
          expect(added.every((name) => /^[A-Z0-9_]+$/.test(name))).toBe(true);
        }
      }),
    patience,
  );

  test.concurrent(
    "shows no value of a key, and no plugin acts",
    () => {
      const plugin = 'import { writeFileSync } from "node:fs";\nexport default { name: "x", apply() { writeFileSync("acted", ""); } };\n';
      return dryRun({ plays, args: ["--plugin", "./x.ts"], files: { "x.ts": plugin } }, ({ code, stdout, stderr, written }) => {
        expect(code).toBe(0);
        expect(written).toEqual([]);
        expect(`${stdout}${stderr}`).not.toMatch(/test-0{9}/);
      });
    },
    patience,
  );

  test.concurrent(
    "names the variable of a key that comes from a file",
    () =>
      dryRun({ plays, files: { ".env": "XAI_API_KEY=xai-from-a-file-1234567890abcdef\n" }, env: { XAI_API_KEY: "" } }, ({ stdout }) => {
        expect(stdout).toMatch(/\n {2}adds {6}.*XAI_API_KEY/);
        expect(stdout).not.toContain("1234567890abcdef");
      }),
    patience,
  );

  test.concurrent(
    "finds the same faults as a run would",
    () =>
      dryRun({ plays, args: ["--context", "./nowhere"] }, ({ code, stdout, written }) => {
        expect(code).toBe(2);
        expect(stdout).toBe("");
        expect(written).toEqual([]);
      }),
    patience,
  );

  test.concurrent(
    "criteria show in the commands, as an absolute path",
    () =>
      dryRun(
        {
          plays,
          args: ["--eval-criteria", "./c.json", "--context", "./docs"],
          files: { "c.json": '[{"text": "It works"}]', "docs/a.md": "x" },
        },
        ({ code, stdout }) => {
          expect(code).toBe(0);
          expect(stdout).toMatch(/--eval-criteria \/\S+\/c\.json/);
        },
      ),
    patience,
  );
});
