import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cookieVariable } from "../../src/process/environment.ts";
import { findMarked } from "../../src/process/processes.ts";
import { teamDirectory } from "../../src/session/directory.ts";
import type { RunResult } from "../../src/session/result.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temp.ts";

// The first thing that anybody types: it must work in a bare place, without keys, network and MassGen.

const root = resolve(import.meta.dir, "../..");
const fromSource = [process.execPath, "--no-env-file", "--config=/dev/null", join(root, "src/cli.ts")];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(command: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = Bun.spawn([...command], { cwd, env: { ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [code, stdout, stderr] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code, stdout, stderr };
}

function onlyTeam(directory: string) {
  const sessions = join(directory, ".massgen-quality/sessions");
  const [name = "", ...more] = readdirSync(sessions);
  expect(more).toEqual([]);
  return teamDirectory(join(sessions, name));
}

function checkDemo({ code, stdout, stderr }: Ended, directory: string): void {
  expect(code).toBe(0);
  expect(stdout).toContain("# Tip calculator");
  const team = onlyTeam(directory);
  const result: RunResult = JSON.parse(readFileSync(team.result, "utf8"));
  expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b", tally: { agent_b: 3 } });
  expect(result.rounds).toBe(3);
  expect(result.synthesis.kind).toBe("agent");
  expect(result.cost).toMatchObject({ total_usd: 0, known: "all" });
  expect(result.checks).toEqual([]);
  expect(result.warnings).toEqual([]);
  // A vote was overtaken, and its voter launched again.
  const events = readFileSync(team.journal, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const standings = events
    .filter(({ type }) => type === "ballots")
    .map(({ ballots }) => ballots.map((ballot: { standing: string }) => ballot.standing));
  expect(standings).toEqual([[], ["stale", "stale"], ["valid", "valid", "valid"]]);
  expect(readdirSync(team.deliverable).sort()).toEqual(["README.md", "index.html"]);
  expect(readFileSync(join(team.deliverable, "index.html"), "utf8")).toContain("prefers-color-scheme");
  for (const words of [
    "No key, no network, no cost",
    "round 2",
    "stale: it does not count",
    "consensus for agent_b",
    "total spent: $0.00",
    "mg-team status",
  ]) {
    expect(stderr).toContain(words);
  }
  expect(findMarked(cookieVariable, new Set([team.cookie]))).toEqual([]);
}

describe("mg-team demo", () => {
  test("tries a plugin at no cost, and names one that is not there", async () => {
    await using temp = temporaryDirectory();
    temp.write(
      "winner.ts",
      'import { definePlugin } from "mg-team"; export default definePlugin({ name: "winner", apply(team) { team.hooks.onFinish.tap("winner", (result) => { result.plugins.winner = result.decision.winner; }); } });',
    );
    const { code, stdout } = await run([...fromSource, "demo", "--json", "--no-report", "--plugin", "./winner.ts"], temp.path);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).plugins.winner).toBe("agent_b");
    const missing = await run([...fromSource, "demo", "--plugin", "./winer.ts"], temp.path);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('--plugin: there is no file "./winer.ts"');
  });

  test("from source, with an empty environment, in an empty directory", async () => {
    await using temp = temporaryDirectory("a place");
    checkDemo(await run([...fromSource, "demo", "--no-report"], temp.path), temp.path);
    expect(readdirSync(temp.path)).toEqual([".massgen-quality"]);
  }, 60_000);

  test("with --json prints the result and nothing else on stdout; --quiet leaves only what matters on stderr", async () => {
    await using temp = temporaryDirectory();
    const { code, stdout, stderr } = await run([...fromSource, "demo", "--json", "--quiet", "--no-report"], temp.path);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, exit_code: 0, decision: { kind: "consensus" } });
    expect(stderr).toBe("");
  }, 60_000);

  test("where nothing can be written goes to a temporary directory, and says which", async () => {
    if (process.getuid?.() === 0) return; // root may write anywhere
    await using temp = temporaryDirectory();
    chmodSync(temp.path, 0o500);
    const { code, stderr } = await run([...fromSource, "demo"], temp.path, { TMPDIR: temp.path });
    expect(code).toBe(3);
    expect(stderr).toContain("can be written");
  }, 60_000);
});

describe("the compiled binary", () => {
  let build: TemporaryDirectory | null = null;
  const binary = () => build?.join("mg-team") ?? "";

  beforeAll(() => {
    build = temporaryDirectory();
    // As build.ts does, to a place of our own.
    const flags = [
      "--compile",
      "--minify",
      "--bytecode",
      "--format=esm",
      "--no-compile-autoload-dotenv",
      "--no-compile-autoload-bunfig",
      "--compile-autoload-package-json",
    ];
    const built = Bun.spawnSync(
      [process.execPath, "build", ...flags, "--define", 'process.env.NODE_ENV="production"', "src/cli.ts", "--outfile", binary()],
      { cwd: root },
    );
    if (!built.success) throw new Error(built.stderr.toString());
  }, 60_000);

  afterAll(() => build?.[Symbol.asyncDispose]());

  test("shows the demonstration in an empty directory with an empty environment", async () => {
    await using temp = temporaryDirectory();
    checkDemo(await run([binary(), "demo"], temp.path), temp.path);
    expect(existsSync(onlyTeam(temp.path).report)).toBe(true);
  }, 60_000);

  test("starts itself for its steps, whatever Bun reads from directory and environment", async () => {
    await using temp = temporaryDirectory();
    temp.write("bunfig.toml", 'preload = ["./evil.ts"]\n');
    temp.write("evil.ts", 'require("node:fs").writeFileSync("evil.txt", "");\n');
    temp.write(".env", "BUN_BE_BUN=1\n");
    temp.write("tsconfig.json", "{ broken");
    checkDemo(await run([binary(), "demo", "--no-report"], temp.path, { BUN_CONFIG_VERBOSE_FETCH: "curl" }), temp.path);
    expect(existsSync(temp.join("evil.txt"))).toBe(false);
  }, 60_000);

  test("stays below 100 MB in a step that talks to a provider", async () => {
    const { startModelServer } = await import("../massgen/models/server.ts");
    await using temp = temporaryDirectory();
    await using models = startModelServer({ m: [{ write: { "a.txt": "x".repeat(100_000) } }, { answer: "Done" }] });
    const peak = async (type: string) => {
      const config = temp.write(
        `${type}.yaml`,
        `agent: { id: ${type}, backend: { type: ${type}, model: m, base_url: "${models.baseUrl}" } }\n`,
      );
      const argv = [binary(), "step", "--session-dir", temp.join("session"), "--config", config, "--stream-events", "Make a file"];
      const child = Bun.spawn(argv, {
        cwd: temp.path,
        env: { OPENAI_API_KEY: "k", XAI_API_KEY: "k" },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      });
      expect(await child.exited).toBe(0);
      return (child.resourceUsage()?.maxRSS ?? Number.POSITIVE_INFINITY) / 1024 ** 2;
    };
    for (const type of ["openai", "grok", "vllm"]) expect(await peak(type)).toBeLessThan(100);
  }, 60_000);
});
