import { describe, expect, test } from "bun:test";
import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findKeys, keysFor, loginIsHidden, loginOf, unusableCodexLogin } from "../../src/config/keys.ts";

/** A project and a home with these files, named like `./.env` and `~/.massgen/.env`. */
async function places(files: Record<string, string> = {}) {
  const directory = await mkdtempDisposable(join(tmpdir(), "keys-"));
  const project = join(directory.path, "project");
  const home = join(directory.path, "home");
  for (const made of [project, home]) await mkdir(made);
  for (const [name, text] of Object.entries(files)) {
    const path = join(name.startsWith("~") ? home : project, name.slice(2));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const find = (env: Record<string, string> = {}) => findKeys(env, project, home);
  return { project, home, find, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
}

describe("keys", () => {
  test("come from the first of environment, ./.env, ./configs/.env, ~/.massgen/.env, ~/.config/massgen/.env that defines them", async () => {
    const every = "ANTHROPIC_API_KEY=K\nGEMINI_API_KEY=K\nGROQ_API_KEY=K\nXAI_API_KEY=K\n";
    const from = (place: string, lines: number) => every.replaceAll("=K", `=${place}`).split("\n").slice(0, lines).join("\n");
    await using at = await places({
      "./.env": from("dot", 1),
      "./configs/.env": from("configs", 2),
      "~/.massgen/.env": from("massgen", 3),
      "~/.config/massgen/.env": `${from("xdg", 4)}\nOPENAI_API_KEY=xdg`,
    });
    expect(at.find({ OPENAI_API_KEY: "env" }).variables).toEqual({
      OPENAI_API_KEY: { value: "env", source: "environment" },
      ANTHROPIC_API_KEY: { value: "dot", source: "./.env" },
      GEMINI_API_KEY: { value: "configs", source: "./configs/.env" },
      GROQ_API_KEY: { value: "massgen", source: "~/.massgen/.env" },
      XAI_API_KEY: { value: "xdg", source: "~/.config/massgen/.env" },
    });
  });

  test("a blank value is not a key and hides none, and where it stands is known while there is no other", async () => {
    await using at = await places({ "./.env": "OPENAI_API_KEY=\nXAI_API_KEY='  '", "~/.massgen/.env": "OPENAI_API_KEY=real" });
    const keys = at.find({ XAI_API_KEY: " " });
    expect(keys.variables).toEqual({ OPENAI_API_KEY: { value: "real", source: "~/.massgen/.env" } });
    expect(keys.blank).toEqual({ XAI_API_KEY: "environment" });
  });

  test("only provider variables are taken from files", async () => {
    await using at = await places({ "./.env": "PATH=/evil\nOPENAI_BASE_URL=http://evil\nLD_PRELOAD=x\nOPENAI_API_KEY=k" });
    expect(Object.keys(at.find().variables)).toEqual(["OPENAI_API_KEY"]);
  });

  test("an endpoint is taken from a file only together with that file's key", async () => {
    await using at = await places({ "./.env": "AZURE_OPENAI_API_KEY=file\nAZURE_OPENAI_ENDPOINT=https://file" });
    expect(at.find().variables.AZURE_OPENAI_ENDPOINT?.value).toBe("https://file");
    expect(at.find({ AZURE_OPENAI_API_KEY: "mine" }).variables.AZURE_OPENAI_ENDPOINT).toBeUndefined();
  });

  test("white space around a key is dropped", async () => {
    await using at = await places();
    expect(at.find({ OPENAI_API_KEY: " k\n" }).variables.OPENAI_API_KEY?.value).toBe("k");
  });

  test("a directory, a pipe and an overlong file in the place of .env become notes, without waiting for a writer", async () => {
    await using at = await places({ "./configs/.env": `X=${"x".repeat(300_000)}`, "~/.massgen/.env/inner": "" });
    Bun.spawnSync(["mkfifo", join(at.project, ".env")]);
    const { variables, notes } = at.find();
    expect(variables).toEqual({});
    expect(notes.map((note) => note.split(" cannot")[0])).toEqual(["./.env", "./configs/.env", "~/.massgen/.env"]);
  });
});

test("each backend knows the variables that will do; local servers need none", () => {
  expect(keysFor("codex")).toEqual(["OPENAI_API_KEY"]);
  expect(keysFor("gemini")).toEqual(["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
  expect(keysFor("claude_code")).toContain("ANTHROPIC_API_KEY");
  expect(keysFor("vllm")).toEqual([]);
  expect(keysFor("no-such")).toEqual([]);
  expect(keysFor("chatcompletion")).toContain("GROQ_API_KEY");
});

describe("logins", () => {
  test("of codex and claude_code are seen, of the API backends there are none", async () => {
    await using at = await places({ "~/.codex/auth.json": "{}", "~/.claude/.credentials.json": "{}" });
    expect(loginOf("codex", at.home)).toBe(join(at.home, ".codex/auth.json"));
    expect(loginOf("claude_code", at.home)).toBe(join(at.home, ".claude/.credentials.json"));
    for (const backend of ["openai", "claude", "grok"]) expect(loginOf(backend, at.home)).toBeNull();
  });

  test("an empty file is no login", async () => {
    await using at = await places({ "~/.codex/auth.json": "" });
    expect(loginOf("codex", at.home)).toBeNull();
  });

  test("CLAUDE_CONFIG_DIR moves the one of claude_code; one in CODEX_HOME is known to be out of MassGen's sight", async () => {
    await using at = await places({ "./c/.credentials.json": "{}", "./x/auth.json": "{}", "~/.claude/.credentials.json": "{}" });
    const env = { CLAUDE_CONFIG_DIR: join(at.project, "c"), CODEX_HOME: join(at.project, "x") };
    expect(loginOf("claude_code", at.home, env)).toBe(join(at.project, "c/.credentials.json"));
    expect(loginOf("codex", at.home, env)).toBeNull();
    expect(unusableCodexLogin(at.home, env)).toBe(join(at.project, "x/auth.json"));
    expect(unusableCodexLogin(at.home, {})).toBeNull();
  });

  test("the macOS keychain cannot be looked into", () => {
    expect(loginIsHidden("claude_code", "darwin")).toBe(true);
    expect(loginIsHidden("claude_code", "linux")).toBe(false);
    expect(loginIsHidden("codex", "darwin")).toBe(false);
  });
});
