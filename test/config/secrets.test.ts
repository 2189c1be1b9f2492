import { describe, expect, test } from "bun:test";
import { backends, shortNames } from "../../src/config/models.ts";
import { secretsOf } from "../../src/config/secrets.ts";
import { createRedactor } from "../../src/session/redact.ts";

const keysWith = (value: string) => ({ variables: { OPENAI_API_KEY: { value, source: "environment" } } });

describe("a key that a local server is given for form's sake hides no names:", () => {
  const names = [...backends, ...Object.entries(shortNames).flat(), "ollama/llama3.3:latest", "native:openai/gpt-5.4"];

  test.each(names)("%s", (name) => {
    const text = `agent_a is ${name}, agent_b ${name.toUpperCase()}`;
    for (const key of [name, name.split("/").at(-1) ?? ""]) {
      expect(createRedactor(secretsOf(keysWith(key), ["ollama/llama3.3:latest", "native:openai/gpt-5.4"]))(text)).toBe(text);
    }
  });

  test("EMPTY, none and the like", () => {
    for (const key of ["EMPTY", "none", "test", "sk-none", "1234567"])
      expect(createRedactor(secretsOf(keysWith(key)))(`x ${key} x`)).toBe(`x ${key} x`);
  });
});

test("any other key is a secret", () => {
  for (const key of ["12345678", "ollama-but-longer", "gpt-5.4-0123456789"])
    expect(secretsOf(keysWith(key), ["codex/gpt-5.4"])).toEqual([key]);
});
