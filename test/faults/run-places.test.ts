import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { argumentsOf, createRunProject, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { until } from "../support/temp.ts";
import { livingBy } from "./run-check.ts";

// Fault 20, what is not about names (test/run/places.test.ts) or files that change how programs start (test/run/binary.test.ts): places that cannot be
// written, or go away.

const pair: RunSpec = { plays: { a: "answer, vote a", b: "answer, vote a" } };
const hangs: FakeStep = { before: { announce: "hangs", forever: true } };

async function mount(...args: string[]): Promise<AsyncDisposable | null> {
  const path = args.at(-1) ?? "";
  if (Bun.spawnSync(["mount", ...args], { stderr: "ignore", env: process.env }).exitCode !== 0) return null;
  return { [Symbol.asyncDispose]: async () => void Bun.spawnSync(["umount", "-l", path], { env: process.env }) };
}

describe("nothing is started, and what is wrong is said, in a directory", () => {
  test(
    "on a disk that is read-only",
    async () => {
      await using project = createRunProject(pair);
      await using disk = await mount("-t", "tmpfs", "-o", "ro", "tmpfs", project.directory);
      if (disk === null) return; // only root may
      const { code, stderr, stdout } = await project.cli(argumentsOf({ ...pair, args: ["--json"] }));
      expect(code).toBe(3);
      expect(stderr).toContain("read-only");
      expect(JSON.parse(stdout)).toMatchObject({ version: 1, error: { code: "preflight" } });
      expect(project.launches("step")).toEqual([]);
    },
    patience,
  );

  test(
    "that is full",
    async () => {
      await using project = createRunProject(pair);
      await using disk = await mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", project.directory);
      if (disk === null) return;
      try {
        for (;;) writeFileSync(join(project.directory, "filler"), Buffer.alloc(4096), { flag: "a" });
      } catch {
        // It is full now.
      }
      const { code, stderr } = await project.cli(argumentsOf(pair));
      expect([3, 7]).toContain(code ?? -1);
      expect(stderr).toMatch(/MiB free|the disk is full/);
      expect(project.launches("step")).toEqual([]);
    },
    patience,
  );

  for (const name of [".massgen-quality", ".massgen-quality/sessions"]) {
    test(
      `where a file stands in the place of ${name}`,
      async () => {
        await using project = createRunProject(pair);
        if (name.includes("/")) mkdirSync(join(project.directory, ".massgen-quality"));
        writeFileSync(join(project.directory, name), "");
        const { code, stderr } = await project.cli(argumentsOf(pair));
        expect([3, 7]).toContain(code ?? -1);
        expect(stderr).toContain(name);
        expect(stderr).not.toContain("internal error");
        expect(project.launches("step")).toEqual([]);
      },
      patience,
    );
  }
});

describe("a directory that goes away in the middle of a round ends the run with exit 7, and nothing of it stays alive:", () => {
  const spec: RunSpec = { plays: { a: [hangs], b: [{ answer: "late", before: { file: "go" } }] } };
  const ways: readonly [string, (project: string, team: string) => void][] = [
    ["the project", (project) => rmSync(project, { recursive: true, force: true })],
    ["the team directory", (_project, team) => rmSync(team, { recursive: true, force: true })],
    ["the team directory, under another name", (_project, team) => renameSync(team, `${team}.moved`)],
  ];
  for (const [what, remove] of ways) {
    test(
      what,
      async () => {
        await using project = createRunProject(spec);
        const run = project.start(argumentsOf(spec));
        await project.untilAnnounced("hangs");
        await project.untilLaunched("agent_b");
        const { root } = onlyRun(project);
        remove(project.directory, root);
        project.signal("go");
        const { code, stderr } = await run.result;
        expect(code).toBe(7);
        expect(stderr).toContain("cannot write to the journal");
        expect(stderr).toContain("no such file or directory");
        expect(stderr).not.toContain("internal error");
        await until(() => livingBy(project.temp.path).length === 0, "the end of all processes");
        // What the steps, or we, made anew in its place is no success either.
        if (existsSync(join(root, "result.json"))) expect(JSON.parse(readFileSync(join(root, "result.json"), "utf8")).exit_code).toBe(7);
      },
      patience,
    );
  }
});

test(
  "a crashed run whose files were partly removed is refused with words, and does not keep a new one from running",
  async () => {
    const spec: RunSpec = { plays: { a: [hangs], b: "answer" } };
    await using project = createRunProject(spec);
    const run = project.start(argumentsOf(spec));
    await project.untilAnnounced("hangs");
    run.kill("SIGKILL");
    await run.result;
    const { root, config } = onlyRun(project);
    for (const name of readdirSync(root)) if (!name.startsWith(".")) rmSync(join(root, name), { recursive: true });
    const refused = await project.cli(["resume"]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(config.slice(config.lastIndexOf("team_")));
    project.script({ quiet: true });
    const { code, stderr } = await project.cli(argumentsOf({ ...spec, models: ["grok/model-a", "grok/model-b"] }));
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect(readFileSync(project.temp.join("fake/script.json.state/launches.jsonl"), "utf8")).toContain("--step");
    expect(livingBy(project.temp.path)).toEqual([]);
  },
  patience,
);
