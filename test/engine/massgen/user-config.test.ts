import { describe, expect, test } from "bun:test";
import { longestConfig, readUserConfig } from "../../../src/engine/massgen/user-config.ts";
import { TeamError } from "../../../src/errors.ts";
import { createRedactor } from "../../../src/session/redact.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const redact = createRedactor(["hunter2-hunter2"]);
const good = "agents:\n  - id: x\n    backend: { type: grok, model: grok-4 }\n";

async function read(text: string | Uint8Array, name = "my agent.yaml") {
  await using directory = temporaryDirectory();
  return readUserConfig(directory.write(name, text), redact);
}

async function refusal(text: string | Uint8Array): Promise<TeamError> {
  const error = await read(text).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TeamError)) throw new Error(`not refused: ${error}`);
  expect(error.code).toBe("config");
  expect(error.hint).not.toBe("");
  return error;
}

describe("a user's config", () => {
  test("is read, with the model it says", async () => {
    expect(await read(good)).toMatchObject({ model: "grok/grok-4", config: { agents: [{ id: "x" }] } });
    expect((await read("agent:\n  backend: { type: openai }\n")).model).toBeNull();
  });

  test("may be JSON, and may use anchors, merges and variables", async () => {
    expect((await read(JSON.stringify({ agents: [{ backend: { type: "grok", model: "m" } }] }), "a.json")).model).toBe("grok/m");
    const merged = `base: &b { type: grok, model: m }\nagents:\n  - backend:\n      <<: *b\n      api_key: \${MY_KEY}\n`;
    expect((await read(merged)).config).toMatchObject({ agents: [{ backend: { type: "grok", model: "m", api_key: `\${MY_KEY}` } }] });
  });

  test.each([
    ["agents:\n\t- x\n", ":2 is not valid YAML"],
    ["agents:\n  - backend: {type: grok\n", "is not valid YAML"],
    ["agents: []\n", ":1 defines 0 agents"],
    ["x: 1\nagents:\n  - backend: {type: a}\n  - backend: {type: b}\n", ":3 defines 2 agents"],
    ["x: 1\n", "defines no agent"],
    ["", "holds no config"],
    ["just text", "holds no config"],
    ["- a\n- b\n", "holds no config"],
    ["agents:\n  - id: x\n", "gives its agent no backend"],
    ["agents:\n  - backend: grok\n", "gives its agent no backend"],
    ["agents:\n  - 3\n", "defines 1 agents"],
  ])("%j is refused with the line where there is one", async (text, message) => {
    expect((await refusal(text)).message).toContain(message);
  });

  test.each([
    ['api_key: "hunter2-hunter2"', 4],
    ["api_key: sk-proj-abcdefghijklmnopqrstuvwxyz", 4],
    ["mcp_servers: [{env: {TOKEN: ghp_abcdefghijklmnopqrstuvwxyz012345}}]", 4],
  ])("with a secret is refused, without showing it: %s", async (line, at) => {
    const error = await refusal(`agents:\n  - backend:\n      type: grok\n      ${line}\n`);
    expect(error.message).toContain(`:${at} holds a secret`);
    expect(error.message + error.hint).not.toMatch(/hunter2|sk-proj|ghp_/);
  });

  test("that is missing, too large, a directory, or not UTF-8 is refused", async () => {
    await using directory = temporaryDirectory();
    directory.write("dir/x", "");
    directory.write("large.yaml", "#".repeat(longestConfig + 1));
    directory.write("latin.yaml", Buffer.from("a: \xe9", "latin1"));
    for (const [name, why] of [
      ["none.yaml", "no such file"],
      ["dir", "no regular file"],
      ["large.yaml", "larger than 1 MiB"],
      ["latin.yaml", "not UTF-8"],
    ] as const) {
      expect(() => readUserConfig(directory.join(name), redact)).toThrow(why);
    }
  });

  test("cannot blow up by aliases", async () => {
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ..."bcdefgh".split("").map((name, i) => `${name}: &${name} [${`*${"abcdefg"[i]},`.repeat(9)}]`),
    ];
    expect((await refusal(`${good}${bomb.join("\n")}\n`)).message).toContain("cannot be read");
  });
});
