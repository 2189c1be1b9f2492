import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { parseCommand } from "../../src/engine/massgen/command.ts";
import { type FindInput, findMassgen } from "../../src/engine/massgen/find.ts";
import { TeamError } from "../../src/errors.ts";
import { createPlace, type Place } from "./support.ts";

const script = "#!/bin/sh\n";

function inputOf(place: Place, change: Partial<FindInput> = {}): FindInput {
  const env = { PATH: place.bin };
  return { projectDir: place.project, home: place.home, env, explicit: null, pluginDir: null, isTrusted: () => false, ...change };
}

function errorOf(act: () => unknown): TeamError {
  try {
    act();
  } catch (error) {
    if (error instanceof TeamError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("MassGen is looked for", () => {
  test("first where the user says, then at the plugin's wrapper, on PATH, and with uvx", async () => {
    await using place = createPlace();
    const bash = place.program("bin/bash", script);
    const massgen = place.program("bin/massgen", script);
    const uvx = place.program("bin/uvx", script);
    const wrapper = place.temp.write("plugin/scripts/run-massgen.sh", script);
    const all = inputOf(place, { pluginDir: place.temp.join("plugin") });
    expect(findMassgen({ ...all, explicit: { command: "uvx massgen", source: "--massgen" } }).commands).toEqual([
      { argv: [uvx, "massgen"], source: "--massgen" },
    ]);
    expect(findMassgen(all).commands).toEqual([
      { argv: [bash, wrapper], source: "plugin_dir of environment.json" },
      { argv: [massgen], source: "massgen on PATH" },
    ]);
    expect(findMassgen(inputOf(place)).commands).toEqual([{ argv: [massgen], source: "massgen on PATH" }]);
  });

  test("with uvx, which may download gigabytes, only where there is nothing else", async () => {
    await using place = createPlace();
    const uvx = place.program("bin/uvx", script);
    expect(findMassgen(inputOf(place)).commands).toEqual([{ argv: [uvx, "massgen"], source: "uvx massgen" }]);
  });

  test("and a plugin_dir without its wrapper is passed over and named", async () => {
    await using place = createPlace();
    place.program("bin/massgen", script);
    const { commands, notes } = findMassgen(inputOf(place, { pluginDir: "/no/such" }));
    expect(commands).toHaveLength(1);
    expect(notes).toEqual(["plugin_dir of environment.json has no scripts/run-massgen.sh (/no/such/scripts/run-massgen.sh)"]);
  });

  test("in vain: the error says where, and what to install", async () => {
    await using place = createPlace();
    const error = errorOf(() => findMassgen(inputOf(place)));
    expect(error.code).toBe("preflight");
    expect(error.message).toContain("no massgen and no uvx on PATH");
    expect(error.hint).toStartWith('Install uv, or Python 3.11 or newer. Then: uv tool install massgen==0.1.97 --with "mcp<1.28"');
    place.program("bin/python3", script);
    expect(errorOf(() => findMassgen(inputOf(place))).hint).toStartWith("Install MassGen: python3 -m venv");
    place.program("bin/pipx", script);
    expect(errorOf(() => findMassgen(inputOf(place))).hint).toStartWith("Install MassGen: pipx install massgen==0.1.97 && pipx runpip");
  });
});

describe("a wrapper inside the project", () => {
  test("is refused until it is trusted", async () => {
    await using place = createPlace();
    place.program("bin/bash", script);
    place.temp.write("project/tools/scripts/run-massgen.sh", script);
    const input = inputOf(place, { pluginDir: `${place.project}/tools` });
    const error = errorOf(() => findMassgen(input));
    expect(error.code).toBe("untrusted");
    expect(error.hint).toContain("mg-team trust");
    expect(findMassgen({ ...input, isTrusted: () => true }).commands).toHaveLength(1);
  });

  test("is one even when a link makes it look as if it were outside", async () => {
    await using place = createPlace();
    place.program("bin/bash", script);
    place.temp.write("project/tools/scripts/run-massgen.sh", script);
    symlinkSync(`${place.project}/tools`, place.temp.join("outside"));
    expect(errorOf(() => findMassgen(inputOf(place, { pluginDir: place.temp.join("outside") }))).code).toBe("untrusted");
  });
});

describe("the text of a command", () => {
  const parse = (place: Place, text: string) =>
    parseCommand(text, "--massgen", { projectDir: place.project, home: place.home, env: { PATH: place.bin } }).argv;

  test("that is the path of a file is that file, spaces, accents and newline included", async () => {
    await using place = createPlace("a b\né");
    const path = place.program("my tools/mass gen", script);
    expect(parse(place, path)).toEqual([path]);
    place.program("project/mass gen", script);
    expect(parse(place, "./mass gen")).toEqual([`${place.project}/mass gen`]);
  });

  test("is split like a shell's otherwise, with absolute paths for files", async () => {
    await using place = createPlace();
    const python = place.program("bin/python3", script);
    place.temp.write("project/fake one.py", "");
    place.temp.write("home/run.py", "");
    expect(parse(place, `python3 "fake one.py" --mode 'a b' x/y`)).toEqual([
      python,
      `${place.project}/fake one.py`,
      "--mode",
      "a b",
      "x/y",
    ]);
    expect(parse(place, "python3 ~/run.py")).toEqual([python, `${place.home}/run.py`]);
    expect(parse(place, "python3 -m massgen")).toEqual([python, "-m", "massgen"]);
  });

  test("takes a bare name from PATH, never from the project", async () => {
    await using place = createPlace();
    place.program("project/massgen", script);
    const error = errorOf(() => parse(place, "massgen"));
    expect(error.message).toContain('the program "massgen" is not on PATH');
    expect(error.hint).toContain("./massgen");
    place.program("bin/uvx", script);
    expect(parse(place, "uvx massgen").at(-1)).toBe("massgen");
  });

  const wrong: [text: string, message: string][] = [
    ["nope -m massgen", 'the program "nope" is not on PATH'],
    ["./no/massgen", "/project/no/massgen does not exist"],
    ["sh ./run.sh", "the script"],
    ['sh "run.sh', "a quote is never closed"],
    ["  ", "the command is empty"],
    ["./plain", "/project/plain is not executable"],
    ["../project --x", "is a directory, not a program"],
  ];
  for (const [text, message] of wrong) {
    test(`${JSON.stringify(text)}: ${message}`, async () => {
      await using place = createPlace();
      place.program("bin/sh", script);
      place.temp.write("project/plain", script);
      const error = errorOf(() => parse(place, text));
      expect(error.message).toContain(message);
      expect(error.message).toStartWith("the MassGen command of --massgen: ");
      expect(error.hint).not.toBe("");
    });
  }
});
