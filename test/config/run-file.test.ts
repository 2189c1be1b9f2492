import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { agentsOf, splitModel } from "../../src/config/models.ts";
import { type RunFile, readRunFile, writeRunFile } from "../../src/config/run-file.ts";
import { createTeamDirectory } from "../../src/session/directory.ts";
import type { Agent } from "../../src/types.ts";
import { noLimits } from "../support/team.ts";
import { temporaryDirectory } from "../support/temp.ts";

const team = (...models: string[]) => agentsOf(models.map((model) => splitModel(model)).filter((model) => model !== null));

function fileWith(agents: readonly Agent[], projectDir: string): RunFile {
  const none = { context: [], criteriaPath: null, synthesizer: null, prices: {}, massgenCommand: null, massgenSource: null };
  const settings = {
    ...none,
    query: "Q",
    agents,
    limits: noLimits,
    docker: "auto",
    synthesis: "agent",
    ballotFix: "auto",
    engine: "auto",
    report: true,
    projectDir,
  } as const;
  return { settings, docker: true, plugins: [], withoutPlugins: [], strict: false };
}

/** What comes of a config.json with these agents: they, or the error. */
async function agentsRead(agents: readonly unknown[]): Promise<readonly Agent[] | string> {
  await using temp = temporaryDirectory();
  const directory = createTeamDirectory(temp.path, 0);
  await writeRunFile(directory, fileWith(team("codex/gpt-5.4", "native:ollama/llama3:8b"), temp.path), null);
  const content = JSON.parse(readFileSync(directory.config, "utf8"));
  content.mg_team.settings.agents = agents;
  writeFileSync(directory.config, JSON.stringify(content));
  try {
    return readRunFile(directory).settings.agents;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("the agents of a run's config.json", () => {
  test("are read as they were written, those of a demonstration too", async () => {
    const demo = { id: "agent_b", model: "demo/swift", backend: "demo", modelName: "swift", engine: "native" };
    const agents = [
      ...team("codex/gpt-5.4", "native:ollama/llama3:8b", "massgen:claude/x").map((agent, index) => ({
        ...agent,
        id: `agent_a${"xyz"[index]}`,
      })),
      demo,
    ];
    expect(await agentsRead(agents)).toEqual(agents as Agent[]);
  });

  const [good] = team("codex/gpt-5.4");

  test.each([
    ["an id that leads elsewhere", { ...good, id: "../../../../../escape" }],
    ["an id with a slash", { ...good, id: "agent_a/x" }],
    ["an id that MassGen would take for a label", { ...good, id: "agent1" }],
    ["an empty id", { ...good, id: "" }],
    ["a model that is none", { ...good, model: "codex" }],
    ["a model that is an option", { ...good, model: "codex/--evil", modelName: "--evil" }],
    ["another backend than its model's", { ...good, backend: "claude" }],
    ["another name than its model's", { ...good, modelName: "gpt-4" }],
    ["another engine than its model's", { ...good, engine: "native" }],
    ["a scripted model by another engine", { id: "agent_a", model: "demo/swift", backend: "demo", modelName: "swift" }],
    ["a scripted model with a path", { id: "agent_a", model: "demo/../x", backend: "demo", modelName: "../x", engine: "native" }],
  ])("are refused with %s", async (_, agent) => {
    expect(await agentsRead([agent])).toContain("config.json cannot be used: ");
  });

  test("are refused when two have one id, or they are more than any team has", async () => {
    expect(await agentsRead([good, good])).toContain("two agents have one id");
    const many = agentsOf(Array.from({ length: 41 }, () => ({ model: "codex/x", backend: "codex", modelName: "x" })));
    expect(await agentsRead(many)).toContain("cannot be used");
    expect(await agentsRead(many.slice(1))).toHaveLength(40);
  });
});
