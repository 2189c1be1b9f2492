import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { consentedFile } from "../../src/commands/resume-consent.ts";
import { agentsOf, splitModel } from "../../src/config/models.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { type RunFile, readRunFile, writeRunFile } from "../../src/config/run-file.ts";
import { makeMark } from "../../src/config/run-mark.ts";
import type { RunSettings } from "../../src/config/settings.ts";
import { createTeamDirectory } from "../../src/session/directory.ts";
import { errorOf, lineOf } from "../config/support.ts";
import { noLimits } from "../support/team.ts";
import { temporaryDirectory } from "../support/temp.ts";

const agents = agentsOf(["codex/gpt-5.4", "grok/x"].map(splitModel).filter((model) => model !== null));

/** A project, a home beside it, and somebody else's; what resume makes of a run's config.json that lies in the project. */
function place() {
  const temp = temporaryDirectory("project");
  for (const name of ["../home", "../other", "../secrets", "docs"]) mkdirSync(temp.join(name));
  const fileWith = (allowed: Partial<Pick<RunSettings, "context" | "criteriaPath" | "docker">>): RunFile => {
    const none = {
      context: [],
      criteriaPath: null,
      synthesizer: null,
      prices: {},
      massgenCommand: null,
      massgenSource: null,
      docker: "auto",
    } as const;
    const settings = {
      ...none,
      query: "Q",
      agents,
      limits: noLimits,
      synthesis: "agent",
      ballotFix: "auto",
      engine: "auto",
      report: true,
      projectDir: temp.path,
    } as const;
    return { settings: { ...settings, ...allowed }, docker: allowed.docker !== "off", plugins: [], withoutPlugins: [], strict: false };
  };
  const [mine, others] = ["../home", "../other"].map((name) => ({ HOME: temp.join(name) })) as [{ HOME: string }, { HOME: string }];
  const warnings: string[] = [];
  const takeUp = async (file: RunFile, startedBy: { HOME: string } | null, edit = (text: string) => text) => {
    const directory = createTeamDirectory(temp.path, 0);
    await writeRunFile(directory, file, startedBy === null ? null : makeMark(directory.id, file, startedBy));
    await Bun.write(directory.config, edit(readFileSync(directory.config, "utf8")));
    const found = readRunFile(directory);
    const run = { id: directory.id, file: found, mark: found.mark, project: temp.path };
    return consentedFile(run, resolveConfig(lineOf(), mine, temp.path), mine, (line) => void warnings.push(line));
  };
  return { temp, fileWith, mine, others, warnings, takeUp };
}

const readSecrets = (path: string) => ({ context: [{ path, permission: "read" }] }) as const;

describe("what a run may touch outside of its project", () => {
  test("counts again for the user who started it, and for nobody else", async () => {
    const { temp, fileWith, mine, others, takeUp } = place();
    await using _ = temp;
    const criteriaPath = temp.write("../secrets/criteria.json", "[]");
    for (const allowed of [readSecrets(temp.join("../secrets")), { criteriaPath }]) {
      expect((await takeUp(fileWith(allowed), mine)).settings).toMatchObject(allowed);
      for (const by of [others, null]) {
        const error = await errorOf(() => takeUp(fileWith(allowed), by));
        expect([error.code, error.message]).toEqual(["untrusted", expect.stringContaining("was not started by you here")]);
        expect(error.hint).toContain(temp.join("../secrets"));
      }
    }
  });

  test("does not count when it was edited, or taken from another run", async () => {
    const { temp, fileWith, mine, takeUp } = place();
    await using _ = temp;
    const file = fileWith(readSecrets(temp.join("../secrets")));
    for (const edit of [
      (text: string) => text.replaceAll('"read"', '"write"'),
      (text: string) => text.replaceAll("/secrets", "/other"),
      (text: string) => text.replace(/"mark": "[^"]*"/, `"mark": "${makeMark("team_20200101_000000", file, mine)}"`),
      (text: string) => text.replace(/"mark": "[^"]*"/, '"mark": "0"'),
      (text: string) => text.replace(/,\s*"mark": "[^"]*"/, ""),
    ]) {
      expect((await errorOf(() => takeUp(file, mine, edit))).code).toBe("untrusted");
    }
  });

  test("counts when mg-team.yaml names it again", async () => {
    const { temp, fileWith, others, takeUp } = place();
    await using _ = temp;
    const write = { context: [{ path: temp.join("../secrets"), permission: "write" }] } as const;
    temp.write("mg-team.yaml", "context: [../secrets]\n");
    expect((await takeUp(fileWith(readSecrets(temp.join("../secrets"))), others)).settings.context).toHaveLength(1);
    expect((await errorOf(() => takeUp(fileWith(write), others))).code).toBe("untrusted");
    temp.write("mg-team.yaml", "context: [../secrets:rw]\n");
    expect((await takeUp(fileWith(write), others)).settings.context).toHaveLength(1);
  });

  test("is not what lies in the project, but what a link in it leads to", async () => {
    const { temp, fileWith, takeUp } = place();
    await using _ = temp;
    const inside = fileWith({ context: [{ path: temp.join("docs"), permission: "write" }] });
    expect(await takeUp(inside, null)).toMatchObject({ settings: inside.settings });
    symlinkSync(temp.join("../secrets"), temp.join("link"));
    expect((await errorOf(() => takeUp(fileWith(readSecrets(temp.join("link"))), null))).code).toBe("untrusted");
  });
});

test("that code runs outside of docker counts only for the user who said so; else it is as for any run, with a word", async () => {
  const { temp, fileWith, mine, others, warnings, takeUp } = place();
  await using _ = temp;
  const local = fileWith({ docker: "off" });
  expect(await takeUp(local, mine)).toMatchObject({ docker: false, settings: { docker: "off" } });
  expect(warnings).toEqual([]);
  expect(await takeUp(local, others)).toMatchObject({ docker: true, settings: { docker: "auto" } });
  expect(warnings.join()).toContain("MG_TEAM_NO_DOCKER=1 mg-team resume");
  temp.write("mg-team.yaml", "docker: off\n");
  expect(await takeUp(local, others)).toMatchObject({ docker: false, settings: { docker: "off" } });
});

test("the secret that marks are made with is its owner's alone, and made only when a run needs it", async () => {
  const { temp, fileWith, mine, takeUp } = place();
  await using _ = temp;
  await takeUp(fileWith({}), mine);
  expect(readdirSync(mine.HOME)).toEqual([]);
  await takeUp(fileWith({ docker: "off" }), mine);
  const path = `${mine.HOME}/.local/state/mg-team/run-secret`;
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const before = readFileSync(path, "utf8");
  await takeUp(fileWith({ docker: "off" }), mine);
  expect(readFileSync(path, "utf8")).toBe(before);
});
