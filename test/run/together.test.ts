import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isLocked } from "../../src/session/lock.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { argumentsOf, createRunProject, inTurn, patience } from "../support/runs.ts";
import { until } from "../support/temp.ts";

// Runs of the same project at the same time: each has its own directory, and none takes the other for dead.

const waits: FakeStep = { answer: "first", before: { announce: "waits", file: "go" } };

test.concurrent(
  "a second run in the same project leaves the first one's steps alone, and both end well",
  () =>
    inTurn(async () => {
      const spec = {
        script: { rules: [{ when: { query: "^slow$" }, step: waits }] },
        args: ["--json"],
      };
      await using project = createRunProject(spec);
      const slow = project.start(
        argumentsOf({ ...spec, models: ["grok/model-a", "grok/model-b"], query: "slow", args: ["--json", "--max-rounds", "1"] }),
      );
      await project.untilAnnounced("waits");
      const quick = await project.cli(argumentsOf({ ...spec, query: "quick" }));
      expect(quick.code).toBe(0);
      project.signal("go");
      const ended = await slow.result;
      expect(ended.code).toBe(0);
      const results = [quick, ended].map(({ stdout }): RunResult => JSON.parse(stdout));
      expect(results.map(({ query, decision }) => [query, decision.kind, decision.reason])).toEqual([
        ["quick", "consensus", "majority"],
        ["slow", "forced", "max_rounds"],
      ]);
      for (const { agents, session_dir: directory } of results) {
        expect(agents.map(({ failure }) => failure)).toEqual([null, null]);
        expect(existsSync(join(directory, "events.jsonl"))).toBe(true);
      }
      expect(new Set(results.map(({ session_id: id }) => id)).size).toBe(2);
    }),
  patience,
);

test.concurrent(
  "four runs started at once share no directory",
  () =>
    inTurn(async () => {
      const spec = { plays: { a: "answer", b: "answer" }, args: ["--json", "--max-rounds", "1"] };
      await using project = createRunProject(spec);
      const runs = await Promise.all(["1", "2", "3", "4"].map((query) => project.cli(argumentsOf({ ...spec, query }))));
      expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      const results = runs.map(({ stdout }): RunResult => JSON.parse(stdout));
      expect(results.map(({ query }) => query)).toEqual(["1", "2", "3", "4"]);
      const ids = readdirSync(join(project.directory, ".massgen-quality/sessions")).sort();
      expect(results.map(({ session_id: id }) => id).sort()).toEqual(ids);
      for (const { session_dir: directory, query } of results) {
        expect(JSON.parse(readFileSync(join(directory, "config.json"), "utf8")).query).toBe(query);
      }
    }),
  patience,
);

test.concurrent(
  "a run is locked from its first moment to its last, and free afterwards",
  () =>
    inTurn(async () => {
      const spec = { plays: { a: [waits], b: "answer" }, args: ["--json", "--max-rounds", "1"] };
      await using project = createRunProject(spec);
      const run = project.start(argumentsOf(spec));
      await project.untilAnnounced("waits");
      const sessions = join(project.directory, ".massgen-quality/sessions");
      const directory = join(sessions, readdirSync(sessions)[0] ?? "");
      expect(isLocked(directory)).toBe(true);
      project.signal("go");
      await until(() => existsSync(join(directory, "result.json")) || !isLocked(directory), "the result");
      expect(existsSync(join(directory, "result.json"))).toBe(true);
      await run.result;
      expect(isLocked(directory)).toBe(false);
    }),
  patience,
);
