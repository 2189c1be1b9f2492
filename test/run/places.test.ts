import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { installCommand, installPlugin } from "../fixtures/fake-massgen/install.ts";
import type { TestProject } from "../support/project.ts";
import { argumentsOf, createRunProject, inTurn, onlyRun, patience, type RunSpec, runHere } from "../support/runs.ts";

// Names of files and directories may be anything; what a child is given is absolute.

const plays = { a: "answer, vote a", b: "answer, vote a" };
const odd = "Ordner mit 'Quotes', ümlaut $HOME\nand 🎉";

/** A run in a project of that name. */
async function runIn(
  name: string,
  spec: RunSpec,
  prepare: (project: TestProject) => void = () => {},
  look: (project: TestProject) => void = () => {},
): Promise<void> {
  await inTurn(async () => {
    await using project = createRunProject(spec, name);
    prepare(project);
    const { code, stderr } = await runHere(project, argumentsOf(spec));
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    const { root } = onlyRun(project);
    for (const { argv, cwd, config, sessionDir } of project.launches("step")) {
      expect(relative(root, cwd)).toStartWith("runs");
      for (const path of [config, sessionDir]) expect(path !== null && isAbsolute(path)).toBe(true);
      const paths = argv.filter((word, index) => /^--(config|session-dir|eval-criteria)$/.test(argv[index - 1] ?? "") && word !== "");
      for (const path of paths) expect(isAbsolute(path)).toBe(true);
    }
    look(project);
  });
}

describe("a working directory", () => {
  for (const name of ["with spaces", "Größe", "line\nend", "$(touch evil)", "-dash", "quote'\"s", "%s {x}", odd]) {
    test.concurrent(`named ${JSON.stringify(name)}`, () => runIn(name, { plays }), patience);
  }

  test.concurrent(
    "that is a link, and is entered through it",
    () =>
      inTurn(async () => {
        await using project = createRunProject({ plays });
        const link = project.temp.join("link");
        symlinkSync(project.directory, link);
        const ended = await project.cli(argumentsOf({ plays }), { cwd: link });
        expect(ended.code).toBe(0);
        expect(onlyRun(project).id).toStartWith("team_");
      }),
    patience,
  );
});

describe("a MassGen", () => {
  test.concurrent(
    "on a PATH with spaces and accents",
    () =>
      runIn("project", { plays }, (project) => {
        installCommand(project.temp.join("meine Programme"));
        project.env.PATH = `${project.temp.join("meine Programme")}:/usr/bin:/bin`;
      }),
    patience,
  );

  test.concurrent(
    "given by --massgen, relative, with spaces",
    () =>
      runIn("project", { plays, args: ["--massgen", "'./my tools/massgen'"], env: { PATH: "/usr/bin:/bin" } }, (project) => {
        installCommand(join(project.directory, "my tools"));
      }),
    patience,
  );

  test.concurrent(
    "given by MG_TEAM_MASSGEN",
    () =>
      runIn("project", { plays, env: { PATH: "/usr/bin:/bin" } }, (project) => {
        project.env.MG_TEAM_MASSGEN = `"${installCommand(project.temp.join("other tools"))}"`;
      }),
    patience,
  );

  test.concurrent(
    "in the plugin_dir of environment.json, with spaces",
    () =>
      runIn("project", { plays, env: { PATH: "/usr/bin:/bin" } }, (project) => {
        const directory = project.temp.join("plug in");
        installPlugin(directory);
        project.temp.write(
          "project/.massgen-quality/environment.json",
          JSON.stringify({ massgen: { available: true }, api_keys: ["XAI_API_KEY"], plugin_dir: directory }),
        );
      }),
    patience,
  );
});

describe("files that are named on the command line", () => {
  test.concurrent(
    "--config and what it names, relative to the project, arrive absolute",
    () =>
      runIn(
        odd,
        {
          plays,
          files: {
            "my settings/team ü.yaml": "context: [./some docs]\neval_criteria: ./my criteria.json\n",
            "my criteria.json": '[{"text": "It works"}]',
            "my settings/my criteria.json": '[{"text": "It works"}]',
            "some docs/readme.md": "Read me",
            "my settings/some docs/readme.md": "Read me",
          },
          args: ["--config", "./my settings/team ü.yaml"],
        },
        () => {},
        (project) => {
          for (const { argv, config } of project.launches("step")) {
            expect(argv[argv.indexOf("--eval-criteria") + 1]).toEndWith("my criteria.json");
            expect(readFileSync(config ?? "", "utf8")).toContain("some docs");
          }
        },
      ),
    patience,
  );

  test.concurrent(
    "--context, read and write, relative and with spaces",
    () =>
      runIn(
        "project",
        { plays, args: ["--context", "./some docs", "--context", "../out:rw"], files: { "some docs/readme.md": "Read me" } },
        (project) => void mkdirSync(project.temp.join("out")),
        (project) => {
          const [step] = project.launches("step");
          const config = Bun.YAML.parse(readFileSync(step?.config ?? "", "utf8")) as { orchestrator: { context_paths: unknown } };
          expect(config.orchestrator.context_paths).toEqual([
            { path: join(project.directory, "some docs"), permission: "read" },
            { path: project.temp.join("out"), permission: "write" },
          ]);
        },
      ),
    patience,
  );

  test.concurrent(
    "an agent's own config, trusted, with relative paths in it",
    () =>
      inTurn(async () => {
        const yaml = "models: [{ model: grok/own, config: ./my agent.yaml }, grok/model-b]\n";
        const own =
          "agents:\n- id: anything\n  backend: { type: grok, model: own }\norchestrator:\n  context_paths: [{ path: ./docs, permission: read }]\n";
        const spec = { yaml, models: [], files: { "my agent.yaml": own, "docs/x.md": "x" } };
        await using project = createRunProject(spec);
        project.env.XDG_STATE_HOME = project.temp.join("state");
        expect((await runHere(project, ["trust"])).code).toBe(0);
        const { code, stderr } = await runHere(project, argumentsOf(spec));
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
        const step = project.launches("step").find(({ agent }) => agent === "agent_a");
        const config = Bun.YAML.parse(readFileSync(step?.config ?? "", "utf8")) as {
          agents: { id: string }[];
          orchestrator: { context_paths: unknown };
        };
        expect(config.agents[0]?.id).toBe("agent_a");
        expect(config.orchestrator.context_paths).toEqual([{ path: join(project.directory, "docs"), permission: "read" }]);
      }),
    patience,
  );
});
