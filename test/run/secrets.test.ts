import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunResult } from "../../src/session/result.ts";
import { filesBelow, isTheirs } from "../support/run-rules.ts";
import { argumentsOf, createRunProject, inTurn, onlyRun, patience, playRun, type RunSpec, runHere } from "../support/runs.ts";

// Values of keys are never printed, logged or stored, wherever they come from and whoever blurts them out. checkRun looks at every run.

const xai = "xai-test-0000000000000000000xai";
const agree = "answer, vote a";
const names = ["XAI_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];

describe("a key that a child prints", () => {
  test.concurrent(
    "on both streams is not in its logs, nor in any event",
    async () => {
      const blurts = { process: { printEnv: names }, answer: { text: "x", workspace: false } };
      await playRun({ plays: { a: [blurts, "vote a"], b: agree } }, ({ directory }) => {
        const logs = ["stdout.log", "stderr.log"].map((name) => readFileSync(join(directory.runs, "agent_a/r1", name), "utf8"));
        for (const log of logs) {
          expect(log).toContain("using ");
          expect(log).not.toContain(xai);
        }
      });
    },
    patience,
  );

  test.concurrent(
    "in the error that ends its step is not in the failure's message",
    async () => {
      const stderr = `Error code: 401 - {'error': {'message': 'Incorrect API key provided: ${xai}. Find yours.', 'code': 'invalid_api_key'}}`;
      const { result, stderr: said } = await playRun({ plays: { a: [{ fail: { stderr } }], b: "answer" } });
      expect(result.agents[0]?.failure).toMatchObject({ class: "auth", message: expect.stringContaining("Incorrect API key provided: ") });
      expect(said).toContain("Incorrect API key provided: ");
    },
    patience,
  );

  test.concurrent(
    "in the reason of its vote, and in an event, is in no ballot",
    async () => {
      const vote = { target: "agent_a", reason: `My key is ${xai}` };
      const events = [
        { event_type: "text", data: { content: `thinking about ${xai}` } },
        { event_type: "tool_start", data: { tool_name: `tool_${xai}` } },
      ];
      const { result } = await playRun({ plays: { a: agree, b: ["answer", { vote, events }] } });
      expect(result.decision.ballots[1]?.reason).toStartWith("My key is ");
    },
    patience,
  );

  test.concurrent(
    "as the target of its vote is in no journal and no result",
    async () => {
      await playRun({ plays: { a: agree, b: ["answer", { vote: xai }, "vote a"] } });
    },
    patience,
  );
});

describe("a key in the environment", () => {
  test.concurrent(
    "reaches the children through theirs, and shows in no argument of any process",
    () =>
      inTurn(async () => {
        const spec: RunSpec = { plays: { a: [{ answer: "x", before: { announce: "runs", file: "go" } }], b: "fail auth" } };
        await using project = createRunProject(spec);
        const run = project.start(argumentsOf(spec));
        await project.untilAnnounced("runs");
        const titles = readdirSync("/proc").flatMap((pid) => (/^\d+$/.test(pid) ? [commandOf(pid)] : []));
        expect(titles.some((title) => title.includes("--session-dir"))).toBe(true);
        for (const value of Object.values(project.env).filter((text) => /test-0{9}/.test(text))) {
          expect(titles.filter((title) => title.includes(value))).toEqual([]);
        }
        project.signal("go");
        expect((await run.result).code).toBe(0);
        for (const { env, argv } of project.launches("step")) {
          expect(env.XAI_API_KEY).toBe(xai);
          expect(argv.join(" ")).not.toContain(xai);
        }
      }),
    patience,
  );
});

describe("a key in a file", () => {
  const secret = "xai-from-a-file-1234567890abcdef";
  for (const path of [".env", "configs/.env"]) {
    test.concurrent(
      `${path} reaches the children, and is in nothing else`,
      () =>
        inTurn(async () => {
          const blurts = { process: { printEnv: ["XAI_API_KEY"] }, answer: { text: "x", workspace: false } };
          const spec: RunSpec = {
            plays: { a: [blurts], b: [{ fail: { stderr: `Error code: 401 - invalid key ${secret}` } }] },
            files: { [path]: `XAI_API_KEY=${secret}\nPATH=/nowhere\nBUN_OPTIONS=--print=1\nMG_TEAM_MAX_ROUNDS=1\n` },
            env: { XAI_API_KEY: "" },
            args: ["--retries", "0"],
          };
          await using project = createRunProject(spec);
          const { code, stdout, stderr } = await runHere(project, argumentsOf(spec));
          expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
          const steps = project.launches("step");
          expect(steps.map(({ env }) => env.XAI_API_KEY)).toEqual([secret, secret]);
          expect(
            steps.every(({ env }) => env.PATH !== "/nowhere" && env.BUN_OPTIONS === undefined && env.MG_TEAM_MAX_ROUNDS === undefined),
          ).toBe(true);
          const { root } = onlyRun(project);
          const texts = filesBelow(root, isTheirs).map((name) => readFileSync(join(root, name), "utf8"));
          for (const text of [...texts, stdout, stderr]) expect(text.includes(secret)).toBe(false);
        }),
      patience,
    );
  }
});

describe("a key in an answer", () => {
  test.concurrent(
    "is told as a finding without its value; what the agent wrote is delivered as it is (checks fix nothing)",
    () =>
      inTurn(async () => {
        const answer = { text: "Look at config.js", files: { "config.js": `export const key = "${xai}";\n` } };
        const spec: RunSpec = { plays: { a: [{ answer }], b: "fail auth" }, args: ["--json"] };
        await using project = createRunProject(spec);
        const { code, stdout, stderr } = await project.cli(argumentsOf(spec));
        expect(code).toBe(0);
        const result: RunResult = JSON.parse(stdout);
        expect(result.checks).toMatchObject([{ file: "config.js", line: 1, check: "secret" }]);
        const directory = onlyRun(project);
        expect(readFileSync(join(directory.deliverable, "config.js"), "utf8")).toContain(xai);
        for (const text of [stdout, stderr, readFileSync(directory.journal, "utf8"), readFileSync(directory.finalAnswer, "utf8")]) {
          expect(text.includes(xai)).toBe(false);
        }
      }),
    patience,
  );
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
