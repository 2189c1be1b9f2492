import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FailureClass } from "../../src/types.ts";
import type { FakeStep } from "../fixtures/fake-massgen/script.ts";
import { patience, playRefusal, playRun } from "../support/runs.ts";
import { tell } from "../support/story.ts";

// Every class of failure, with a cause that people can act on, in the result, on stderr and in a log that exists.

interface Failure {
  readonly title: string;
  readonly step: FakeStep;
  readonly class: FailureClass;
  readonly says: RegExp;
  /** What the log holds. */
  readonly log: RegExp;
}

const failures: readonly Failure[] = [
  {
    title: "a wrong key",
    step: { fail: "auth" },
    class: "auth",
    says: /^401: Incorrect API key provided: xai-\*{4}\.; check XAI_API_KEY$/,
    log: /Error code: 401/,
  },
  { title: "no key", step: { fail: "no-key" }, class: "auth", says: /Grok API key not found/, log: /XAI_API_KEY/ },
  {
    title: "a limit of the provider",
    step: { fail: { cause: "quota", stderr: "Error code: 429 - {'error': {'message': 'Rate limit reached. Please try again in 1s.'}}" } },
    class: "quota",
    says: /^429: Rate limit reached/,
    log: /429/,
  },
  {
    title: "a model that does not exist",
    step: { fail: "model" },
    class: "model",
    says: /no-such-model.*check the model's name/,
    log: /404/,
  },
  { title: "a server error", step: { fail: "server" }, class: "model", says: /^500: The server had an error/, log: /Error code: 500/ },
  {
    title: "a config that MassGen refuses",
    step: { fail: "config" },
    class: "config",
    says: /Unknown backend type|Config validation failed/,
    log: /Unknown backend type/,
  },
  {
    title: "a broken installation",
    step: { fail: "traceback" },
    class: "config",
    says: /streamablehttp_client.*pip install "mcp<1\.28"/,
    log: /Traceback/,
  },
  { title: "MassGen's own time limit", step: { fail: "timeout" }, class: "timeout", says: /due to timeout/, log: /timeout/ },
  {
    title: "no tool was used",
    step: { fail: "no-action" },
    class: "no_action",
    says: /use workflow tools after 3 attempts|did not produce/,
    log: /workflow tools/,
  },
  {
    title: "a ballot for nobody, three times",
    step: { fail: "invalid-agent" },
    class: "no_action",
    says: /Invalid agent_id after 3 attempts/,
    log: /Invalid agent_id/,
  },
  {
    title: "exit 0 and nothing",
    step: { nothing: true },
    class: "no_action",
    says: /without an answer or a vote \(exit 0\)/,
    log: /SESSION_DIR/,
  },
  {
    title: "exit 2 and nothing",
    step: { fail: {} },
    class: "no_action",
    says: /did not produce an answer or vote/,
    log: /did not produce/,
  },
  { title: "exit 3", step: { fail: { exit: 3, stderr: "Timeout error: too slow" } }, class: "timeout", says: /too slow/, log: /too slow/ },
  { title: "exit 4", step: { fail: { exit: 4, stderr: [] } }, class: "killed", says: /exit code 4/, log: /SESSION_DIR/ },
  {
    title: "exit 1 with a Python error",
    step: { fail: { exit: 1, stderr: ["Traceback (most recent call last):", '  File "x.py", line 1, in <module>', "KeyError: 'answer'"] } },
    class: "crash",
    says: /KeyError: 'answer'/,
    log: /KeyError/,
  },
  {
    title: "exit 127",
    step: { fail: { exit: 127, stderr: "sh: 1: node: not found" } },
    class: "config",
    says: /not found/,
    log: /not found/,
  },
  { title: "a crash in C", step: { fail: { exit: -11, stderr: [] } }, class: "crash", says: /SIGSEGV/, log: /SESSION_DIR/ },
  { title: "too little memory", step: { fail: { exit: -9, stderr: [] } }, class: "killed", says: /SIGKILL.*memory/, log: /SESSION_DIR/ },
  {
    title: "ended by somebody else",
    step: { fail: { exit: -15, stderr: [] } },
    class: "killed",
    says: /ended from outside \(SIGTERM\)/,
    log: /SESSION_DIR/,
  },
  {
    title: "a blank answer",
    step: { answer: { text: " ", workspace: false } },
    class: "empty",
    says: /nothing in it that could be seen/,
    log: /"answer": " "/,
  },
  {
    title: "a garbled answer",
    step: { answer: { text: "x", workspace: false, garble: "cut" } },
    class: "garbled",
    says: /answer\.json of step 1 is not whole JSON/,
    log: /agent_id/,
  },
];

describe("each failure names its cause", () => {
  for (const { title, step, class: kind, says, log } of failures) {
    tell([
      {
        title: `${title}: ${kind}`,
        plays: { a: [step], b: "answer" },
        args: ["--retries", "0"],
        rounds: [`a failed(${kind}), b answered`],
        ends: "single only_agent b, exit 0",
        look: ({ result, stderr, events, directory }) => {
          const { status, failure } = result.agents[0] ?? {};
          expect({ status, class: failure?.class }).toEqual({ status: "out", class: kind });
          expect(failure?.message).toMatch(says);
          expect(failure?.message).not.toContain("\n");
          expect(stderr).toContain(`agent_a is out (${kind}): ${failure?.message}; log: ${failure?.log}`);
          expect(events.find(({ type }) => type === "agent.out")).toMatchObject({ agent: "agent_a", class: kind, log: failure?.log });
          expect(readFileSync(join(directory.root, failure?.log ?? ""), "utf8") + logsOf(directory.runs)).toMatch(log);
        },
      },
    ]);
  }
});

describe("failures around a step", () => {
  tell([
    {
      title: "all agents of a team that fail are named at the end, with model and class",
      plays: { a: "fail auth", b: "fail model", c: "fail config" },
      args: ["--retries", "0"],
      ends: "none agents_failed, exit 5",
      look: ({ stderr }) => {
        expect(stderr).toContain("agent_a (grok/model-a), auth: 401");
        expect(stderr).toContain("agent_b (grok/model-b), model: 404");
        expect(stderr).toContain("agent_c (grok/model-c), config: ");
      },
    },
    {
      title: "a megabyte on stderr before the answer hangs nothing, and the log is complete",
      plays: {
        a: [{ answer: { text: "x", workspace: false }, output: [{ text: `${"x".repeat(99)}\n`, repeat: 10_000 }] }, "vote a"],
        b: "answer, vote a",
      },
      ends: "consensus majority a, exit 0",
      look: ({ directory }) =>
        expect(readFileSync(join(directory.runs, "agent_a/r1/stderr.log"), "utf8").match(/x{99}\n/g)?.length).toBe(10_000),
    },
    {
      title: "a step's stdin is closed, whatever ours is",
      plays: { a: [{ process: { readStdin: true }, answer: { text: "x", workspace: false } }, "vote a"], b: "answer, vote a" },
      ends: "consensus majority a, exit 0",
    },
    {
      title: "a grandchild that holds the output of an ended step does not hold up the round, and is ended",
      plays: {
        a: [
          {
            answer: { text: "x", workspace: false },
            process: { grandchildren: [{ holdOutput: true }, { ignoreTerm: true, ownSession: true }] },
          },
          "vote a",
        ],
        b: "answer, vote a",
      },
      ends: "consensus majority a, exit 0",
    },
    {
      title: "events on stdout that are no JSON, carriage returns and lines without an end do no harm",
      plays: {
        a: [
          {
            output: [
              { stream: "stdout", text: '{"timestamp": 1, "event_ty' },
              { stream: "stdout", base64: "AP8KDQoK4oCoCg==" },
              { text: "no end" },
            ],
            answer: { text: "x", workspace: false },
          },
          "vote a",
        ],
        b: "answer, vote a",
      },
      ends: "consensus majority a, exit 0",
    },
    {
      title: "ERROR lines of a step that acts all the same are no failure",
      plays: {
        a: [
          {
            output: [{ text: "10:00:00 | ERROR    | Streaming error: Error code: 401 - {'error': {'message': 'no'}}\n" }],
            answer: { text: "x", workspace: false },
          },
          "vote a",
        ],
        b: "answer, vote a",
      },
      ends: "consensus majority a, exit 0",
      look: ({ result }) => expect(result.agents[0]?.failure).toBeNull(),
    },
  ]);
});

describe("a MassGen that cannot run", () => {
  test.concurrent(
    "dies at import: nothing is started, the hint names the pin, and there is no storm of retries",
    async () => {
      const { code, stderr, launches } = await playRefusal({
        script: { version: "broken-mcp" },
        args: ["--engine", "massgen"],
        env: { XDG_CACHE_HOME: "" },
      });
      expect(code).toBe(3);
      expect(stderr).toContain("mcp<1.28");
      expect(launches).toEqual([]);
    },
    patience,
  );

  test.concurrent(
    "is too old for step mode: what to install is said",
    async () => {
      const { code, stderr, launches } = await playRefusal({
        script: { version: "no-step" },
        args: ["--engine", "massgen"],
        env: { XDG_CACHE_HOME: "" },
      });
      expect(code).toBe(3);
      expect(stderr).toContain("--step");
      expect(launches.filter(({ kind }) => kind !== "help")).toEqual([]);
    },
    patience,
  );

  test.concurrent(
    "writes no config: no step is started, and the model is named",
    async () => {
      const { code, stderr, launches } = await playRefusal({ script: { quickstart: { result: "silent" } }, env: { XDG_CACHE_HOME: "" } });
      expect(code).toBe(3);
      expect(stderr).toContain("grok/model-");
      expect(launches.filter(({ kind }) => kind === "step")).toEqual([]);
    },
    patience,
  );
});

test.concurrent(
  "breaks after preflight: each step fails once, with the hint",
  async () => {
    const run = await playRun({ plays: { a: "fail traceback", b: "fail traceback" }, args: ["--retries", "5"] });
    expect(run.code).toBe(5);
    expect(run.launches.filter(({ kind }) => kind === "step").length).toBe(2);
    expect(run.stderr).toContain('pip install "mcp<1.28"');
  },
  patience,
);

function logsOf(runs: string): string {
  return ["stdout.log", "stderr.log"]
    .map((name) => join(runs, "agent_a/r1", name))
    .flatMap((path) => (existsSync(path) ? [readFileSync(path, "utf8")] : []))
    .join("\n");
}
