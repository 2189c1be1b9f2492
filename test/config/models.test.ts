import { describe, expect, test } from "bun:test";
import { defaultModels, modelsNote } from "../../src/config/default-models.ts";
import { backendKeys } from "../../src/config/keys.ts";
import {
  agentId,
  agentsOf,
  backends,
  checkAlias,
  createModelNames,
  explainUnknown,
  requireModel,
  shortNames,
} from "../../src/config/models.ts";
import { errorOf } from "./support.ts";

const names = createModelNames();

describe("names", () => {
  test.each([
    ["codex", "codex/gpt-5.4"],
    ["gemini", "gemini/gemini-3.1-pro-preview"],
    ["claude", "claude/claude-opus-4-6"],
    ["grok", "grok/grok-4.20-0309-reasoning"],
    ["Codex", "codex/gpt-5.4"],
    ["codex/gpt-5.5", "codex/gpt-5.5"],
    ["OpenAI/gpt-5-mini", "openai/gpt-5-mini"],
    ["chatcompletion/anything", "chatcompletion/anything"],
    ["claude_code/claude-opus-4-6", "claude_code/claude-opus-4-6"],
    ["together/Qwen/Qwen3-Coder", "together/Qwen/Qwen3-Coder"],
    ["openrouter/meta/llama-3:free", "openrouter/meta/llama-3:free"],
  ])("%s is %s", (word, model) => {
    expect(names.find(word)?.model).toBe(model);
  });

  test.each([
    "",
    "gpt",
    "codex/",
    "/gpt",
    "codx/gpt-5",
    "codex/a b",
    "codex/a,b",
    "codex/-x",
    "openai",
    "constructor",
    "__proto__",
    "toString/x",
  ])("%p is no model", (word) => {
    expect(names.find(word)).toBeNull();
  });

  test("every backend that has keys is known, with any model", () => {
    for (const backend of [...Object.keys(backendKeys), "chatcompletion"]) expect(names.find(`${backend}/m`)?.backend).toBe(backend);
    expect(new Set(backends).size).toBe(backends.length);
  });

  test.each([
    ["gemni", 'there is no model "gemni"', "Did you mean gemini?"],
    ["gpt-5.4", 'there is no model "gpt-5.4"', "Did you mean codex/gpt-5.4?"],
    ["openai", '"openai" names a backend but no model', "openai/MODEL"],
    ["claude_code", '"claude_code" names a backend but no model', "claude_code/claude-opus-4-6"],
    ["codx/gpt-5.4", 'there is no backend "codx"', "Did you mean codex/gpt-5.4?"],
    ["zzzzzz/gpt", 'there is no backend "zzzzzz"', "openai, codex"],
    ["zzzzzz", 'there is no model "zzzzzz"', "codex, gemini, claude, and grok"],
  ])("%s is explained", async (word, message, hint) => {
    const error = await errorOf(() => requireModel(word, names, "--models"));
    expect(error.exitCode).toBe(2);
    expect(error.message).toStartWith(`--models: ${message}`);
    expect(error.hint).toContain(hint);
  });
});

describe("aliases", () => {
  test("they redefine short names, add new ones, and may name each other", () => {
    const table = createModelNames({ codex: "codex/gpt-5.5", fast: "mini", mini: "openai/gpt-5-mini", second: "claude" });
    expect(table.find("codex")?.model).toBe("codex/gpt-5.5");
    expect(table.find("FAST")?.model).toBe("openai/gpt-5-mini");
    expect(table.find("second")?.model).toBe(shortNames.claude);
    expect(table.find("codex/gpt-5.4")?.model).toBe("codex/gpt-5.4");
    expect(explainUnknown("fats", table).hint).toContain("Did you mean fast?");
  });

  test.each([
    [{ a: "b", b: "a" }, "a", "circle: a → b → a"],
    [{ codex: "codex" }, "codex", "circle: codex → codex"],
    [{ a: "b", b: "c", c: "b" }, "a", "circle"],
    [{ fast: "gemni" }, "fast", "did you mean gemini"],
    [{ fast: "openai" }, "fast", "write openai/MODEL"],
    [{ "a b": "codex" }, "a b", "one word"],
    [{ "x/y": "codex" }, "x/y", "one word"],
    [{ with: "codex" }, "with", "one word"],
    [{ fast: "constructor" }, "fast", 'no model "constructor"'],
  ])("%p is refused", (aliases, name, message) => {
    expect(checkAlias(name, aliases as Record<string, string>)).toContain(message);
    expect(createModelNames(aliases as Record<string, string>).find("nobody")).toBeNull();
  });

  test("a good one has nothing wrong", () => {
    expect(checkAlias("fast", { fast: "mini", mini: "openai/gpt-5-mini" })).toBeNull();
  });
});

describe("agents", () => {
  test.each([
    [0, "agent_a"],
    [25, "agent_z"],
    [26, "agent_aa"],
    [27, "agent_ab"],
    [701, "agent_zz"],
    [702, "agent_aaa"],
  ])("number %p is %s", (index, id) => {
    expect(agentId(index)).toBe(id);
  });

  test("the same model twice makes two agents", () => {
    const codex = requireModel("codex", names, "--models");
    expect(agentsOf([codex, codex]).map(({ id, model }) => [id, model])).toEqual([
      ["agent_a", "codex/gpt-5.4"],
      ["agent_b", "codex/gpt-5.4"],
    ]);
  });
});

describe("the default team", () => {
  test.each([
    [
      ["OPENAI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "XAI_API_KEY"],
      ["codex", "gemini", "claude"],
    ],
    [
      ["XAI_API_KEY", "ANTHROPIC_API_KEY"],
      ["claude", "grok"],
    ],
    [
      ["GEMINI_API_KEY", "XAI_API_KEY"],
      ["gemini", "grok"],
    ],
    [
      ["GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"],
      ["codex", "gemini"],
    ],
  ])("with %p it is %p", (keys, team) => {
    expect(defaultModels(keys).map(({ backend }) => backend)).toEqual(team);
  });

  test.each([
    [[], "there is no API key", "OPENAI_API_KEY"],
    [["OPENAI_API_KEY", "GROQ_API_KEY"], "only codex has an API key", "ANTHROPIC_API_KEY"],
    [["GEMINI_API_KEY", "GOOGLE_API_KEY"], "only gemini has an API key", "XAI_API_KEY"],
  ])("with %p there is none, and the variables to set are named", async (keys, message, variable) => {
    const error = await errorOf(() => defaultModels(keys));
    expect([error.code, error.exitCode]).toEqual(["preflight", 3]);
    expect(error.message).toStartWith(message);
    expect(error.hint).toContain(variable);
    for (const key of keys) expect(error.hint).not.toContain(key);
  });

  test("aliases redefine its members", () => {
    const team = defaultModels(["OPENAI_API_KEY", "XAI_API_KEY"], createModelNames({ codex: "codex/gpt-5.5" }));
    expect(modelsNote(team, "why")).toBe("models: codex/gpt-5.5, grok/grok-4.20-0309-reasoning (why)");
  });
});

describe("an engine before a model", () => {
  test("is kept apart from it, whatever the case, and shown as it was asked for", () => {
    const names = createModelNames({ local: "native:ollama/llama3" });
    expect(names.find("native:openai/gpt-5.4")).toEqual({
      model: "native:openai/gpt-5.4",
      backend: "openai",
      modelName: "gpt-5.4",
      engine: "native",
    });
    expect(names.find("MassGen:Codex/gpt-5.4")).toMatchObject({ model: "massgen:codex/gpt-5.4", engine: "massgen" });
    expect(names.find("local")).toMatchObject({ backend: "ollama", modelName: "llama3", engine: "native" });
    expect(names.find("codex")).not.toHaveProperty("engine");
    expect(agentsOf([names.find("local")].filter((model) => model !== null))[0]).toMatchObject({ id: "agent_a", engine: "native" });
  });

  test("stands before short names too, and wins over that of an alias", () => {
    const names = createModelNames({ local: "native:ollama/llama3" });
    expect(names.find("native:codex")).toMatchObject({ model: "native:codex/gpt-5.4", engine: "native" });
    expect(names.find("massgen:local")).toMatchObject({ model: "massgen:ollama/llama3", engine: "massgen" });
  });

  test("is one of two, and has a model behind it", () => {
    for (const word of ["native:", "native:native:codex/x", "other:codex/x", "native:nowhere/x"])
      expect(createModelNames().find(word)).toBeNull();
    expect(explainUnknown("native:opena/gpt-5.4", createModelNames()).hint).toContain("openai/gpt-5.4");
  });
});
