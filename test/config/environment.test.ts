import { describe, expect, test } from "bun:test";
import { mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  differences,
  environmentPath,
  parseEnvironment,
  readEnvironment,
  renderEnvironment,
  type Surroundings,
  setAsideEnvironment,
  writeEnvironment,
} from "../../src/config/environment.ts";

const parsed = (json: unknown) => parseEnvironment(JSON.stringify(json), "/p/environment.json", "/p", "/home/me");
const found = (change: Partial<Surroundings> = {}): Surroundings => ({
  massgen: { version: "0.1.97", source: "massgen on PATH" },
  keys: [],
  docker: false,
  ...change,
});

describe("environment.json is understood", () => {
  const claims: [title: string, keys: unknown, claims: Record<string, boolean>][] = [
    ["with a map of booleans", { OPENAI_API_KEY: true, XAI_API_KEY: false }, { OPENAI_API_KEY: true, XAI_API_KEY: false }],
    [
      "with strings",
      { OPENAI_API_KEY: "set", XAI_API_KEY: "missing", GROQ_API_KEY: "" },
      { OPENAI_API_KEY: true, XAI_API_KEY: false, GROQ_API_KEY: false },
    ],
    [
      "with objects",
      { OPENAI_API_KEY: { available: false }, XAI_API_KEY: { source: ".env" } },
      { OPENAI_API_KEY: false, XAI_API_KEY: true },
    ],
    ["with a list", ["OPENAI_API_KEY", { name: "XAI_API_KEY", available: false }], { OPENAI_API_KEY: true, XAI_API_KEY: false }],
    ["with names of providers", { openai: true, Anthropic: false, constructor: true }, { OPENAI_API_KEY: true, ANTHROPIC_API_KEY: false }],
    ["with null", null, {}],
  ];
  for (const [title, keys, want] of claims) {
    test(title, () => {
      expect(parsed({ api_keys: keys }).claims).toEqual(want);
      expect(parsed({ api_keys: keys }).warnings).toEqual([]);
    });
  }

  test("whether massgen is an object or a word", () => {
    expect(parsed({ massgen: { available: true } }).available).toBe(true);
    expect(parsed({ massgen: false }).available).toBe(false);
    expect(parsed({ massgen: { available: "no" } }).available).toBe(false);
    expect(parsed({}).available).toBeNull();
  });

  test("with a plugin_dir from the home, absolute, or relative to the project", () => {
    expect(parsed({ plugin_dir: "~/plugin" }).pluginDir).toBe("/home/me/plugin");
    expect(parsed({ plugin_dir: "/opt/plugin" }).pluginDir).toBe("/opt/plugin");
    expect(parsed({ plugin_dir: "tools/plugin" }).pluginDir).toBe("/p/tools/plugin");
    expect(parsed({ plugin_dir: " " }).pluginDir).toBeNull();
  });

  test("in unknown shapes with warnings that never show a value", () => {
    const secret = "sk-secret-1234567890";
    const { warnings, available, pluginDir, claims } = parsed({
      massgen: { available: 3 },
      api_keys: [secret, 7, [secret]],
      plugin_dir: [secret],
    });
    expect({ available, pluginDir, claims }).toEqual({ available: null, pluginDir: null, claims: {} });
    expect(warnings).toHaveLength(4);
    expect(warnings.join()).not.toContain(secret);
    expect(parsed(["x"]).warnings).toHaveLength(1);
    expect(parsed({ api_keys: 5 }).warnings[0]).toContain("neither a map nor a list");
  });

  test("wrong JSON is an error with its line", async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), "environment-"));
    const path = environmentPath(directory.path);
    await mkdir(dirname(path));
    await writeFile(path, '{\n  "massgen": {"available": true,}\n}');
    await expect(readEnvironment(directory.path, "/")).rejects.toThrow(`${path}:2:33 is not JSON`);
  });

  test("a missing file is null, a directory in its place an error", async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), "environment-"));
    expect(await readEnvironment(directory.path, "/")).toBeNull();
    await mkdir(environmentPath(directory.path), { recursive: true });
    await expect(readEnvironment(directory.path, "/")).rejects.toThrow("cannot be read");
  });
});

describe("what differs is said", () => {
  test("of MassGen in both directions, and of keys", () => {
    const denies = parsed({ massgen: { available: false }, api_keys: { XAI_API_KEY: false, OPENAI_API_KEY: true, GROQ_API_KEY: true } });
    expect(differences(denies, found({ keys: ["XAI_API_KEY", "GROQ_API_KEY"] }))).toEqual([
      { message: "environment.json says that MassGen is unavailable, but it is here (0.1.97, massgen on PATH)", notable: true },
      { message: "environment.json says that there is no XAI_API_KEY, but there is", notable: false },
      { message: "environment.json says that there is OPENAI_API_KEY, but it was not found", notable: true },
    ]);
    expect(differences(parsed({ massgen: { available: true } }), found({ massgen: null }))).toHaveLength(1);
  });

  test("and nothing when all is as it says, or it says nothing", () => {
    expect(
      differences(parsed({ massgen: { available: true }, api_keys: ["XAI_API_KEY"] }), found({ keys: ["XAI_API_KEY", "GROQ_API_KEY"] })),
    ).toEqual([]);
    expect(differences(parsed({}), found({ keys: ["XAI_API_KEY"] }))).toEqual([]);
  });
});

describe("environment.json is rewritten", () => {
  test("with what was found, and reads back as that", () => {
    const text = renderEnvironment(found({ keys: ["XAI_API_KEY"], docker: true }), ["OPENAI_API_KEY", "XAI_API_KEY"], null);
    const back = parseEnvironment(text, "e", "/p", "/h");
    expect(back.available).toBe(true);
    expect(back.claims).toEqual({ OPENAI_API_KEY: false, XAI_API_KEY: true });
    expect(back.warnings).toEqual([]);
    expect(back.fields.docker).toEqual({ available: true });
  });

  test("without losing a field that is not ours, at any depth", () => {
    const before = parsed({
      $schema: "x",
      massgen: { available: false, path: "/opt/massgen" },
      api_keys: { MY_API_KEY: true, XAI_API_KEY: { available: false, note: "n" } },
      docker: "podman",
      plugin_dir: "tools",
      python: { version: "3.12" },
    });
    const after = JSON.parse(renderEnvironment(found({ keys: ["XAI_API_KEY"] }), ["XAI_API_KEY"], before));
    expect(after).toMatchObject({
      $schema: "x",
      massgen: { available: true, path: "/opt/massgen" },
      api_keys: { MY_API_KEY: true, XAI_API_KEY: { available: true, note: "n" } },
      docker: "podman",
      plugin_dir: "tools",
      python: { version: "3.12" },
    });
  });

  test("whole, for its owner only", async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), "environment-"));
    const path = await writeEnvironment(directory.path, "{}\n");
    expect(await readFile(path, "utf8")).toBe("{}\n");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(path))).toEqual(["environment.json"]);
  });

  test("after a broken one was set aside under a name of its own", async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), "environment-"));
    for (const text of ["one", "two"]) {
      await writeEnvironment(directory.path, text);
      await setAsideEnvironment(directory.path);
    }
    const path = environmentPath(directory.path);
    expect(await readFile(`${path}.bak`, "utf8")).toBe("one");
    expect(await readFile(`${path}.bak2`, "utf8")).toBe("two");
  });
});
