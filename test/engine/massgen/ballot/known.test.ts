import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { askBallotNeed, knownBallotNeed } from "../../../../src/engine/massgen/ballot/known.ts";
import type { MassgenInstall } from "../../../../src/engine/massgen/install.ts";
import { probeMassgen } from "../../../../src/engine/massgen/probe.ts";
import { createPlace, helpScript, type Place } from "../../../preflight/support.ts";

/** A virtual environment whose Python is a shell script: it says `verdict` about MassGen's ballot, and counts how often it was asked. */
function venv(place: Place, verdict: string, version = "0.1.97") {
  const python = place.program(
    "venv/bin/python3",
    `#!/bin/sh\n[ "$1" = -c ] || exec /bin/sh "$@"\necho x >> "$0.asked"\necho "${verdict}"\n`,
  );
  place.temp.write(`venv/lib/python3.11/site-packages/massgen-${version}.dist-info/METADATA`, "");
  const massgen = place.program("venv/bin/massgen", helpScript().replace("#!/bin/sh", `#!${python}`));
  const install: MassgenInstall = { argv: [massgen], version, flags: new Set(["--step"]), source: "massgen on PATH" };
  const asked = () => (existsSync(`${python}.asked`) ? readFileSync(`${python}.asked`, "utf8").trim().split("\n").length : 0);
  return { install, python, asked, options: { env: place.env, home: place.home, cacheDir: place.temp.join("cache") } };
}

test("a MassGen is asked once per installed version, and says so", async () => {
  await using place = createPlace();
  const { install, asked, options } = venv(place, "mg-team ballot: needed");
  const notes: string[] = [];
  const ask = () => askBallotNeed(install, { ...options, note: (message) => notes.push(message) });
  expect(knownBallotNeed(install, options)).toBe("unknown");
  expect([await ask(), await ask()]).toEqual(Array(2).fill({ need: "needed", why: "" }));
  expect(knownBallotNeed(install, options)).toBe("needed");
  expect([asked(), notes]).toEqual([1, ["asking MassGen whether its ballot is whole; it takes about ten seconds, once per version"]]);

  place.temp.write("venv/bin/massgen", "another one, of another size");
  expect(knownBallotNeed(install, options)).toBe("unknown");
});

test("an upgrade that mends the ballot is noticed", async () => {
  await using place = createPlace();
  const { install, options } = venv(place, "mg-team ballot: needed");
  await askBallotNeed(install, options);
  rmSync(place.temp.join("venv/lib/python3.11/site-packages/massgen-0.1.97.dist-info"), { recursive: true });
  const { install: newer } = venv(place, "mg-team ballot: not needed", "0.1.98");
  expect(knownBallotNeed(newer, options)).toBe("unknown");
  expect(await askBallotNeed(newer, options)).toEqual({ need: "not_needed", why: "" });
  expect(knownBallotNeed(newer, options)).toBe("not_needed");
});

test("what could not be found out is asked again, and takes the place of what was known before", async () => {
  await using place = createPlace();
  const { install, asked, options } = venv(place, "mg-team ballot: needed");
  await askBallotNeed(install, options);
  venv(place, "mg-team ballot: unknown: it hangs");
  expect(await askBallotNeed(install, { ...options, refresh: true })).toEqual({ need: "unknown", why: "it hangs" });
  expect(knownBallotNeed(install, options)).toBe("unknown");
  await askBallotNeed(install, options);
  expect(asked()).toBe(3);
});

test("a wrapper is asked by the Python that its warnings name", async () => {
  await using place = createPlace();
  const { python, options } = venv(place, "mg-team ballot: needed");
  const warning = `${place.temp.join("venv/lib/python3.11/site-packages/authlib/_joserfc_helpers.py")}:8: a warning`;
  const wrapper = place.program("scripts/run-massgen.sh", `${helpScript()}echo "${warning}" >&2\n`);
  const install = await probeMassgen({ argv: ["bash", wrapper], source: "plugin" }, options);
  expect(install.interpreter).toBe(python);
  expect((await askBallotNeed(install, options)).need).toBe("needed");
  // The same from the cache.
  expect((await probeMassgen({ argv: ["bash", wrapper], source: "plugin" }, options)).interpreter).toBe(python);
});

test("--refresh forgets it together with the options", async () => {
  await using place = createPlace();
  const { install, options } = venv(place, "mg-team ballot: needed");
  await askBallotNeed(install, options);
  await probeMassgen({ argv: install.argv, source: "massgen on PATH" }, { ...options, refresh: true });
  expect(knownBallotNeed(install, options)).toBe("unknown");
});

test("a broken cache is no answer", async () => {
  await using place = createPlace();
  const { install, options } = venv(place, "mg-team ballot: needed");
  await askBallotNeed(install, options);
  for (const path of new Bun.Glob("probes/*").scanSync({ cwd: options.cacheDir, absolute: true })) await Bun.write(path, "{");
  expect(knownBallotNeed(install, options)).toBe("unknown");
});
