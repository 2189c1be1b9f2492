import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { type ReportedRun, reportRun } from "../../src/commands/write-report.ts";
import { teamDirectory } from "../../src/session/directory.ts";
import { argumentsOf, createRunProject, onlyRun, patience, playRun, type RunSpec, runHere } from "../support/runs.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { textOf } from "../view/report/support.ts";

const agree = { a: "answer The winning words, vote a", b: "answer, vote a" };

/** Everything that may differ between two reports of one run. */
const undated = (page: string) => page.replace(/on \d+ \w+ \d{4}, \d\d:\d\d \S+?\./, "");

async function inProject<T>(
  spec: RunSpec,
  use: (run: {
    readonly stderr: string;
    readonly code: number;
    command(...args: string[]): ReturnType<typeof runHere>;
    readonly root: string;
  }) => Promise<T>,
): Promise<T> {
  await using project = createRunProject(spec);
  const { code, stderr } = await runHere(project, argumentsOf(spec), spec.onEvent);
  const { root } = onlyRun(project, stderr);
  return await use({ code, stderr, root, command: (...args) => runHere(project, args) });
}

describe("at the end of a run", () => {
  test(
    "the report is there, for its owner only, and the summary names it before the total",
    async () => {
      await playRun({ plays: agree }, ({ directory, stderr, project }) => {
        const page = readFileSync(directory.report, "utf8");
        expect(textOf(page)).toContain("The winning words");
        expect(textOf(page)).not.toContain("cannot be used");
        expect(statSync(directory.report).mode & 0o777).toBe(0o600);
        const lines = stderr.trimEnd().split("\n");
        expect(lines.at(-1)).toStartWith("total spent");
        expect(lines.find((line) => line.startsWith("report: "))).toEndWith(relative(project.directory, directory.report));
      });
    },
    patience,
  );

  test(
    "there is none with --no-report, nor with report: false",
    async () => {
      for (const off of [{ args: ["--no-report"] }, { yaml: "report: false\n" }] satisfies RunSpec[]) {
        await playRun({ plays: agree, ...off }, ({ directory, stderr }) => {
          expect(existsSync(directory.report)).toBe(false);
          expect(stderr).not.toContain("report:");
        });
      }
    },
    patience,
  );

  test(
    "a report that cannot be written is a warning that says how to make up for it",
    async () => {
      const blocked: RunSpec = {
        plays: agree,
        onEvent: (event, { project }) => {
          if (event.type === "decision") mkdirSync(join(onlyRun(project).report, "in the way"), { recursive: true });
        },
      };
      await inProject(blocked, async ({ code, stderr, root, command }) => {
        expect(code).toBe(0);
        expect(stderr).toContain("warning: there is no report");
        rmSync(join(root, "report.html"), { recursive: true });
        expect((await command("report")).code).toBe(0);
        expect(existsSync(join(root, "report.html"))).toBe(true);
      });
    },
    patience,
  );

  test.if(process.getuid?.() === 0)(
    "a full disk ends in exit 7, also in result.json",
    async () => {
      await using small = temporaryDirectory();
      Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", small.path], { env: process.env });
      try {
        await playRun({ plays: agree }, async ({ directory, result }) => {
          const warnings: string[] = [];
          const run: ReportedRun = {
            directory: { ...directory, report: small.join("report.html") },
            redact: (text) => text,
            clock: systemClock,
            warn: (message) => void warnings.push(message),
          };
          expect(await reportRun(result, run)).toBeNull();
          expect(warnings.join()).toContain("the disk is full");
          expect(JSON.parse(readFileSync(directory.result, "utf8")).exit_code).toBe(7);
          result.exit_code = 0;
          await Bun.write(directory.result, JSON.stringify(result)); // as the run left it
        });
      } finally {
        Bun.spawnSync(["umount", small.path], { env: process.env });
      }
    },
    patience,
  );

  test(
    "an interrupted run has one too",
    async () => {
      const interrupted: RunSpec = {
        plays: { a: ["answer The kept words", { before: { forever: true } }], b: ["answer", { before: { forever: true } }] },
        onEvent: (event, { kill }) => {
          if (event.type === "step.started" && event.round === 2 && event.agent === "agent_b") kill("SIGINT");
        },
      };
      await inProject(interrupted, async ({ code, root }) => {
        expect(code).toBe(130);
        const text = textOf(readFileSync(join(root, "report.html"), "utf8"));
        expect(text).toContain("because the run was interrupted");
        expect(text).toContain("The kept words");
      });
    },
    patience,
  );
});

describe("mg-team report", () => {
  test(
    "makes the same page again, and prints nothing but its path",
    async () => {
      await inProject({ plays: agree }, async ({ root, command }) => {
        const path = join(root, "report.html");
        const first = readFileSync(path, "utf8");
        rmSync(path);
        const { code, stdout } = await command("report");
        expect({ code, stdout }).toEqual({ code: 0, stdout: `${path}\n` });
        expect(undated(readFileSync(path, "utf8"))).toBe(undated(first));
        const { id } = teamDirectory(root);
        expect(JSON.parse((await command("report", id, "--json")).stdout)).toEqual({ version: 1, session_id: id, report: path });
      });
    },
    patience,
  );

  test(
    "tells of a run that crashed before its result",
    async () => {
      await inProject({ plays: agree }, async ({ root, command }) => {
        rmSync(join(root, "result.json"));
        expect((await command("report")).code).toBe(0);
        expect(textOf(readFileSync(join(root, "report.html"), "utf8"))).toContain("mg-team ended before it could write it");
      });
    },
    patience,
  );

  test(
    "works where the run was moved to, and its links stay inside",
    async () => {
      const plays = {
        a: [{ answer: { text: "with files", files: { "a b#c.html": "<p>" } } }, "vote a"],
        b: "answer, vote a",
        c: "fail traceback",
      };
      await inProject({ plays }, async ({ root, command }) => {
        await using temp = temporaryDirectory("elsewhere and with spaces");
        cpSync(root, temp.path, { recursive: true });
        const { code, stdout } = await command("report", temp.path);
        expect({ code, stdout }).toEqual({ code: 0, stdout: `${temp.join("report.html")}\n` });
        const links = [...readFileSync(temp.join("report.html"), "utf8").matchAll(/href="([^"#:]+)"/g)].map(([, href = ""]) =>
          decodeURIComponent(href),
        );
        expect(links.length).toBeGreaterThan(5);
        expect(links.filter((href) => !existsSync(temp.join(href)))).toEqual([]);
      });
    },
    patience,
  );

  test(
    "keeps keys out, whoever wrote them down",
    async () => {
      const key = "xai-test-0000000000000000000xai";
      await inProject({ plays: { a: `answer my key is ${key}, vote a`, b: "answer, vote a" } }, async ({ root, command }) => {
        expect(readFileSync(join(root, "report.html"), "utf8")).not.toContain(key);
        await command("report");
        expect(readFileSync(join(root, "report.html"), "utf8")).not.toContain(key);
      });
    },
    patience,
  );

  test("refuses what mg-team did not run, and says what shows it", async () => {
    await using project = createRunProject({});
    project.temp.write("project/.massgen-quality/sessions/team_20260101_000000/config.json", '{"session_id":"x"}');
    const { code, stderr } = await runHere(project, ["report"]);
    expect(code).toBe(2);
    expect(stderr).toContain("mg-team status");
  });
});
