import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import type { MassgenCommand } from "../../src/engine/massgen/command.ts";
import { flagsIn, type ProbeOptions, probeMassgen } from "../../src/engine/massgen/probe.ts";
import { blindSeconds } from "../../src/engine/massgen/probe-cache.ts";
import { TeamError } from "../../src/errors.ts";
import { helpText } from "../fixtures/fake-massgen/arguments.ts";
import { isAlive } from "../support/temp.ts";
import { createPlace, helpScript, type Place } from "./support.ts";

const optionsOf = (place: Place, change: Partial<ProbeOptions> = {}): ProbeOptions => ({
  env: place.env,
  home: place.home,
  cacheDir: place.temp.join("cache"),
  ...change,
});
const starts = (path: string) => (existsSync(`${path}.starts`) ? readFileSync(`${path}.starts`, "utf8").trim().split("\n").length : 0);
const command = (path: string, source = "massgen on PATH"): MassgenCommand => ({ argv: [path], source });

/** A launcher in a virtual environment, as pip writes it; "Python" is a shell. */
function launcher(place: Place, text = helpScript(), venv = "venv", version = "0.1.97") {
  const python = place.program(`${venv}/bin/python3`, `#!/bin/sh\nexec /bin/sh "$@"\n`);
  place.temp.write(`${venv}/lib/python3.11/site-packages/massgen-${version}.dist-info/METADATA`, "");
  place.temp.write(`${venv}/lib/python3.11/site-packages/mcp-1.27.2.dist-info/METADATA`, "");
  return { python, massgen: place.program(`${venv}/bin/massgen`, text.replace("#!/bin/sh", `#!${python}`)) };
}

async function failure(promise: Promise<unknown>): Promise<TeamError> {
  const error = await promise.then(
    () => null,
    (thrown) => thrown,
  );
  if (error instanceof TeamError) return error;
  throw error ?? new Error("it was accepted");
}

test("the options in the help of the real MassGen are all found, and no other word", () => {
  const flags = flagsIn(helpText);
  for (const flag of ["--step", "--session-dir", "--stream-events", "--no-parse-at-references", "--config-agent-id", "--eval-criteria"])
    expect(flags).toContain(flag);
  expect(flagsIn("\u001b[1m--step\u001b[0m a--no ---x -- --- --two-words, [--last]")).toEqual(new Set(["--step", "--two-words", "--last"]));
});

test("a launcher of pip tells its version, and is asked once until it is upgraded", async () => {
  await using place = createPlace();
  const { massgen } = launcher(place);
  const first = await probeMassgen(command(massgen), optionsOf(place));
  expect(first.version).toBe("0.1.97");
  expect(first.flags).toContain("--step");
  expect(await probeMassgen(command(massgen, "--massgen"), optionsOf(place))).toEqual({ ...first, source: "--massgen" });
  expect(starts(massgen)).toBe(1);

  rmSync(place.temp.join("venv/lib/python3.11/site-packages/massgen-0.1.97.dist-info"), { recursive: true });
  place.temp.write("venv/lib/python3.11/site-packages/massgen-0.2.0.dist-info/METADATA", "");
  expect((await probeMassgen(command(massgen), optionsOf(place))).version).toBe("0.2.0");
  expect(starts(massgen)).toBe(2);

  rmSync(place.temp.join("venv/lib/python3.11/site-packages/mcp-1.27.2.dist-info"), { recursive: true });
  place.temp.write("venv/lib/python3.11/site-packages/mcp-2.0.0.dist-info/METADATA", "");
  await probeMassgen(command(massgen), optionsOf(place));
  expect(starts(massgen)).toBe(3);
});

test("a changed file, and --refresh, make it ask again; a garbled cache is as good as none", async () => {
  await using place = createPlace();
  const massgen = place.program("bin/massgen", helpScript());
  await probeMassgen(command(massgen), optionsOf(place));
  utimesSync(massgen, 1, 1);
  await probeMassgen(command(massgen), optionsOf(place));
  expect(starts(massgen)).toBe(2);
  await probeMassgen(command(massgen), optionsOf(place, { refresh: true }));
  expect(starts(massgen)).toBe(3);
  const [stored = ""] = readdirSync(place.temp.join("cache/probes"));
  place.temp.write(`cache/probes/${stored}`, '{"format":1');
  await probeMassgen(command(massgen), optionsOf(place));
  expect(starts(massgen)).toBe(4);
});

test("a wrapper that hides its Python is asked again after a day", async () => {
  await using place = createPlace();
  const massgen = place.program("bin/massgen", helpScript());
  await probeMassgen(command(massgen), optionsOf(place));
  const later = (seconds: number) => ({ ...systemClock, date: () => Date.now() + seconds * 1000 });
  await probeMassgen(command(massgen), optionsOf(place, { clock: later(blindSeconds - 60) }));
  expect(starts(massgen)).toBe(1);
  await probeMassgen(command(massgen), optionsOf(place, { clock: later(blindSeconds + 60) }));
  expect(starts(massgen)).toBe(2);
});

test("a cache that cannot be written is no matter", async () => {
  await using place = createPlace();
  const massgen = place.program("bin/massgen", helpScript());
  place.temp.write("cache", "a file");
  expect((await probeMassgen(command(massgen), optionsOf(place))).version).toBe("unknown");
});

test("the probe runs in a directory of its own, without keys and with a closed stdin, and leaves nothing", async () => {
  await using place = createPlace();
  const seen = place.temp.join("seen");
  const massgen = place.program(
    "bin/massgen",
    `#!/bin/sh\ncat > ${seen}.stdin\nenv > ${seen}.env\npwd > ${seen}.cwd\ntouch litter\necho " --step"\n`,
  );
  place.env.OPENAI_API_KEY = "sk-secret-123456";
  await probeMassgen(command(massgen), optionsOf(place));
  expect(readFileSync(`${seen}.stdin`, "utf8")).toBe("");
  expect(readFileSync(`${seen}.env`, "utf8")).not.toContain("sk-secret-123456");
  const cwd = readFileSync(`${seen}.cwd`, "utf8").trim();
  expect(cwd).not.toBe(process.cwd());
  expect(existsSync(cwd)).toBe(false);
});

describe("a MassGen is refused, with what to type next, when it", () => {
  test("has no --step", async () => {
    await using place = createPlace();
    const error = await failure(
      probeMassgen(command(launcher(place, helpScript("--config --steps"), "venv", "0.0.9").massgen), optionsOf(place)),
    );
    expect(error.message).toContain("has no step mode: version 0.0.9");
    expect(error.hint).toContain("massgen==0.1.97");
    expect(error.exitCode).toBe(3);
  });

  test("dies of the broken mcp: the pip of its own environment is named", async () => {
    await using place = createPlace();
    const traceback = "ImportError: cannot import name 'streamablehttp_client' from 'mcp.client.streamable_http'";
    const { massgen, python } = launcher(
      place,
      `#!/bin/sh\necho "Traceback (most recent call last):" >&2\necho "${traceback}" >&2\nexit 1\n`,
    );
    const error = await failure(probeMassgen(command(massgen), optionsOf(place)));
    expect(error.message).toContain("`mcp` package is too new");
    expect(error.hint).toBe(`Repair it: ${python} -m pip install "mcp<1.28"`);
    const pip = place.program("venv/bin/pip", "#!/bin/sh\n");
    expect((await failure(probeMassgen(command(massgen), optionsOf(place)))).hint).toBe(`Repair it: ${pip} install "mcp<1.28"`);
  });

  test("dies of it behind a wrapper: the traceback names the environment", async () => {
    await using place = createPlace();
    const { python } = launcher(place);
    const trace = `File \\"${place.temp.join("venv/lib/python3.11/site-packages/massgen/cli.py")}\\", line 1`;
    const text = `#!/bin/sh\necho "  ${trace}" >&2\necho "ImportError: cannot import name 'streamablehttp_client' from 'mcp'" >&2\nexit 1\n`;
    const error = await failure(probeMassgen(command(place.program("wrapper", text)), optionsOf(place)));
    expect(error.hint).toBe(`Repair it: ${python} -m pip install "mcp<1.28"`);
  });

  for (const [where, hint] of [
    ["data/uv/tools/massgen", 'uv tool install --force massgen==0.1.97 --with "mcp<1.28"'],
    ["data/pipx/venvs/massgen", 'pipx runpip massgen install "mcp<1.28"'],
  ] as const) {
    test(`dies of it in ${where}: the tool that made the environment repairs it`, async () => {
      await using place = createPlace();
      const { massgen } = launcher(place, `#!/bin/sh\necho "cannot import name 'streamablehttp_client'" >&2\nexit 1\n`, where);
      expect((await failure(probeMassgen(command(massgen), optionsOf(place)))).hint).toBe(`Repair it: ${hint}`);
    });
  }

  test("fails otherwise: the last line of its complaint is shown", async () => {
    await using place = createPlace();
    const massgen = place.program("bin/massgen", "#!/bin/sh\necho first >&2\necho 'SyntaxError: bad' >&2\nexit 3\n");
    const error = await failure(probeMassgen(command(massgen), optionsOf(place)));
    expect(error.message).toBe("MassGen (massgen on PATH) does not start (exit code 3): SyntaxError: bad");
    expect(error.hint).toBe(`Try it yourself: ${massgen} --help`);
  });

  test("has a Python without massgen", async () => {
    await using place = createPlace();
    const massgen = place.program("bin/massgen", "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'massgen'\" >&2\nexit 1\n");
    expect((await failure(probeMassgen(command(massgen), optionsOf(place)))).hint).toContain("Install MassGen");
  });

  test("cannot be started at all", async () => {
    await using place = createPlace();
    expect((await failure(probeMassgen(command(place.temp.join("none")), optionsOf(place)))).message).toContain("cannot be started");
  });

  test("does not end in time, and nothing of it is left", async () => {
    await using place = createPlace();
    const pid = place.temp.join("pid");
    const massgen = place.program("bin/massgen", `#!/bin/sh\necho $$ > ${pid}\nexec sleep 600\n`);
    const error = await failure(probeMassgen(command(massgen), optionsOf(place, { limitSeconds: 0.3 })));
    expect(error.message).toContain("did not answer --help within");
    expect(isAlive(Number(readFileSync(pid, "utf8")))).toBe(false);
  });
});

test("a uvx that gets the broken mcp is asked once more with the word that repairs it, which then stays", async () => {
  await using place = createPlace();
  const uvx = place.program(
    "bin/uvx",
    `#!/bin/sh\nif [ "$1" = --with ]; then echo "$2 $3 --step"; exit; fi\necho "cannot import name 'streamablehttp_client'" >&2; exit 1\n`,
  );
  const asked: MassgenCommand = { argv: [uvx, "massgen"], source: "uvx massgen" };
  const notes: string[] = [];
  const install = await probeMassgen(asked, optionsOf(place, { note: (message) => notes.push(message) }));
  expect(install.argv).toEqual([uvx, "--with", "mcp<1.28", "massgen"]);
  expect(await probeMassgen(asked, optionsOf(place))).toEqual(install);
  expect(notes).toHaveLength(1);
  expect(notes[0]).toContain("1.8 GB");
});

test("a shebang too long for the system is read from the second line", async () => {
  await using place = createPlace();
  const { python } = launcher(place);
  const massgen = place.program("venv/bin/massgen", `#!/bin/sh\n'''exec' "${python}" "$0" "$@"\n' '''\necho --step\n`);
  place.program("venv/bin/python3", "#!/bin/sh\necho ' --step'\n");
  expect((await probeMassgen(command(massgen), optionsOf(place))).version).toBe("0.1.97");
  expect(join(python, "..")).toBe(place.temp.join("venv/bin"));
});
