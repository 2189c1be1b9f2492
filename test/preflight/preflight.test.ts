import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { environmentPath } from "../../src/config/environment.ts";
import { agentsOf, createModelNames, type Model } from "../../src/config/models.ts";
import type { DraftSettings } from "../../src/config/settings.ts";
import { recordTrust, scriptSubject } from "../../src/config/trust.ts";
import { TeamError } from "../../src/errors.ts";
import { type PreflightInput, type PreflightReport, preflight } from "../../src/preflight.ts";
import { createPlace, helpScript, type Place } from "./support.ts";

const key = "sk-secret-0123456789abcdef";
const team = (...words: string[]) =>
  agentsOf(words.map((word) => createModelNames().find(word)).filter((model): model is Model => model !== null));

function settingsOf(place: Place, change: Partial<DraftSettings> = {}): DraftSettings {
  return {
    query: "Build it",
    agents: team("codex", "grok"),
    limits: {
      maxRounds: 5,
      timeoutSeconds: 1800,
      costBudget: null,
      stepTimeoutSeconds: null,
      retries: 1,
      maxParallel: null,
      allowUnpriced: false,
    },
    docker: "off",
    context: [],
    criteriaPath: null,
    synthesis: "agent",
    synthesizer: null,
    prices: {},
    ballotFix: "auto",
    engine: "auto",
    massgenCommand: null,
    massgenSource: null,
    report: true,
    projectDir: place.project,
    ...change,
  };
}

/** A place in which a run may start: a MassGen, a codex program, a key. */
function goodPlace(): Place {
  const place = createPlace();
  place.program("bin/massgen", helpScript());
  place.program("bin/codex", "#!/bin/sh\n");
  place.env.OPENAI_API_KEY = key;
  place.temp.write("project/.env", "XAI_API_KEY=xai-from-a-file\n");
  return place;
}

function run(place: Place, change: Partial<DraftSettings> = {}, more: Partial<PreflightInput> = {}): Promise<PreflightReport> {
  return preflight({ settings: settingsOf(place, change), env: place.env, home: place.home, ...more });
}

async function refusal(promise: Promise<unknown>): Promise<TeamError> {
  const error = await promise.then(
    () => null,
    (thrown) => thrown,
  );
  if (error instanceof TeamError) return error;
  throw error ?? new Error("the run may start");
}

describe("a run may start", () => {
  test("with all it needs: install, team, keys for the children, no warning", async () => {
    await using place = goodPlace();
    const report = await run(place);
    expect(report.install?.source).toBe("massgen on PATH");
    expect(report.agents.map(({ model }) => model)).toEqual(["codex/gpt-5.4", "grok/grok-4.20-0309-reasoning"]);
    expect(report.keysEnv).toEqual({ OPENAI_API_KEY: key, XAI_API_KEY: "xai-from-a-file" });
    expect(report.secrets.toSorted()).toEqual([key, "xai-from-a-file"]);
    expect(report.warnings).toEqual([]);
    expect(report.docker).toBe(false);
  });

  test("and the checks hold no secret", async () => {
    await using place = goodPlace();
    const { checks, warnings } = await run(place, { agents: team("codex", "gemini") });
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify({ checks, warnings })).not.toMatch(/sk-secret|xai-from/);
  });

  test("with the default team, by the keys that there are, aliases respected", async () => {
    await using place = goodPlace();
    const names = createModelNames({ grok: "grok/grok-9" });
    expect((await run(place, { agents: null }, { names })).agents.map(({ model }) => model)).toEqual(["codex/gpt-5.4", "grok/grok-9"]);
  });

  test("natively without MassGen and docker", async () => {
    await using place = createPlace();
    place.env.XAI_API_KEY = key;
    const report = await run(place, { engine: "native", docker: "auto", agents: team("grok", "grok") });
    expect(report.install).toBeNull();
    expect(report.docker).toBe(false);
    expect(existsSync(environmentPath(place.project))).toBe(false);
  });

  test("in docker, at the address that the docker CLI uses", async () => {
    await using place = goodPlace();
    place.program(
      "bin/docker",
      `#!/bin/sh\ncase "$1" in info) echo 27.1;; image) echo x;; context) echo unix:///run/user/1/docker.sock;; esac\n`,
    );
    const report = await run(place, { docker: "auto" });
    expect(report.docker).toBe(true);
    expect(report.dockerEnv).toEqual({ DOCKER_HOST: "unix:///run/user/1/docker.sock" });
  });
});

describe("environment.json", () => {
  test("is written where it is missing, without a key in it, and then agreed with", async () => {
    await using place = goodPlace();
    await run(place);
    const text = readFileSync(environmentPath(place.project), "utf8");
    expect(JSON.parse(text)).toMatchObject({ massgen: { available: true }, api_keys: { OPENAI_API_KEY: true, GEMINI_API_KEY: false } });
    expect(text).not.toMatch(/sk-secret|xai-from/);
    expect((await run(place)).checks.map(({ message }) => message)).toContain(
      `${environmentPath(place.project)} agrees with what was found`,
    );
  });

  test("is not written by a dry run", async () => {
    await using place = goodPlace();
    await run(place, {}, { dryRun: true });
    expect(existsSync(environmentPath(place.project))).toBe(false);
  });

  test("that says MassGen is unavailable makes for a second look, and what differs is said", async () => {
    await using place = goodPlace();
    const text = '{"massgen": {"available": false}, "api_keys": {"XAI_API_KEY": false}}';
    place.temp.write("project/.massgen-quality/environment.json", text);
    const { warnings, install } = await run(place);
    expect(install).not.toBeNull();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("says that MassGen is unavailable, but it is here");
    expect(warnings[0]).toContain("mg-team init --force");
    expect(readFileSync(environmentPath(place.project), "utf8")).toBe(text);
  });

  test("that is not JSON stops the run with its line, before MassGen is started", async () => {
    await using place = goodPlace();
    place.temp.write("project/.massgen-quality/environment.json", '{\n"massgen": }');
    const error = await refusal(run(place));
    expect(error.message).toContain("environment.json:2:12 is not JSON");
    expect(error.code).toBe("config");
    expect(existsSync(place.temp.join("bin/massgen.starts"))).toBe(false);
  });

  test("names a wrapper: it is used, its claims of keys count, and MassGen on PATH stands in when it does not work", async () => {
    await using place = goodPlace();
    place.temp.write("project/.env", "");
    place.temp.write(
      "project/.massgen-quality/environment.json",
      JSON.stringify({ plugin_dir: place.temp.join("plugin"), api_keys: ["XAI_API_KEY"] }),
    );
    const wrapper = place.program("plugin/scripts/run-massgen.sh", helpScript());
    const { install, warnings } = await run(place, { agents: null });
    expect(install?.argv.at(-1)).toBe(wrapper);
    expect(warnings).toEqual([]);
    place.program("plugin/scripts/run-massgen.sh", "#!/bin/sh\necho 'massgen: command not found' >&2\nexit 127\n");
    const instead = await run(place);
    expect(instead.install?.source).toBe("massgen on PATH");
    expect(instead.warnings[0]).toContain("massgen: command not found; massgen on PATH is used instead");
  });

  test("names a wrapper inside the project: refused until trusted, and again once it has changed", async () => {
    await using place = goodPlace();
    place.temp.write("project/.massgen-quality/environment.json", '{"plugin_dir": "tools"}');
    const script = place.program("project/tools/scripts/run-massgen.sh", helpScript());
    const error = await refusal(run(place));
    expect(error.code).toBe("untrusted");
    expect(error.hint).toContain("mg-team trust");
    expect(existsSync(`${script}.starts`)).toBe(false);

    const subject = scriptSubject(script, place.project);
    if (subject !== null) recordTrust([subject], place.env, new Date());
    expect((await run(place)).install?.argv.at(-1)).toBe(script);
    place.program("project/tools/scripts/run-massgen.sh", `${helpScript()}# changed\n`);
    expect((await refusal(run(place))).code).toBe("untrusted");
  });
});

describe("a run is refused", () => {
  test("once for all that files tell, with a next step for each, and before any program is started", async () => {
    await using place = goodPlace();
    const criteriaPath = place.temp.write("criteria.json", "[]");
    const error = await refusal(
      run(place, { query: "x".repeat(200_000), criteriaPath, context: [{ path: "/no/such", permission: "read" }] }),
    );
    expect(error.message).toStartWith("3 things keep the run from starting:\n  query: the query has 196 KiB");
    expect(error.message).toContain("  context: the context path /no/such does not exist\n    Correct --context");
    expect(error.message).toContain("  criteria: ");
    expect(error.exitCode).toBe(3);
    expect(existsSync(place.temp.join("bin/massgen.starts"))).toBe(false);
  });

  test("without any key, with the variable to set", async () => {
    await using place = createPlace();
    place.program("bin/massgen", helpScript());
    const error = await refusal(run(place));
    expect(error.message).toContain("no model of the team has a key");
    expect(error.hint).toContain("export OPENAI_API_KEY=…");
    expect(error.exitCode).toBe(3);
  });

  test("when nobody was named and fewer than two providers have a key", async () => {
    await using place = createPlace();
    place.env.XAI_API_KEY = key;
    expect((await refusal(run(place, { agents: null }))).exitCode).toBe(3);
  });

  test("without MassGen, with what to install; environment.json then says so", async () => {
    await using place = createPlace();
    place.env.OPENAI_API_KEY = key;
    place.env.PATH = place.bin;
    const error = await refusal(run(place, { engine: "massgen" }));
    expect(error.message).toContain("MassGen was not found");
    expect(error.hint).toContain("uv tool install");
    expect(JSON.parse(readFileSync(environmentPath(place.project), "utf8")).massgen.available).toBe(false);
  });

  test("when a model of the team needs MassGen, and there is none", async () => {
    await using place = createPlace();
    place.env.OPENAI_API_KEY = key;
    place.env.PATH = place.bin;
    const error = await refusal(run(place, { agents: team("codex", "massgen:grok/grok-4") }));
    expect(error.message).toContain("MassGen was not found");
    const other = await refusal(run(place, { agents: team("codex", "azure_openai/gpt-5.4") }));
    expect(other.message).toContain("MassGen was not found");
  });

  test("natively, when only MassGen can run a model", async () => {
    await using place = goodPlace();
    const error = await refusal(run(place, { agents: team("codex", "azure_openai/gpt-5.4"), engine: "native" }));
    expect(error.message).toBe("only MassGen can run agent_b (azure_openai/gpt-5.4)");
  });

  test("natively, when there is a login but no key", async () => {
    await using place = createPlace();
    place.temp.write("home/.codex/auth.json", "{}");
    place.env.PATH = place.bin;
    expect((await refusal(run(place, { agents: team("codex", "codex") }))).message).toContain("no model of the team has a key");
  });

  test("with an explicit command that lacks a part, which is named with its source", async () => {
    await using place = goodPlace();
    const error = await refusal(run(place, { massgenCommand: "/no/massgen", massgenSource: "MG_TEAM_MASSGEN" }));
    expect(error.message).toBe("the MassGen command of MG_TEAM_MASSGEN: /no/massgen does not exist");
  });
});

describe("who runs the steps", () => {
  test("auto takes MassGen where it works", async () => {
    await using place = goodPlace();
    const { install, warnings } = await run(place);
    expect(install?.source).toBe("massgen on PATH");
    expect(warnings.join()).not.toContain("native");
  });

  test("auto takes mg-team itself where MassGen is missing or broken, and says so in one line", async () => {
    for (const massgen of [null, "#!/bin/sh\necho usage: massgen\n", "#!/bin/sh\nexit 1\n"]) {
      await using place = goodPlace();
      place.program("bin/massgen", massgen ?? "");
      if (massgen === null) rmSync(`${place.bin}/massgen`);
      place.env.PATH = place.bin;
      const { install, docker, warnings } = await run(place, { docker: "auto" });
      expect({ install, docker }).toEqual({ install: null, docker: false });
      expect(warnings.filter((warning) => warning.includes("mg-team runs the steps itself"))).toHaveLength(1);
      expect(warnings.join()).toContain("not run code");
    }
  });

  test("native asks for no MassGen and no docker, and for keys only", async () => {
    await using place = goodPlace();
    const { install, checks, warnings } = await run(place, { engine: "native", docker: "auto" });
    expect(install).toBeNull();
    expect(warnings).toEqual([]);
    expect(existsSync(`${place.bin}/massgen.starts`)).toBe(false);
    expect(checks.map(({ message }) => message).join()).toContain("mg-team runs the steps itself");
    expect(existsSync(environmentPath(place.project))).toBe(false);
  });

  test("local servers and models with an engine of their own need neither key nor MassGen", async () => {
    await using place = createPlace();
    const { install, warnings } = await run(place, { agents: team("native:ollama/llama3", "ollama/qwen3", "native:vllm/m") });
    expect({ install, warnings }).toEqual({ install: null, warnings: [] });
  });

  test("a native agent beside one of MassGen leaves MassGen its part", async () => {
    await using place = goodPlace();
    const { install, checks } = await run(place, { agents: team("codex", "native:grok/grok-4") });
    expect(install).not.toBeNull();
    expect(checks.map(({ message }) => message)).toContain("agent_b native:grok/grok-4: XAI_API_KEY from ./.env");
  });
});
