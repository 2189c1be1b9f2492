import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cachePath, fingerprintOf } from "../../src/engine/massgen/probe-cache.ts";
import { argumentsOf, createRunProject, inTurn, type KeptRun, patience, runHere } from "../support/runs.ts";
import type { Story } from "../support/story.ts";
import { tell } from "../support/story.ts";

// `ballot_fix` in whole runs: what is put in place, and what journal, result, document and report say of it. The fake says what the repair
// would say; the repair itself is in test/massgen/ballot and test/e2e/ballot.slow.test.ts.

const plays = { a: "answer, vote b", b: "answer, vote b" };
const ends = "consensus majority b, exit 0";
const repaired = "MassGen's ballot was repaired";
const notRepaired = "MassGen's ballot was not repaired";

/** What a run says of the repair, in every place. */
function said({ result, events, directory, launches }: KeptRun) {
  const first = events[0];
  const document = readFileSync(directory.finalAnswer, "utf8");
  const steps = launches.filter(({ kind }) => kind === "step");
  return {
    started: first?.type === "run.started" ? first.engine.ballot_fix : null,
    result: result.engine.ballot_fix,
    document: document.includes(repaired) ? "on" : document.includes(notRepaired) ? "off" : "nothing",
    report: /Ballot repair<\/dt><dd>(\w+)/.exec(readFileSync(join(directory.root, "report.html"), "utf8"))?.[1],
    steps: [...new Set(steps.map(({ env }) => (env.PYTHONPATH?.startsWith(join(directory.root, "ballot")) ? "on" : "off")))].join(),
    others: launches.filter(({ kind, env }) => kind !== "step" && env.PYTHONPATH?.includes(directory.root)).length,
    shown: events.flatMap((event) => (event.type === "step.finished" && event.ballot ? [event.ballot] : [])),
  };
}

const on = { started: "on", result: "on", document: "on", report: "on", steps: "on", others: 0 };
const off = { started: "off", result: "off", document: "off", report: "off", steps: "off", others: 0, shown: [] };
const placedInVain = { started: "on", result: "off", document: "off", report: "off", steps: "on", others: 0 };

const story = (title: string, expected: object, more: Partial<Story> = {}): Story => ({
  title,
  plays,
  ends,
  ...more,
  look: async (run) => {
    expect(said(run)).toMatchObject(expected);
    await more.look?.(run);
  },
});

describe("ballot_fix", () => {
  tell([
    story("is on unless anybody says otherwise", on, {
      look: (run) => {
        // In the first round there may be nobody to vote for yet.
        expect(said(run).shown.slice(2)).toEqual(["applied", "applied"]);
        expect(run.result.warnings).toEqual([]);
        expect(readFileSync(join(run.directory.root, "ballot/sitecustomize.py"), "utf8")).toContain("mg-team ballot");
      },
    }),
    story("auto of mg-team.yaml is the same", on, { yaml: "massgen: { ballot_fix: auto }\n" }),
    story("off of mg-team.yaml puts nothing in place", off, {
      yaml: "massgen: { ballot_fix: off }\n",
      look: ({ directory, result }) => {
        expect(existsSync(join(directory.root, "ballot"))).toBe(false);
        expect(result.warnings).toEqual([]);
      },
    }),
    story("--no-ballot-fix wins over mg-team.yaml", off, { yaml: "massgen: { ballot_fix: on }\n", args: ["--no-ballot-fix"] }),
    story("of MG_TEAM_BALLOT_FIX wins over mg-team.yaml", on, {
      yaml: "massgen: { ballot_fix: off }\n",
      env: { MG_TEAM_BALLOT_FIX: "on" },
    }),
    story("keeps a PYTHONPATH of the user's own, behind", on, {
      env: { PYTHONPATH: "/mine" },
      look: ({ launches }) => {
        for (const { env } of launches.filter(({ kind }) => kind === "step")) expect(env.PYTHONPATH).toMatch(/ballot:\/mine$/);
      },
    }),
  ]);

  test.concurrent(
    "auto believes what doctor has found out about this MassGen, and on does not; a run asks nothing itself",
    () =>
      inTurn(async () => {
        await using project = createRunProject({ plays });
        const cache = project.temp.join("cache");
        Object.assign(project.env, { XDG_CACHE_HOME: cache });
        const dryRun = async (fix: string) => {
          const env = { ...project.env };
          project.env.MG_TEAM_BALLOT_FIX = fix;
          const { stdout } = await runHere(project, argumentsOf({ plays, args: ["--dry-run"] }));
          Object.assign(project.env, env);
          const { engine, steps } = JSON.parse(stdout);
          return { fix: engine.ballot_fix, variables: steps[0].added_variables.includes("PYTHONPATH"), argv: steps[0].command.slice(0, 1) };
        };
        const { argv } = await dryRun("auto");
        const options = { env: project.env, home: project.home, cacheDir: join(cache, "mg-team") };
        const { stamp } = fingerprintOf({ argv }, options);
        const known = { format: 1, need: "not_needed", stamp, at: Date.now() };
        writeFileSync(cachePath({ argv }, options.cacheDir, "ballot"), JSON.stringify(known));
        expect(await dryRun("auto")).toMatchObject({ fix: "off", variables: false });
        expect(await dryRun("on")).toMatchObject({ fix: "on", variables: true });
        // The one start of MassGen was for its options.
        expect(project.launches().map(({ kind }) => kind)).toEqual(["help"]);
        writeFileSync(cachePath({ argv }, options.cacheDir, "ballot"), JSON.stringify({ ...known, stamp: "another MassGen" }));
        expect(await dryRun("auto")).toMatchObject({ fix: "on", variables: true });
      }),
    patience,
  );
});

describe("a repair that is in place and does not take hold", () => {
  const warned = (words: RegExp) => ({
    look: ({ result, stderr }: KeptRun) => {
      expect(result.warnings).toEqual([expect.stringMatching(words)]);
      expect(stderr).toMatch(words);
    },
  });
  tell([
    story(
      "because MassGen's classes have other names: the run goes on, with a warning, and says that it was off",
      { ...placedInVain, shown: Array(4).fill("unexpected") },
      {
        script: { ballot: "unexpected code: massgen.orchestrator has no class Orchestrator" },
        ...warned(/is not what the repair of its ballot knows \(massgen\.orchestrator has no class Orchestrator\), so votes may miss/),
      },
    ),
    story(
      "because the launcher ignores PYTHONPATH: likewise",
      { ...placedInVain, shown: Array(4).fill("silent") },
      {
        script: { ballot: "silent" },
        ...warned(/was not read: its launcher ignores PYTHONPATH .*so votes may miss their targets/),
      },
    ),
    story(
      "because this MassGen is mended: it was off, and nothing is to be warned of",
      { ...placedInVain, shown: Array(4).fill("not_needed") },
      {
        script: { ballot: "not needed" },
        look: ({ result }) => expect(result.warnings).toEqual([]),
      },
    ),
  ]);
});
