import { type FailureClass, failureClasses } from "../../types.ts";

/** What a line of a log means. */
export interface FailureRow {
  readonly class: FailureClass;
  readonly pattern: RegExp;
  /** Where the text comes from: massgen 0.1.97 unless it says otherwise. "seen" rows were printed by the real program. */
  readonly source: string;
  /** What to do about it, completing the message; "{keys}" stands for the variables of the backend's keys. */
  readonly hint?: string;
}

/**
 * The rows are tried in order, each on one line of a log, so special texts stand before general ones ("insufficient_quota" comes with a
 * 429, "API key not found" in a "Configuration error"). Add a row with the text's source, and a line in the test.
 */
export const failureTable: readonly FailureRow[] = [
  // A step of mg-team itself knows what happened to it, and begins with its class.
  ...failureClasses.map((name) => ({ class: name, pattern: new RegExp(`^\\[${name}\\] `), source: "src/native/failure.ts" })),

  // Installation: nothing that a retry could mend.
  {
    class: "config",
    pattern: /cannot import name ['"]?streamablehttp_client/,
    source: "seen; massgen.md, Installing it",
    hint: 'run: pip install "mcp<1.28" in the environment of MassGen',
  },
  {
    class: "config",
    pattern: /^(ModuleNotFoundError|ImportError|SyntaxError): /,
    source: "Python",
    hint: "the installation of MassGen is broken",
  },
  { class: "config", pattern: /Codex CLI not found|claude-code-sdk not found|CLI not found/, source: "backend/codex.py, cli/backends.py" },
  {
    class: "config",
    pattern: /Failed to connect to Docker|Docker Error:|Failed to pull Docker image|sudo image must be built/,
    source: "filesystem_manager/_docker_manager.py, utils/docker_diagnostics.py",
    hint: "start docker, or use --no-docker",
  },
  { class: "config", pattern: /^\S*: error: /, source: "argparse" },

  // Keys and logins.
  { class: "auth", pattern: /API key not found\. Set \w+/, source: "seen; cli/backends.py, _api_key_error_message" },
  { class: "auth", pattern: /api_key client option must be set|Missing key inputs argument/, source: "openai and google-genai SDKs" },
  { class: "quota", pattern: /insufficient_quota|exceeded your current quota|credit balance is too low/, source: "OpenAI, Anthropic" },
  {
    class: "auth",
    pattern:
      /\b401\b.*(error|unauthorized)|invalid_api_key|Incorrect API key|authentication_error|invalid x-api-key|API_KEY_INVALID|API key not valid|UNAUTHENTICATED/i,
    source: "seen (Streaming error: Error code: 401); OpenAI, xAI, Anthropic, Google",
    hint: "check {keys}",
  },
  {
    class: "auth",
    pattern: /Codex authentication failed|Not logged in|Please run \/login|Invalid API key · |OAuth (token|authentication)/,
    source: "backend/codex.py, claude CLI",
    hint: "log in again, or set {keys}",
  },
  {
    class: "auth",
    pattern: /Error code: 403|PERMISSION_DENIED|permission_error/,
    source: "OpenAI, Google, Anthropic",
    hint: "check {keys}",
  },

  // Input too long comes before quota: Google says RESOURCE_EXHAUSTED for both (backend/_context_errors.py).
  {
    class: "model",
    pattern:
      /context_length_exceeded|maximum context length|exceeds? (the )?context (window|limit)|prompt is too long|request_too_large|context is too long|input too long|reduce the length of the messages|Context length exceeded/i,
    source: "seen (Error code: 400); backend/_context_errors.py",
    hint: "the query, the other answers or the context files are too long for this model",
  },

  // Limits: waiting helps.
  {
    class: "quota",
    pattern:
      /Error code: 429|\b429\b|rate_limit|rate limit reached|too many requests|RESOURCE_EXHAUSTED|resource (has been )?exhausted|quota exceeded|usage limit/i,
    source: "seen (Streaming error: Error code: 429); backend/gemini.py, _is_retryable_gemini_error",
  },
  { class: "quota", pattern: /Circuit breaker (is|became) (open|half_open)/, source: "backend/llm_circuit_breaker.py" },
  { class: "quota", pattern: /overloaded_error|Error code: 529|\bOverloaded\b/, source: "Anthropic; backend/llm_circuit_breaker.py" },

  // The model, or its provider.
  {
    class: "model",
    pattern:
      /model_not_found|does not exist or you do not have access|not_found_error|is not found for API version|Model not found|model .{1,80} (not found|is not supported)/i,
    source: "seen (Error code: 404); OpenAI, Anthropic, Google",
    hint: "check the model's name",
  },
  {
    class: "model",
    pattern: /Error code: 5\d\d|\b50[0234] (INTERNAL|UNAVAILABLE|Bad Gateway|Service)|server_error|Internal server error/i,
    source: "seen (Error code: 500)",
  },
  {
    class: "model",
    pattern: /Connection error\.|APIConnectionError|Name or service not known|getaddrinfo failed/,
    source: "openai SDK, Python",
    hint: "is the network up?",
  },
  { class: "model", pattern: /Error code: 4\d\d/, source: "openai and anthropic SDKs: any other refusal" },

  // Configuration of this step.
  { class: "config", pattern: /Context paths not found/, source: "path_handling/prompt_parser.py, cli/config_loading.py" },
  {
    class: "config",
    pattern: /Configuration error|Configuration Errors Found|Config validation failed|Step mode validation error/,
    source: "seen; cli/entrypoint.py",
  },
  { class: "config", pattern: /Unsupported backend type|Unknown backend type/, source: "cli/backends.py" },

  // Time.
  {
    class: "timeout",
    pattern: /^Timeout error:|Time limit exceeded|any agents due to timeout/,
    source: "cli/entrypoint.py, orchestrator.py, orchestrator_collaborators/final_presentation_runner.py",
  },

  // The agent itself.
  {
    class: "no_action",
    pattern:
      /Invalid agent_id after|Cannot vote when no answers exist|used both vote and new_answer|unavailable workflow tool|Answer (count limit|novelty)|Duplicate answer|Agent terminated:/,
    source: "orchestrator.py",
  },

  { class: "crash", pattern: /^Fatal Python error|^MemoryError|Segmentation fault|core dumped/, source: "Python, shells" },
];

/** Last words of every failed step, which only say that there was a cause before them (seen; cli/entrypoint.py, orchestrator.py). */
export const consequence =
  /Agent failed to use workflow tools after|Unable to provide coordinated answer|agent did not produce an answer or vote|no successful agents/;

/** Errors that a step survives: programs beside the agent, hooks, tools that it called (seen; mcp_tools/client.py, hooks.py, code_generator.py; tool/). */
export const survivable =
  /^Failed to connect to \w+|MCP (manager|connection) error|Error executing .* tool|Error in custom tool|^Error executing [\w.-]+: |^Tool call failed for |^(\[\w+\] )?(Computer use tool|Tool '[^']*') failed|Error calling [\w-]+\.[\w-]+: |^\[\w*Hook(Manager)?\] |during File Search cleanup|openskills/;

/** The row of a line, or null. */
export function rowOf(text: string): FailureRow | null {
  return failureTable.find(({ pattern }) => pattern.test(text)) ?? null;
}

/**
 * How long the provider asks to wait: "Please try again in 1m30.5s", "retry after 7 seconds", `retryDelay: '39s'`, `Retry-After=12`.
 * In seconds, 1 or more; undefined when it does not say.
 */
export function waitAskedFor(text: string): number | undefined {
  const length =
    /(?:try again in|retry in|retry.?after|retry.?delay)[\s:='"]*((?:\d+(?:\.\d+)?\s*(?:days?|hours?|minutes?|seconds?|ms|[dhms])?\s*)+)/i;
  const match = length.exec(text);
  if (!match?.[1]) return undefined;
  let seconds = 0;
  for (const [, count, unit = "s"] of match[1].matchAll(/(\d+(?:\.\d+)?)\s*(ms|[dhms])?/gi))
    seconds += Number(count) * (unitSeconds[unit.toLowerCase()] ?? 1);
  return seconds > 0 ? Math.max(1, Math.ceil(seconds)) : undefined;
}

// --- internal ---

const unitSeconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 };
