import { describe, expect, test } from "bun:test";
import { findKeys } from "../../src/config/keys.ts";
import { agentsOf, createModelNames, type Model } from "../../src/config/models.ts";
import { type Access, checkModels, checkPrograms, checkSynthesizer, isInstalled, wayIn } from "../../src/preflight/models.ts";
import { createPlace, type Place } from "./support.ts";

const team = (...models: string[]) =>
  agentsOf(models.map((name) => createModelNames().find(name)).filter((model): model is Model => model !== null));

function access(place: Place, env: Record<string, string> = {}, change: Partial<Access> = {}): Access {
  return { keys: findKeys(env, place.project, place.home), claimed: [], home: place.home, env, platform: "linux", ...change };
}

describe("a model gets in", () => {
  test("with a key, a login, or what a wrapper claims", async () => {
    await using place = createPlace();
    place.temp.write("home/.codex/auth.json", "{}");
    const at = access(place, { GOOGLE_API_KEY: "k" }, { claimed: ["XAI_API_KEY"] });
    expect(wayIn({ backend: "gemini" }, at)).toEqual({ kind: "key", detail: "GOOGLE_API_KEY from the environment" });
    expect(wayIn({ backend: "codex" }, at)).toEqual({ kind: "login", detail: `the login in ${place.home}/.codex/auth.json` });
    expect(wayIn({ backend: "grok" }, at).kind).toBe("claimed");
    expect(wayIn({ backend: "claude" }, at)).toEqual({ kind: "none", detail: "ANTHROPIC_API_KEY" });
  });

  test("perhaps, where it cannot be seen: its own config, a local server, the macOS keychain", async () => {
    await using place = createPlace();
    expect(wayIn({ backend: "grok", config: "/x.yaml" }, access(place)).kind).toBe("unseen");
    expect(wayIn({ backend: "vllm" }, access(place)).kind).toBe("unseen");
    expect(wayIn({ backend: "claude_code" }, access(place, {}, { platform: "darwin" })).kind).toBe("unseen");
    expect(wayIn({ backend: "claude_code" }, access(place)).kind).toBe("none");
  });
});

describe("a team", () => {
  test("in which one model lacks a key is warned about and starts", async () => {
    await using place = createPlace();
    const checks = checkModels(team("codex", "grok"), access(place, { XAI_API_KEY: "k" }));
    expect(checks.map(({ status }) => status)).toEqual(["warn", "ok"]);
    expect(checks[0]?.message).toContain("agent_a codex/gpt-5.4 has no key; it is launched all the same");
    expect(checks[0]?.hint).toBe("Set OPENAI_API_KEY or a login (codex login)");
  });

  test("in which all lack one does not start, and is told the variable of each", async () => {
    await using place = createPlace();
    place.temp.write("project/.env", "XAI_API_KEY=");
    const [check] = checkModels(team("codex", "gemini", "grok"), access(place));
    expect(check?.status).toBe("fail");
    expect(check?.message).toContain("codex/gpt-5.4 needs OPENAI_API_KEY or a login (codex login)");
    expect(check?.message).toContain("gemini/gemini-3.1-pro-preview needs GEMINI_API_KEY or GOOGLE_API_KEY");
    expect(check?.message).toContain("XAI_API_KEY is blank in ./.env");
    expect(check?.hint).toBe("Set OPENAI_API_KEY, GEMINI_API_KEY, or XAI_API_KEY, in your shell (export OPENAI_API_KEY=…) or in ./.env");
  });

  test("in which one model's way in cannot be seen starts", async () => {
    await using place = createPlace();
    expect(checkModels(team("vllm/x", "grok"), access(place)).map(({ status }) => status)).toEqual(["ok", "warn"]);
  });

  test("with a codex login that MassGen cannot find is told where it looks", async () => {
    await using place = createPlace();
    const path = place.temp.write("elsewhere/auth.json", "{}");
    const env = { CODEX_HOME: place.temp.join("elsewhere"), XAI_API_KEY: "k" };
    expect(checkModels(team("codex", "grok"), access(place, env))[0]?.hint).toContain(`cp ${path} ~/.codex/auth.json`);
  });
});

test("a synthesizer of its own needs a way in too; one of the team has been looked at, and the winner's model is nobody yet", async () => {
  await using place = createPlace();
  const at = access(place, { XAI_API_KEY: "k" });
  const agents = team("grok", "codex");
  expect(checkSynthesizer("gemini/gemini-3.1-pro-preview", agents, at)).toEqual([
    {
      name: "models",
      status: "warn",
      message: "the synthesizer gemini/gemini-3.1-pro-preview has no key; without it the winner's answer is delivered as it is",
      hint: "Set GEMINI_API_KEY or GOOGLE_API_KEY",
    },
  ]);
  expect(checkSynthesizer("grok/other", agents, at)).toMatchObject([
    { status: "ok", message: "synthesis grok/other: XAI_API_KEY from the environment" },
  ]);
  expect(checkSynthesizer("native:openai/gpt-5.4", agents, at)).toMatchObject([{ status: "warn", hint: "Set OPENAI_API_KEY" }]);
  expect(checkSynthesizer("codex/gpt-5.4", agents, at)).toEqual([]);
  expect(checkSynthesizer(null, agents, at)).toEqual([]);
});

test("a program is looked for on PATH and where npm puts it", async () => {
  await using place = createPlace();
  expect(isInstalled("codex-of-a-test", place.env, place.home)).toBe(false);
  place.program("home/.npm-global/bin/codex-of-a-test", "");
  expect(isInstalled("codex-of-a-test", place.env, place.home)).toBe(true);
});

test("the program of a command-line backend must be here, unless docker brings it", () => {
  const agents = team("codex", "grok");
  expect(checkPrograms(agents, false, () => false)).toMatchObject([{ status: "warn", hint: "Install it: npm install -g @openai/codex" }]);
  expect(checkPrograms(agents, false, () => true)).toEqual([]);
  expect(checkPrograms(agents, true, () => false)).toEqual([]);
});
