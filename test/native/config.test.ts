import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { baseUrlOf, nativeBackend, nativeBackends, nativeKeys } from "../../src/native/backends.ts";
import { readStepConfig } from "../../src/native/config.ts";
import { stepLimits } from "../../src/native/limits.ts";
import { temporaryDirectory } from "../support/temp.ts";

const home = { HOME: "/home/me" };

async function read(text: string, env: Readonly<Record<string, string>> = home) {
  await using temp = temporaryDirectory();
  return readStepConfig(temp.write("agent.yaml", text), env, "/work");
}

describe("a config", () => {
  test("needs an id, a type and a model", async () => {
    const config = await read("agents: [{ id: agent_a, backend: { type: openai, model: gpt-5.4 } }]");
    expect(config).toMatchObject({
      agent: "agent_a",
      type: "openai",
      model: "gpt-5.4",
      baseUrl: "https://api.openai.com/v1",
      ownBaseUrl: false,
      apiKey: null,
      effort: null,
      context: [],
      limits: stepLimits,
      ignored: [],
    });
  });

  test("of MassGen's quickstart is taken for every backend that there is; what it asks for in vain is listed", async () => {
    const directory = join(import.meta.dir, "../fixtures/quickstart");
    for (const name of readdirSync(directory)) {
      const config = readStepConfig(join(directory, name), home, "/work");
      expect(`${name} ${config.backend.protocol}`).toMatch(/^(claude.*anthropic|codex.*openai|gemini.*google|grok.*xai)$/);
    }
    expect(readStepConfig(join(directory, "codex-docker.yaml"), home, "/work").ignored).toContain("command_line_execution_mode");
  });

  test("may say how hard to think, how long to write, what to read and what to be", async () => {
    const config = await read(
      `
agent:
  id: agent_b
  system_message: Be brief.
  backend:
    type: Claude
    model: claude-opus-4-6
    reasoning: { effort: high }
    max_tokens: 5000
    temperature: 0.5
    api_key: \${MY_KEY}
    base_url: \${MY_HOST}/proxy/
orchestrator:
  context_paths: [docs, { path: /data, permission: write }, { path: ~/notes }]
timeout_settings: { orchestrator_timeout_seconds: 60 }
limits: { turns: 5 }
price: { input: 1, output: 2 }
`,
      { ...home, MY_KEY: "secret", MY_HOST: "https://example.com" },
    );
    expect(config).toMatchObject({
      type: "claude",
      effort: "high",
      maxReplyTokens: 5000,
      temperature: 0.5,
      apiKey: "secret",
      baseUrl: "https://example.com/proxy/v1",
      ownBaseUrl: true,
      instructions: "Be brief.",
      limits: { ...stepLimits, turns: 5, seconds: 60 },
      price: { input: 1, output: 2 },
    });
    expect(config.context.slice(0, 2)).toEqual([
      { path: "/work/docs", permission: "read" },
      { path: "/data", permission: "write" },
    ]);
  });

  test("with a limit, a price or a setting that cannot be read is refused with what it must be: nothing is limited by a typing error", async () => {
    const of = (more: string, backend = "") => `agents: [{ id: agent_a, backend: { type: openai, model: m${backend} } }]\n${more}\n`;
    const cases: readonly [string, string, string][] = [
      [of("limits: { turn: 5 }"), 'no "turn" under limits', "Did you mean turns?"],
      [of("limits: { output_tokens: 20k }"), "limits: output_tokens cannot be", "a number from 1 to"],
      [of("limits: { seconds: 10m }"), "limits: seconds cannot be", "without a unit"],
      [of("limits: { turns: 0 }"), "limits: turns cannot be", "a number from 1"],
      [of("limits: 5"), "limits cannot be", "a map with turns"],
      [of("price: { in: 3, output: 15 }"), 'no "in" under price', "input"],
      [of("price: { input: 3 }"), "price cannot be", "input and output"],
      [of('price: { input: "3", output: 15 }'), "price: input cannot be", "a number"],
      [of("", ", temperature: hot"), "temperature cannot be", "a number from 0 to 2"],
      [of("", ", max_tokens: 8k"), "max_tokens cannot be", "a number from 1"],
      [of("", ", reasoning: { effort: 3 }"), "effort cannot be", "high"],
    ];
    for (const [text, message, hint] of cases) {
      const error = await read(text).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "config", message: expect.stringContaining(message), hint: expect.stringContaining(hint) });
    }
    expect(await read(of("limits: { turns: null }\nprice: null", ", temperature: null, max_tokens: null"))).toMatchObject({
      limits: stepLimits,
      price: null,
      temperature: null,
    });
  });

  test("names files as a shell does: ~ and variables; one that is not set is refused", async () => {
    const text =
      "agent: { id: a, backend: { type: openai, model: m } }\norchestrator: { context_paths: [~/docs, '${DOCS}/a', { path: '~' }] }\n";
    expect((await read(text, { ...home, DOCS: "/data" })).context.map(({ path }) => path)).toEqual([
      join(homedir(), "docs"),
      "/data/a",
      homedir(),
    ]);
    expect(read(text)).rejects.toMatchObject({ code: "config", message: expect.stringContaining("DOCS, which is not set") });
  });

  test("with several agents, without a model or with a base_url that is none is refused", async () => {
    const cases = [
      "agents: [{ backend: { type: openai, model: a } }, { backend: { type: openai, model: b } }]",
      "agents: [{ id: agent_a, backend: { type: openai } }]",
      "agents: [{ id: agent_a, backend: { type: openai, model: m, base_url: 'http://' } }]",
      "agents: [{ id: 'a/b', backend: { type: openai, model: m } }]",
    ];
    for (const text of cases) expect(read(text)).rejects.toMatchObject({ code: "config" });
  });
});

describe("where an API is", () => {
  test("the config says, else the variable of the provider's own SDK, else the usual place", () => {
    expect(baseUrlOf("openai", null, {})).toBe("https://api.openai.com/v1");
    expect(baseUrlOf("openai", null, { OPENAI_BASE_URL: "http://localhost:1/v1/" })).toBe("http://localhost:1/v1");
    expect(baseUrlOf("openai", "http://here/v1", { OPENAI_BASE_URL: "http://there/v1" })).toBe("http://here/v1");
    expect(baseUrlOf("openai", null, { OPENAI_BASE_URL: " " })).toBe("https://api.openai.com/v1");
  });

  test("with the version in its path that the SDKs of Anthropic, Google and Ollama leave out", () => {
    expect(baseUrlOf("claude", null, { ANTHROPIC_BASE_URL: "https://api.anthropic.com" })).toBe("https://api.anthropic.com/v1");
    expect(baseUrlOf("gemini", null, { GOOGLE_GEMINI_BASE_URL: "http://localhost:9" })).toBe("http://localhost:9/v1beta");
    expect(baseUrlOf("ollama", null, { OLLAMA_HOST: "0.0.0.0:11434" })).toBe("http://0.0.0.0:11434/v1");
    expect(baseUrlOf("ollama", null, {})).toBe("http://127.0.0.1:11434/v1");
  });
});

test("every backend has a place, keys or a server of one's own", () => {
  for (const [type, { protocol, baseUrl, local }] of Object.entries(nativeBackends)) {
    if (protocol === "scripted") continue;
    expect(`${type} ${URL.canParse(baseUrl ?? "")}`).toBe(`${type} true`);
    expect(`${type} ${local === true || nativeKeys(type).length > 0}`).toBe(`${type} true`);
  }
  expect(nativeBackend("constructor")).toBeNull();
  expect(nativeKeys("claude_code")).toEqual(["ANTHROPIC_API_KEY"]);
});
