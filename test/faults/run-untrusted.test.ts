import { describe, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultLogCapBytes } from "../../src/process/tail.ts";
import type { TeamDirectory } from "../../src/session/directory.ts";
import { readJournal } from "../../src/session/journal.ts";
import type { RunResult } from "../../src/session/result.ts";
import type { TestProject } from "../support/project.ts";
import { filesBelow, isTheirs } from "../support/run-rules.ts";
import { argumentsOf, createRunProject, onlyRun, patience, type RunSpec } from "../support/runs.ts";
import { openTmux } from "../support/tmux.ts";
import { livingBy, tornFiles } from "./run-check.ts";
import { wrapSteps } from "./run-wrapper.ts";

// What steps leave is untrusted input, at a whole run: it never hangs, never leaves its directory, and ends as it should.

const isRoot = process.getuid?.() === 0;
const canary = "CANARY: what stands outside";

interface Untrusted {
  readonly project: TestProject;
  readonly directory: TeamDirectory;
  readonly result: RunResult;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const pair: RunSpec = { plays: { a: "answer, vote a", b: "answer, vote a" } };
const withFiles: RunSpec = {
  plays: { a: [{ answer: { text: "A page", files: { "index.html": "<p>A page" } } }, "vote a"], b: "answer, vote a" },
};

/**
 * Runs it with shell code after each step of agent_a: `$step` is the step's directory, `$outside` one that nobody may read or write.
 * Then looks whether anything of that is where it should not be.
 */
async function plays(spec: RunSpec, after: string, look: (run: Untrusted) => void): Promise<void> {
  await using project = createRunProject(spec);
  const outside = project.temp.join("outside");
  mkdirSync(join(outside, "agent_z/001"), { recursive: true });
  const files = {
    canary,
    "answer.json": JSON.stringify({ answer: canary }),
    "agent_z/001/answer.json": JSON.stringify({ answer: canary }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(outside, name), text);
  const facts = () =>
    Object.keys(files).map((name) => [name, statSync(join(outside, name)).mtimeMs, readFileSync(join(outside, name), "utf8")]);
  const before = facts();
  wrapSteps(project, "agent_a", { after: `step=$(ls -d "$session"/agents/agent_a/[0-9]* | tail -n 1); outside='${outside}'\n${after}` });
  const { code, signal, stdout, stderr } = await project.cli(argumentsOf(spec));
  expect(signal).toBeNull();
  const directory = onlyRun(project, stderr);
  expect(facts()).toEqual(before);
  for (const name of filesBelow(directory.root, isTheirs)) {
    const path = join(directory.root, name);
    if (!name.startsWith("session/") && lstatSync(path).isFile())
      expect([name, readFileSync(path, "utf8").includes(canary)]).toEqual([name, false]);
  }
  expect(stdout.includes(canary) || stderr.includes(canary)).toBe(false);
  expect(tornFiles(directory)).toEqual([]);
  expect(livingBy(project.temp.path)).toEqual([]);
  const result: RunResult = JSON.parse(readFileSync(directory.result, "utf8"));
  expect(result.exit_code as number | null).toBe(code);
  look({ project, directory, result, code, stdout, stderr });
}

const wins = ({ code, result, stderr }: Untrusted, winner = "agent_a") => {
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  expect(result.decision.winner).toBe(winner);
};

describe("agents that are none", () => {
  test(
    "directories beside the agents' with names that are paths, code, or bytes are no agents of the team",
    () =>
      plays(
        pair,
        `for name in '..%2f..%2fx' '__proto__' 'constructor' '-rf' 'agent1' '.hidden' "$(printf 'a\\nb')" "$(printf '\\033[2J')" "$(printf '\\377')" '…'; do
          mkdir -p "$session/agents/$name/001" && cp "$step"/*.json "$session/agents/$name/001/"
        done`,
        (run) => {
          wins(run);
          expect(run.result.agents.map(({ id }) => id)).toEqual(["agent_a", "agent_b"]);
          expect(Object.keys(run.result.decision.tally)).toEqual(["agent_a"]);
          expect(run.stderr).not.toContain("\u001b");
        },
      ),
    patience,
  );

  test(
    "thousands of them are not more than the journal takes: the run goes on",
    () =>
      plays(
        pair,
        `for number in $(seq 900); do mkdir -p "$session/agents/ghost_$number/001"; cp "$step"/*.json "$session/agents/ghost_$number/001/"; done`,
        ({ directory, ...run }) => {
          wins({ directory, ...run });
          const starts = readJournal(directory.journal).events.flatMap((event) => (event.type === "step.started" ? [event] : []));
          expect(starts.at(-1)?.launched_with.answers).toEqual({ agent_a: 1, agent_b: 1 });
        },
      ),
    patience,
  );

  for (const target of ["..%2f..%2fx", "../../../outside/agent_z", "/etc", "__proto__", "agent_z", "..", "agent_a/../agent_a"]) {
    test(
      `a vote for ${target} counts for nobody`,
      () =>
        plays(
          { plays: { a: [{ answer: { text: "x", workspace: false } }, "vote a"], b: ["answer", { vote: target }, "vote a"] } },
          `[ -L "$session/agents/agent_z" ] || ln -s "$outside/agent_z" "$session/agents/agent_z"`,
          (run) => {
            wins(run);
            expect(run.stderr).toMatch(/vote for .* is invalid/);
          },
        ),
      patience,
    );
  }
});

describe("links that lead out", () => {
  test(
    "a step directory that is a link is no step",
    () =>
      plays({ ...pair, args: ["--retries", "0"] }, `mv "$step" "$step.real"; ln -s "$outside" "$step"`, (run) => {
        wins(run, "agent_b");
        expect(run.result.agents[0]?.failure?.class).toBe("no_action");
      }),
    patience,
  );

  test(
    "an answer.json that is a link is garbled",
    () =>
      plays({ ...pair, args: ["--retries", "0"] }, `ln -sf "$outside/answer.json" "$step/answer.json"`, (run) => {
        wins(run, "agent_b");
        expect(run.result.agents[0]?.failure).toMatchObject({ class: "garbled", message: expect.stringContaining("link") });
      }),
    patience,
  );

  test(
    "a workspace that is a link is not delivered",
    () =>
      plays(withFiles, `rm -rf "$step/workspace"; ln -s "$outside" "$step/workspace"`, (run) => {
        wins(run);
        expect(run.result.synthesis.deliverable).toBeNull();
        expect(existsSync(run.directory.deliverable)).toBe(false);
      }),
    patience,
  );

  test(
    "an agents directory that becomes a link: what was answered is gone, and that is said",
    () =>
      plays(pair, `[ -L "$session/agents" ] || { mv "$session/agents" "$session/moved"; ln -s "$outside" "$session/agents"; }`, (run) => {
        expect(run.code).not.toBe(0);
        expect(run.result.answer).toBeNull();
      }),
    patience,
  );

  test(
    "a log that becomes a link is neither read nor written",
    () =>
      plays(pair, `rm -f stdout.log stderr.log; ln -s "$outside/canary" stdout.log; ln -s "$outside/canary" stderr.log`, (run) =>
        wins(run),
      ),
    patience,
  );

  test(
    "costs behind links are not read",
    () =>
      plays(
        pair,
        `attempt=$(ls -d .massgen/massgen_logs/*/turn_1/attempt_1); printf '{"totals":{"estimated_cost":77,"input_tokens":1,"output_tokens":1}}' >../x.json
        ln -sf "$PWD/../x.json" "$attempt/metrics_summary.json"; ln -sf "$outside/canary" "$attempt/status.json"`,
        (run) => {
          wins(run);
          expect(run.result.cost.total_usd).toBeLessThan(1);
        },
      ),
    patience,
  );
});

describe("files that are none", () => {
  const device = isRoot ? "mknod" : "true";
  test(
    "pipes, sockets, devices, links in circles and files without end in a workspace are left out, and said",
    () =>
      plays(
        withFiles,
        `cd "$step/workspace" || exit; mkfifo pipe; ${device} zero c 1 5; ln -s "$outside/canary" out; ln -s circle circle; ln -s .. up
        truncate -s 10G sparse; printf x >"$(printf 'line\\nend\\033[2J')"; mkdir -p "$(printf 'd/%.0s' $(seq 80))"`,
        (run) => {
          wins(run);
          const left = run.result.warnings.join("\n");
          for (const word of [
            "pipe is not in the deliverable: it is a pipe",
            "out is not in the deliverable",
            "circle",
            "up ",
            "sparse",
            "deep",
          ]) {
            expect(left).toContain(word);
          }
          if (isRoot) expect(left).toContain("zero is not in the deliverable: it is a device");
          expect(readFileSync(join(run.directory.deliverable, "index.html"), "utf8")).toBe("<p>A page");
          expect(run.stderr).not.toContain("\u001b");
        },
      ),
    patience,
  );

  for (const [what, code, kind] of [
    ["a pipe", 'mkfifo "$step/answer.json"', /no regular file/],
    ["a device without end", isRoot ? 'mknod "$step/answer.json" c 1 5' : 'mkfifo "$step/answer.json"', /no regular file/],
    ["a directory", 'mkdir "$step/answer.json"', /no regular file/],
    ["10 GB long", 'truncate -s 10G "$step/answer.json"', /larger than 16 MiB/],
  ] as const) {
    test(
      `an answer.json that is ${what} fails its step`,
      () =>
        // A peer that reads a pipe waits for ever, until its own limit.
        plays(
          { ...pair, args: ["--retries", "0", "--step-timeout", "4"] },
          `rm -f "$step/answer.json"; ${code}`,
          ({ result, code: exit }) => {
            expect([0, 5]).toContain(exit ?? -1);
            expect(result.agents[0]?.failure).toMatchObject({ class: "garbled", message: expect.stringMatching(kind) });
          },
        ),
      patience,
    );
  }

  test(
    "a vote.json that is a pipe fails its step",
    () =>
      plays(
        { ...pair, args: ["--retries", "0"] },
        `[ -e "$step/vote.json" ] && { rm "$step/vote.json"; mkfifo "$step/vote.json"; }; true`,
        (run) => {
          expect(run.result.agents[0]?.failure?.class).toBe("garbled");
          expect(run.code).toBe(0);
        },
      ),
    patience,
  );

  test(
    "costs that are pipes, devices or huge are unknown",
    () =>
      plays(
        pair,
        `attempt=$(ls -d .massgen/massgen_logs/*/turn_1/attempt_1); rm "$attempt"/*.json; mkfifo "$attempt/status.json"; truncate -s 10G "$attempt/metrics_summary.json"`,
        (run) => {
          wins(run);
          expect(run.result.cost.known).toBe("partial");
        },
      ),
    patience,
  );
});

describe("files that go away", () => {
  test(
    "an answer that is removed after it was counted cannot win; the next best does, and that is said",
    () =>
      plays(pair, `[ "$(basename "$step")" = 002 ] && rm -rf "$session/agents/agent_a/001"; true`, (run) => {
        wins(run, "agent_b");
        expect(run.result.decision.rule).toContain("cannot be read any more");
        expect(run.stderr).toContain("the answer of agent_a in step 1 is not in");
      }),
    patience,
  );

  test(
    "a step that removes its own directory has acted all the same, at a cost that nobody knows",
    () =>
      plays(pair, `rm -rf "$PWD"`, (run) => {
        wins(run);
        expect(run.result.cost.known).toBe("partial");
      }),
    patience,
  );

  test(
    "a step that removes the session leaves a result that says so",
    () =>
      plays(pair, `rm -rf "$session"`, ({ code, result }) => {
        expect([0, 5]).toContain(code ?? -1);
        expect(result.agents[0]?.failure?.class).toBe("no_action");
      }),
    patience,
  );
});

describe("an answer with terminal escapes", () => {
  const evil = "Look: \u001b]0;owned\u0007\u001b[2J\u001b[31mred\u202e";
  const spec: RunSpec = {
    plays: { a: [{ answer: { text: evil, workspace: false } }, { vote: { target: "agent_a", reason: evil } }], b: "answer, vote a" },
  };

  test(
    "does nothing to a terminal, in the document either; --json and winner/ hold it as it is",
    async () => {
      await using project = createRunProject(spec);
      await using tmux = await openTmux({ columns: 100, rows: 30, cwd: project.directory, env: project.env });
      tmux.type(
        `mg-team ${argumentsOf(spec)
          .map((word) => `'${word}'`)
          .join(" ")
          .replace("'--events' ", "")}`,
      );
      await tmux.until((screen) => screen.includes("total spent: "));
      expect(tmux.output()).not.toContain("\u001b]0;owned");
      expect(tmux.output()).not.toContain("\u202e");
      expect(tmux.history()).toContain("Look: ");
      const { winner, finalAnswer, result } = onlyRun(project);
      expect(readFileSync(join(winner, "answer.md"), "utf8")).toBe(evil);
      expect(readFileSync(finalAnswer, "utf8")).not.toContain("\u001b");
      expect((JSON.parse(readFileSync(result, "utf8")) as RunResult).answer).toBe(evil);
      // Again, and other commands.
      const { id } = onlyRun(project);
      for (const command of ["resume", "status", "sessions", "show", `show ${id}`])
        tmux.type(`mg-team ${command}; echo "done: ${command}"`);
      await tmux.until((screen) => new RegExp(`^done: show ${id}$`, "m").test(screen));
      expect(tmux.output()).not.toContain("\u001b]0;owned");
    },
    patience,
  );
});

describe("text that is too much", () => {
  test(
    "a flood of 1 GB in a step leaves logs below their cap, with a mark, and the run ends as ever",
    async () => {
      await using project = createRunProject(pair);
      wrapSteps(project, "agent_a", {
        before: "[ -e flooded ] || { : >flooded; yes 'a line of the flood 0123456789' | head -c 1000000000; }",
      });
      const { code } = await project.cli(argumentsOf({ ...pair, args: ["--max-rounds", "2"] }));
      expect(code).toBe(0);
      const { runs, result } = onlyRun(project);
      const path = join(runs, "agent_a/r1/stdout.log");
      expect(statSync(path).size).toBeLessThanOrEqual(defaultLogCapBytes);
      expect(readFileSync(path, "latin1")).toContain("[mg-team: about ");
      expect(JSON.parse(readFileSync(result, "utf8"))).toMatchObject({ decision: { kind: "consensus" }, cost: { known: "all" } });
      expect(livingBy(project.temp.path)).toEqual([]);
    },
    patience,
  );
});
