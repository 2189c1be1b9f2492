import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Cause, createCauses } from "../../../src/engine/massgen/causes.ts";
import { essence, explainFailure } from "../../../src/engine/massgen/failure.ts";
import { rowOf, waitAskedFor } from "../../../src/engine/massgen/failure-table.ts";
import type { ChildExit } from "../../../src/process/child.ts";

const ended = (code: number | null, more: Partial<ChildExit> = {}): ChildExit => ({
  code,
  signal: null,
  stopCause: null,
  seconds: 12,
  spawnError: null,
  ...more,
});

function causeOf(stderr: string, stdout = ""): Cause | null {
  const causes = createCauses();
  for (const line of stdout.split("\n")) causes.line("stdout", line);
  for (const line of stderr.split("\n")) causes.line("stderr", line);
  return causes.best();
}

function explain(exit: ChildExit, cause: Cause | null, backend = "grok") {
  const redact = (text: string) => text.replaceAll("hunter2", "[redacted]");
  return explainFailure({ exit, cause, backend, runDir: "/run", timeoutSeconds: 60, redact });
}

const log = (name: string) => readFileSync(join(import.meta.dir, "../../fixtures/massgen-logs", `${name}.stderr.txt`), "utf8");

describe("the log of a real step that failed", () => {
  test.each([
    ["401", 2, "auth", /^401: Incorrect API key provided: .*; check XAI_API_KEY$/],
    ["429", 2, "quota", /^429: Rate limit reached for gpt-5.4. Please try again in 20s.$/],
    ["model", 2, "model", /^404: The model `nope` does not exist .*; check the model's name$/],
    ["context", 2, "model", /^400: Your input exceeds the context window .*; the query, .* are too long for this model$/],
    ["500", 2, "model", /^500: The server had an error while processing your request$/],
    ["text", 2, "no_action", /^Agent failed to use workflow tools after 3 attempts|agent did not produce an answer or vote/],
    ["nokey", 1, "auth", /^Configuration error: Grok API key not found. Set XAI_API_KEY environment variable.$/],
  ] as const)("%s, exit %i, is %s", (name, code, kind, message) => {
    const failure = explain(ended(code), causeOf(log(name)));
    expect(failure.class).toBe(kind);
    expect(failure.message).toMatch(message);
    expect(failure.log).toBe("/run/stderr.log");
  });

  test("tells how long to wait, when the provider says so", () => {
    expect(explain(ended(2), causeOf(log("429"))).retryAfterSeconds).toBe(20);
    expect(explain(ended(2), causeOf(log("500"))).retryAfterSeconds).toBeUndefined();
  });

  test("is not explained by tool servers that did not start and tasks that nobody waited for", () => {
    expect(explain(ended(2), causeOf(`${log("passing-tracebacks")}\n${log("text")}`)).class).toBe("no_action");
    expect(explain(ended(2), causeOf(`${log("401")}\n${log("passing-tracebacks")}`)).class).toBe("auth");
  });
});

describe("a cause", () => {
  test("is never an error that the step survived: whatever a tool or a hook failed over, with and without its traceback", () => {
    const end = "18:56:40 | ERROR    | Step mode: agent did not produce an answer or vote";
    const unauthorized = "Client error '401 Unauthorized' for url 'http://localhost:3000/api'";
    const errors = [
      `massgen.mcp_tools.client:call_tool:790 - Tool call failed for fetch on web: ${unauthorized}`,
      `Tool call failed for fetch on web: ${unauthorized}`,
      `Error executing mcp tool fetch: ${unauthorized}`,
      `Error executing web_search: ${unauthorized}`,
      `[PermissionClientSession] Tool 'fetch' failed: ${unauthorized}`,
      `[MCP Client] Error calling web.fetch: ${unauthorized}`,
      `[PythonCallableHook] Hook audit failed: ${unauthorized}`,
      `Computer use tool failed: ${unauthorized}`,
    ];
    const traceback = `Traceback (most recent call last):\n  File "x.py", line 1\nhttpx.HTTPStatusError: ${unauthorized}`;
    for (const error of errors) {
      for (const below of ["", `\n${traceback}`]) {
        const cause = causeOf(`18:56:15 | ERROR    | ${error}${below}\n${end}`);
        expect([error, explain(ended(2), cause).class]).toEqual([error, "no_action"]);
      }
    }
    expect(explain(ended(2), causeOf(`18:56:15 | ERROR    | ${errors[0]}\n18:56:16 | ERROR    | boom\n${traceback}`)).class).toBe("auth");
  });

  test("is the last line of a traceback", () => {
    const text = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    boom()\nValueError: bad value';
    expect(explain(ended(1), causeOf(text))).toMatchObject({ class: "crash", message: "ValueError: bad value (exit 1)" });
  });

  test("is an import that fails, which no retry mends", () => {
    const text =
      "Traceback (most recent call last):\n  File \"x\"\nImportError: cannot import name 'streamablehttp_client' from 'mcp.client.streamable_http' (/x)";
    const failure = explain(ended(1), causeOf(text));
    expect(failure.class).toBe("config");
    expect(failure.message).toContain('pip install "mcp<1.28"');
    expect(
      explain(ended(1), causeOf("Traceback (most recent call last):\n  x\nModuleNotFoundError: No module named 'massgen'")).class,
    ).toBe("config");
  });

  test("takes its details from the lines below", () => {
    const text =
      "❌ Configuration error: Context paths not found:\n  - types/node\n\nPlease check that the paths exist and are accessible.";
    expect(explain(ended(1), causeOf(text))).toMatchObject({
      class: "config",
      message: "Configuration error: Context paths not found: types/node",
    });
  });

  test("may stand on stdout", () => {
    const failure = explain(ended(2), causeOf("", "❌ Error: 'int' object is not subscriptable"));
    expect(failure).toMatchObject({ class: "crash", message: "'int' object is not subscriptable (exit 2)", log: "/run/stdout.log" });
    expect(explain(ended(3), causeOf("", "❌ Timeout error: ")).class).toBe("timeout");
  });

  test("may be an error event", () => {
    const event = JSON.stringify({ event_type: "error", data: { error: "Error code: 429 - slow down" } });
    expect(explain(ended(2), causeOf("", event)).class).toBe("quota");
  });

  test("is what was said last when nothing else tells", () => {
    expect(explain(ended(7), causeOf("run-massgen.sh: something odd"))).toMatchObject({
      class: "crash",
      message: "run-massgen.sh: something odd (exit 7)",
    });
  });

  test("never is one of the two warnings of every start", () => {
    expect(causeOf(log("text").split("\n").slice(0, 5).join("\n"))).toBeNull();
  });

  test("shows no secret and no control characters, and stays short", () => {
    const failure = explain(ended(2), causeOf(`12:00:00 | ERROR    | Streaming error: \u001b[31mhunter2\u0007 ${"x".repeat(5000)}`));
    expect(failure.message).toStartWith("[redacted] xxx");
    expect(failure.message.length).toBeLessThanOrEqual(300);
  });
});

describe("without a known cause", () => {
  test.each([
    [ended(0), "no_action", /without an answer or a vote \(exit 0\)/],
    [ended(1), "config", /exit code 1 and said nothing/],
    [ended(2), "no_action", /exit code 2/],
    [ended(3), "timeout", /exit code 3/],
    [ended(4), "killed", /exit code 4/],
    [ended(127), "config", /exit code 127/],
    [ended(99), "crash", /exit code 99/],
    [ended(null, { signal: "SIGKILL" }), "killed", /killed by the system.*memory/],
    [ended(null, { signal: "SIGTERM" }), "killed", /from outside \(SIGTERM\)/],
    [ended(null, { signal: "SIGSEGV" }), "crash", /crashed \(SIGSEGV\)/],
    [ended(null, { signal: "SIGKILL", stopCause: "step_timeout" }), "timeout", /within its 60 s/],
    [ended(0, { stopCause: "timeout" }), "timeout", /time of the run/],
    [ended(null, { signal: "SIGTERM", stopCause: "cost_budget" }), "killed", /budget/],
    [ended(null, { spawnError: { code: "ENOENT", message: "program not found: /x" } }), "config", /program not found/],
    [ended(null, { spawnError: { code: "E2BIG", message: "too long" } }), "config", /too long/],
    [ended(null, { spawnError: { code: "EAGAIN", message: "no process" } }), "crash", /no process/],
  ] as const)("%j is %s", (exit, kind, message) => {
    expect(explain(exit, null)).toMatchObject({ class: kind, message: expect.stringMatching(message) });
  });
});

describe("the table", () => {
  // Texts as providers and MassGen's source have them.
  test.each([
    ["Error code: 401 - {'error': {'message': 'invalid x-api-key', 'type': 'authentication_error'}}", "auth"],
    [
      "400 INVALID_ARGUMENT. {'error': {'code': 400, 'message': 'API key not valid. Please pass a valid API key.', 'status': 'INVALID_ARGUMENT'}}",
      "auth",
    ],
    ["OpenAI API key not found. Set OPENAI_API_KEY environment variable.", "auth"],
    [
      "The api_key client option must be set either by passing api_key to the client or by setting the OPENAI_API_KEY environment variable",
      "auth",
    ],
    ["Error code: 403 - {'error': {'message': 'no access'}}", "auth"],
    ["Codex authentication failed: not logged in", "auth"],
    ["Invalid API key · Please run /login", "auth"],
    ["Error code: 429 - {'error': {'message': 'You exceeded your current quota', 'code': 'insufficient_quota'}}", "quota"],
    ["Error code: 400 - {'error': {'message': 'Your credit balance is too low to access the Anthropic API.'}}", "quota"],
    ["429 RESOURCE_EXHAUSTED. {'error': {'message': 'Quota exceeded', 'status': 'RESOURCE_EXHAUSTED'}}", "quota"],
    ["Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}", "quota"],
    ["Circuit breaker is open for claude", "quota"],
    ["Error code: 404 - {'type': 'error', 'error': {'type': 'not_found_error', 'message': 'model: claude-x'}}", "model"],
    ["404 NOT_FOUND. {'error': {'message': 'models/gemini-9 is not found for API version v1beta'}}", "model"],
    ["prompt is too long: 250000 tokens > 200000 maximum", "model"],
    ["Context length exceeded (openai): Error code: 400", "model"],
    ["Error code: 503 - {'error': {'message': 'busy'}}", "model"],
    ["500 INTERNAL. {'error': {'message': 'An internal error has occurred'}}", "model"],
    ["Connection error.", "model"],
    ["Error code: 422 - {'error': {'message': 'strange'}}", "model"],
    ["massgen: error: unrecognized arguments: --step", "config"],
    ["Codex CLI not found. Install with: npm install -g @openai/codex", "config"],
    ["Failed to connect to Docker: no socket", "config"],
    ["Configuration error: Unsupported backend type: nonsense", "config"],
    ["Invalid agent_id after 3 attempts", "no_action"],
    ["Cannot vote when no answers exist after max attempts", "no_action"],
    ["MemoryError", "crash"],
  ])("knows %s", (text, kind) => {
    expect(rowOf(text)?.class).toBe(kind as never);
  });

  test("does not see a code inside a longer number or an ordinary word", () => {
    expect(rowOf("wrote 14290 bytes in 401 files")).toBeNull();
    expect(rowOf("the answer is 42")).toBeNull();
  });
});

describe("the essence of an error", () => {
  test.each([
    [`Error code: 401 - {'error': {'message': "You didn't say", 'type': 'x'}}`, "401: You didn't say"],
    ["Error code: 400 - {'error': {'message': 'It\\'s\\nlong'}}", "400: It's long"],
    ["no structure at all", "no structure at all"],
    ["Error code: 500", "Error code: 500"],
  ])("of %s", (text, message) => {
    expect(essence(text)).toBe(message);
  });
});

describe("a wait", () => {
  test.each([
    ["Please try again in 20s.", 20],
    ["try again in 1m30.5s", 91],
    ["Please try again in 350ms.", 1],
    ["retry after 7 seconds", 7],
    ["'retryDelay': '39s'", 39],
    ["Retry-After=12", 12],
    ["Please retry in 39.5s.", 40],
    ["Try again in 2 days", 172_800],
    ["try again in 301s", 301],
    ["try again later", undefined],
    ["nothing of the kind", undefined],
  ])("of %j", (text, seconds) => {
    expect(waitAskedFor(text)).toBe(seconds as never);
  });
});
