import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { parse } from "yaml";
import type { ConfigOptions } from "../../../src/engine/engine.ts";
import { forgetConfigs } from "../../../src/engine/massgen/config-cache.ts";
import { quickstartCommand } from "../../../src/engine/massgen/quickstart.ts";
import { TeamError } from "../../../src/errors.ts";
import type { Agent } from "../../../src/types.ts";
import type { FakeScript } from "../../fixtures/fake-massgen/script.ts";
import { agentA, type Bench, bench, secret } from "./support.ts";

const agentB: Agent = { ...agentA, id: "agent_b" };
const codex: Agent = { id: "agent_c", model: "codex/gpt-5.4", backend: "codex", modelName: "gpt-5.4" };

let count = 0;
function options(b: Bench, more: Partial<ConfigOptions> = {}): ConfigOptions {
  return { docker: false, context: [], runDir: b.temp.join("configs/quickstart", String(++count)), ...more };
}

async function write(b: Bench, agent: Agent, more: Partial<ConfigOptions> = {}) {
  const out = b.temp.join("team/configs", `${agent.id}_step.yaml`);
  await b.engine.writeConfig(agent, out, options(b, more));
  return parse(readFileSync(out, "utf8"), { version: "1.1" });
}

async function refusal(script: FakeScript, agent = agentA, more: { readonly program?: string } = {}): Promise<TeamError> {
  await using b = bench(script, more);
  const error = await write(b, agent).catch((thrown: unknown) => thrown);
  if (!(error instanceof TeamError)) throw new Error(`not refused: ${error}`);
  expect(error.code).toBe("config");
  expect(error.hint).not.toBe("");
  expect(existsSync(b.temp.join("team/configs"))).toBe(false);
  return error;
}

describe("a config", () => {
  test("is made by MassGen for backend and model, with our id, context and paths", async () => {
    await using b = bench({});
    const config = await write(b, agentA, { context: [{ path: b.temp.path, permission: "read" }] });
    expect(config.agents).toMatchObject([{ id: "agent_a", backend: { type: "grok", model: "grok-x", base_url: "https://api.x.ai/v1" } }]);
    expect(config.orchestrator.context_paths).toEqual([{ path: b.temp.path, permission: "read" }]);
    expect(config.orchestrator.coordination.skills_directory).toBe(b.temp.join(".agent/skills"));
    expect(statSync(b.temp.join("team/configs/agent_a_step.yaml")).mode & 0o777).toBe(0o600);
    expect(readdirSync(b.temp.join("team/configs"))).toEqual(["agent_a_step.yaml"]);
  });

  test("is made once for agents of the same model, at the same time and later, for each its own", async () => {
    await using b = bench({});
    const [first, second] = await Promise.all([write(b, agentA), write(b, agentB)]);
    const third = await write(b, { ...agentA, id: "agent_z" });
    expect([first, second, third].map((config) => config.agents[0].id)).toEqual(["agent_a", "agent_b", "agent_z"]);
    expect(b.launches()).toHaveLength(1);
    await write(b, codex);
    expect(b.launches()).toHaveLength(2);
    forgetConfigs(b.temp.join("cache"));
    await write(b, codex);
    expect(b.launches()).toHaveLength(3);
  });

  test("is made again where the cache is spoilt", async () => {
    await using b = bench({});
    await write(b, agentA);
    const [name = ""] = readdirSync(b.temp.join("cache/configs"));
    b.temp.write(`cache/configs/${name}`, "agents: [");
    expect((await write(b, agentA)).agents).toHaveLength(1);
    expect(b.launches()).toHaveLength(2);
  });

  test("needs no key: a login may do, or a second variable", async () => {
    await using b = bench({}, { env: { PATH: process.env.PATH, GOOGLE_API_KEY: secret } });
    const gemini: Agent = { id: "agent_g", model: "gemini/gemini-3", backend: "gemini", modelName: "gemini-3" };
    expect((await write(b, gemini)).agents).toMatchObject([{ id: "agent_g", backend: { type: "gemini" } }]);
  });

  test("holds no key, and neither does its cache", async () => {
    const yaml = `agents:\n- id: x\n  backend: { type: grok, api_key: ${secret} }\n`;
    await using b = bench({ quickstart: { yaml } });
    await write(b, agentA);
    expect(existsSync(b.temp.join("cache/configs"))).toBe(false);
  });

  test("without docker has none, though MassGen found it; with docker that it did not find there is a warning", async () => {
    await using found = bench({ quickstart: { docker: true } });
    const { agents } = await write(found, agentA);
    expect(Object.keys(agents[0].backend).filter((key) => key.includes("docker") || key.startsWith("command_line"))).toEqual([]);
    expect((await write(found, agentA, { docker: true })).agents[0].backend.command_line_execution_mode).toBe("docker");
    expect(found.launches().map(({ argv }) => argv.includes("--config-docker"))).toEqual([false, true]);
    expect(found.warnings).toEqual([]);
    await using missing = bench({});
    expect((await write(missing, agentA, { docker: true })).agents[0].backend.command_line_execution_mode).toBeUndefined();
    expect(missing.warnings).toEqual([expect.stringContaining("docker was asked for")]);
  });

  test("cannot have a context path that MassGen would change", async () => {
    await using b = bench({});
    const context = [{ path: "/docs/$" + "{HOME}", permission: "read" as const }];
    await expect(write(b, agentA, { context })).rejects.toThrow("would put a variable in place of");
  });

  test("that MassGen refuses is an error with its reason", async () => {
    const { message, hint } = await refusal({ quickstart: { result: "needs-config" } });
    expect(message).toContain('could not make a config for grok/grok-x: it does not know the backend "grok"');
    expect(hint).toContain("config: ./agent.yaml");
  });

  test("of a MassGen that dies, or writes nothing, or nonsense, is an error with its log", async () => {
    expect((await refusal({ quickstart: { result: "traceback" } })).hint).toContain("stderr.log");
    expect((await refusal({ quickstart: { result: "silent" } })).message).toContain("could not make a config");
    expect((await refusal({ quickstart: { yaml: "agents: []\n" } })).message).toContain("no usable config");
    expect((await refusal({}, agentA, { program: "echo 'ModuleNotFoundError: x' >&2; exit 1" })).message).toContain(
      "could not make a config",
    );
  });

  test("that is written is used at once: what MassGen installs after it is not waited for", async () => {
    const program = `shift 3; printf 'agents:\\n- id: x\\n  backend: {type: grok}\\n' > "$1"; echo 'STATUS: SUCCESS'; exec sleep 600\n`;
    await using b = bench({}, { program });
    expect((await write(b, agentA)).agents).toMatchObject([{ id: "agent_a" }]);
    expect(b.warnings).toEqual([]);
  });
});

describe("a user's own config", () => {
  test("is used instead, with our id and its own paths, without starting MassGen", async () => {
    await using b = bench({});
    const path = b.temp.write(
      "own/agent.yaml",
      "agent:\n  id: mine\n  backend: { type: grok, model: grok-x, base_url: 'http://127.0.0.1:1/v1' }\norchestrator:\n  context_paths: [docs]\n",
    );
    const config = await write(b, { ...agentA, config: path });
    expect(config.agents).toEqual([{ id: "agent_a", backend: { type: "grok", model: "grok-x", base_url: "http://127.0.0.1:1/v1" } }]);
    expect(config.orchestrator.context_paths).toEqual([{ path: b.temp.join("own/docs") }]);
    expect(() => b.launches()).toThrow("ENOENT");
    expect(b.warnings).toEqual([]);
  });

  test("for another model than the team lists is used with a warning", async () => {
    await using b = bench({});
    const path = b.temp.write("agent.yaml", "agents:\n- backend: { type: openai, model: gpt-x }\n");
    await write(b, { ...agentA, config: path });
    expect(b.warnings).toEqual([expect.stringContaining("runs openai/gpt-x, while the team lists it as grok/grok-x")]);
  });
});

test("quickstart cannot reach docker when there shall be none, and gets the caller's keys only where they are", () => {
  const install = { argv: ["/m"], version: "1", flags: new Set<string>(), source: "test" };
  const off = quickstartCommand(agentA, "/o.yaml", { install, env: { PATH: "/bin", XAI_API_KEY: secret }, docker: false });
  expect(off.env).toMatchObject({ DOCKER_HOST: "unix:///dev/null", XAI_API_KEY: secret, GEMINI_API_KEY: "placeholder" });
  const on = quickstartCommand(agentA, "/o.yaml", { install, env: { PATH: "/bin" }, docker: true });
  expect(on.env.DOCKER_HOST).toBeUndefined();
  expect(on.argv).toEqual(
    "/m --quickstart --headless --config /o.yaml --config-backend grok --config-model grok-x --config-agent-id agent_a --config-docker".split(
      " ",
    ),
  );
});
