import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { command as doctor } from "../../src/commands/doctor.ts";
import { command as init } from "../../src/commands/init.ts";
import { environmentPath } from "../../src/config/environment.ts";
import { readConfigFile } from "../../src/config/file.ts";
import { configSubject, recordTrust } from "../../src/config/trust.ts";
import { TeamError } from "../../src/errors.ts";
import { runCommand } from "./context.ts";
import { createPlace, helpScript, type Place } from "./support.ts";

/** A place in which a run may start. */
function goodPlace(): Place {
  const place = createPlace();
  place.program("bin/massgen", helpScript());
  place.program("bin/codex", "#!/bin/sh\n");
  place.program("bin/docker", "#!/bin/sh\necho 27.1\n");
  Object.assign(place.env, { OPENAI_API_KEY: "sk-secret-openai-0001", XAI_API_KEY: "xai-secret-0002" });
  return place;
}

describe("doctor", () => {
  test("exits 0 where a run could start, and says what was found and where", async () => {
    await using place = goodPlace();
    place.temp.write("home/.massgen/.env", "GEMINI_API_KEY=gemini-secret-0003");
    place.temp.write("home/.codex/auth.json", "{}");
    const { code, stdout } = await runCommand(doctor, place);
    expect(code).toBe(0);
    for (const words of [
      "MassGen unknown (massgen on PATH)",
      join(place.bin, "massgen"),
      "--no-parse-at-references",
      "engine 27.1",
      "OPENAI_API_KEY from the environment",
      "GEMINI_API_KEY from ~/.massgen/.env",
      `codex: ${place.home}/.codex/auth.json`,
      "agent_a codex/gpt-5.4",
      "no mg-team.yaml",
      "GiB free",
      "Ready: a run can start.",
    ]) {
      expect(stdout).toContain(words);
    }
  });

  test("exits 3 where none could, and says the next step of each problem", async () => {
    await using place = createPlace();
    place.env.PATH = place.bin;
    const { code, stdout } = await runCommand(doctor, place, ["--engine", "massgen"]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/FAIL {2}MassGen .* MassGen was not found/);
    expect(stdout).toContain("uv tool install massgen==0.1.97");
    expect(stdout).toMatch(/FAIL {2}models/);
    expect(stdout).toContain("Not ready: 2 things to put right first.");
  });

  test("without MassGen, keys are enough: mg-team runs the steps itself, and says so", async () => {
    await using place = goodPlace();
    place.env.PATH = place.bin;
    rmSync(join(place.bin, "massgen"));
    const { code, stdout } = await runCommand(doctor, place);
    expect(code).toBe(0);
    expect(stdout).toMatch(/warn {2}engine .*mg-team runs the steps itself/);
    expect(stdout).not.toContain("docker");
    expect(stdout).toContain("Ready: a run can start (1 warning).");
  });

  test("shows a broken mg-team.yaml and a broken environment.json as two of its findings", async () => {
    await using place = goodPlace();
    place.temp.write("project/mg-team.yaml", "max_round: 3\n");
    place.temp.write("project/.massgen-quality/environment.json", "{");
    const { code, stdout } = await runCommand(doctor, place);
    expect(code).toBe(3);
    expect(stdout).toMatch(/FAIL {2}config .*max_round/s);
    expect(stdout).toMatch(/FAIL {2}environment .*environment\.json:1:2 is not JSON/);
  });

  test("tells the state of trust: not yet, trusted, changed", async () => {
    await using place = goodPlace();
    place.temp.write("project/mine.yaml", "a: 1");
    const path = place.temp.write("project/mg-team.yaml", "models: [{model: codex, config: ./mine.yaml}, grok]\n");
    const before = await runCommand(doctor, place);
    expect(before.code).toBe(3);
    expect(before.stdout).toMatch(/FAIL {2}trust .*mine\.yaml/);
    const subject = configSubject(readConfigFile(path, place.project));
    if (subject !== null) recordTrust([subject], place.env, new Date());
    const after = await runCommand(doctor, place);
    expect(after.code).toBe(0);
    expect(after.stdout).toMatch(/ok {4}trust .*trusted: config of codex\/gpt-5\.4/);
    place.temp.write("project/mine.yaml", "a: 2");
    expect((await runCommand(doctor, place)).stdout).toContain("has changed since you trusted it");
  });

  test("checks criteria and context of the configuration", async () => {
    await using place = goodPlace();
    place.temp.write("project/c.json", '[{"text": " "}]');
    place.temp.write("project/mg-team.yaml", "eval_criteria: ./c.json\ncontext: [./c.json]\n");
    const { code, stdout } = await runCommand(doctor, place);
    expect(code).toBe(3);
    expect(stdout).toMatch(/FAIL {2}criteria .*criterion 1: needs a `text`/);
    expect(stdout).toMatch(/ok {4}context .*1 path/);
  });

  test("says whether the installed MassGen's ballot needs the repair, and asks it once", async () => {
    await using place = goodPlace();
    const venv = (verdict: string) => {
      const asks = `[ "$1" = -c ] || exec /bin/sh "$@"\necho x >> "$0.asked"\necho "mg-team ballot: ${verdict}"\n`;
      const python = place.program("venv/bin/python3", `#!/bin/sh\n${asks}`);
      return place.program("bin/massgen", helpScript().replace("#!/bin/sh", `#!${python}`));
    };
    venv("needed");
    for (const _ of [1, 2]) {
      expect((await runCommand(doctor, place)).stdout).toMatch(
        /ok {4}ballot .*needs the repair: this MassGen offers voters only themselves/,
      );
    }
    expect(readFileSync(place.temp.join("venv/bin/python3.asked"), "utf8")).toBe("x\n");
    expect(JSON.parse((await runCommand(doctor, place, ["--json"])).stdout).ballot_fix).toEqual({ need: "needed", why: "" });

    place.temp.write("project/mg-team.yaml", "massgen: { ballot_fix: off }\n");
    const off = await runCommand(doctor, place);
    expect(off.code).toBe(0);
    expect(off.stdout).toMatch(/warn {2}ballot .*the repair is switched off, so votes may miss their targets/);

    venv("not needed");
    expect((await runCommand(doctor, place, ["--refresh"])).stdout).toMatch(/ok {4}ballot .*needs no repair/);
    venv("unknown: it is odd");
    place.temp.write("project/mg-team.yaml", "massgen: { ballot_fix: auto }\n");
    expect((await runCommand(doctor, place, ["--refresh"])).stdout).toMatch(
      /ok {4}ballot .*is not known \(it is odd\); runs put the repair/,
    );
  });

  test("looks at the team of MG_TEAM_MODELS before that of mg-team.yaml, as a run does", async () => {
    await using place = goodPlace();
    place.temp.write("project/mg-team.yaml", "models: [{model: codex, config: ./mine.yaml}, grok]\n");
    place.temp.write("project/mine.yaml", "agents: []\n");
    const report = async (models: string) => {
      place.env.MG_TEAM_MODELS = models;
      return JSON.parse((await runCommand(doctor, place, ["--json"])).stdout);
    };
    expect(await report("gemini grok")).toMatchObject({
      // Of the two only gemini has no key, and the config of the file's codex needs no consent: it is not used.
      models: ["gemini/gemini-3.1-pro-preview", "grok/grok-4.20-0309-reasoning"],
      ready: true,
    });
    for (const [models, message] of [
      ["codex", "a team needs two models"],
      ["codex gemni", 'there is no model "gemni"'],
    ] as const) {
      const { ready, checks } = await report(models);
      expect([ready, JSON.stringify(checks)]).toEqual([
        false,
        expect.stringContaining(JSON.stringify(message).slice(1, -1).replaceAll("\\\\", "\\")),
      ]);
    }
  });

  test("writes nothing into the project", async () => {
    await using place = goodPlace();
    await runCommand(doctor, place);
    expect(readdirSync(place.project)).toEqual([".keep"]);
  });

  test("prints JSON for scripts", async () => {
    await using place = goodPlace();
    const report = JSON.parse((await runCommand(doctor, place, ["--json"])).stdout);
    expect(report).toMatchObject({
      version: 1,
      ready: true,
      massgen: { source: "massgen on PATH", command: [join(place.bin, "massgen")] },
      docker: "27.1",
      keys: { OPENAI_API_KEY: "environment", XAI_API_KEY: "environment" },
      models: ["codex/gpt-5.4", "grok/grok-4.20-0309-reasoning"],
    });
    expect(report.massgen.flags).toContain("--step");
    expect(report.checks[0]).toEqual({ name: "MassGen", status: "ok", message: "MassGen unknown (massgen on PATH)", hint: "" });
  });

  test("uses colour on a terminal only, and not with --no-color, NO_COLOR or a dumb terminal", async () => {
    await using place = goodPlace();
    const colored = async (args: string[] = [], env: Record<string, string> = {}, isTerminal = true) => {
      const before = { ...place.env };
      Object.assign(place.env, env);
      const { stdout } = await runCommand(doctor, place, args, isTerminal);
      for (const name of Object.keys(env)) if (!(name in before)) delete place.env[name];
      return stdout.includes("\u001b[");
    };
    expect(await colored()).toBe(true);
    expect(await colored([], {}, false)).toBe(false);
    expect(await colored(["--no-color"])).toBe(false);
    expect(await colored([], { NO_COLOR: "1" })).toBe(false);
    expect(await colored([], { TERM: "dumb" })).toBe(false);
  });

  test("aligns its lines whatever is in a path", async () => {
    await using place = createPlace("line\nbreak \u001b[31mred");
    place.env.XAI_API_KEY = "xai-secret-0002";
    const { stdout } = await runCommand(doctor, place);
    expect(stdout).not.toContain("\u001b");
    const titled = stdout.split("\n").filter((line) => /^(ok {2}|warn|FAIL) {2}\S/.test(line));
    expect(new Set(titled.map((line) => line.slice(6).search(/(?<= {2})\S/))).size).toBeLessThanOrEqual(2);
  });
});

describe("init", () => {
  test("writes what it found, and prints it", async () => {
    await using place = goodPlace();
    const { code, stdout } = await runCommand(init, place);
    expect(code).toBe(0);
    expect(stdout).toContain(`wrote ${environmentPath(place.project)}`);
    const written = JSON.parse(readFileSync(environmentPath(place.project), "utf8"));
    expect(written).toMatchObject({
      massgen: { available: true, found_by: "massgen on PATH" },
      api_keys: { OPENAI_API_KEY: true, XAI_API_KEY: true, ANTHROPIC_API_KEY: false },
      docker: { available: true },
      plugin_dir: null,
    });
  });

  test("leaves a file that exists alone and says what differs; --force brings it up to date and keeps the rest", async () => {
    await using place = goodPlace();
    const text = '{"massgen": {"available": false, "extra": 1}, "api_keys": ["OPENAI_API_KEY"], "mine": [1]}';
    const path = place.temp.write("project/.massgen-quality/environment.json", text);
    const first = await runCommand(init, place);
    expect(first.stdout).toContain("MassGen is unavailable, but it is here");
    expect(first.stdout).toContain("mg-team init --force");
    expect(readFileSync(path, "utf8")).toBe(text);
    await runCommand(init, place, ["--force"]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      massgen: { available: true, extra: 1 },
      api_keys: { XAI_API_KEY: true },
      mine: [1],
    });
    const report = JSON.parse((await runCommand(init, place, ["--json"])).stdout);
    expect(report).toMatchObject({ written: false, keys: ["OPENAI_API_KEY", "XAI_API_KEY"] });
  });

  test("refuses a file that is not JSON; --force sets it aside", async () => {
    await using place = goodPlace();
    const path = place.temp.write("project/.massgen-quality/environment.json", "{");
    await expect(runCommand(init, place)).rejects.toThrow(TeamError);
    expect(readFileSync(path, "utf8")).toBe("{");
    const { stdout } = await runCommand(init, place, ["--force"]);
    expect(readFileSync(`${path}.bak`, "utf8")).toBe("{");
    expect(stdout).toContain("environment.json.bak");
    expect(JSON.parse(readFileSync(path, "utf8")).massgen.available).toBe(true);
  });

  test("writes nothing when the command that it was given does not work", async () => {
    await using place = goodPlace();
    await expect(runCommand(init, place, ["--massgen", "nope"])).rejects.toThrow("not on PATH");
    expect(existsSync(environmentPath(place.project))).toBe(false);
  });

  test("also writes that there is no MassGen and no key", async () => {
    await using place = createPlace();
    place.env.PATH = place.bin;
    const { code, stdout } = await runCommand(init, place);
    expect(code).toBe(0);
    expect(stdout).toContain("MassGen was not found");
    expect(JSON.parse(readFileSync(environmentPath(place.project), "utf8")).massgen.available).toBe(false);
  });
});

test("no key is ever printed or written, wherever it comes from", async () => {
  await using place = goodPlace();
  const names = ["OPENAI", "ANTHROPIC", "GEMINI", "GROQ", "MOONSHOT"];
  const secrets = names.map((name) => `${name.toLowerCase()}-0123456789-abcdef`);
  const files = ["project/.env", "project/configs/.env", "home/.massgen/.env", "home/.config/massgen/.env"];
  place.env.OPENAI_API_KEY = secrets[0] ?? "";
  for (const [index, file] of files.entries()) place.temp.write(file, `export ${names[index + 1]}_API_KEY="${secrets[index + 1]}" # c\n`);
  // environment.json that holds keys itself, in each shape.
  for (const keys of [{ OPENAI_API_KEY: secrets[0] }, [secrets[1]], { GROQ_API_KEY: { value: secrets[3] } }]) {
    place.temp.write("project/.massgen-quality/environment.json", JSON.stringify({ api_keys: keys }));
    for (const [command, args] of [
      [doctor, []],
      [doctor, ["--json"]],
      [init, []],
      [init, ["--json"]],
    ] as const) {
      const { stdout, stderr } = await runCommand(command, place, args);
      for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
    }
  }
  await Bun.file(environmentPath(place.project)).delete();
  await runCommand(init, place);
  const cache = join(place.home, ".cache");
  expect(existsSync(cache)).toBe(true);
  for (const root of [join(place.project, ".massgen-quality"), cache]) {
    for (const name of readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())) {
      const text = readFileSync(join(name.parentPath, name.name), "utf8");
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  }
});
