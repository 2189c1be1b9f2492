import { expect, test } from "bun:test";
import { createRealTeam } from "./real-team.ts";

test("an agent of the real MassGen and a native one share a session, read each other's answers and files, and agree", async () => {
  await using team = createRealTeam({ tools: "files" });
  const { project, models } = team;
  project.temp.write(
    "project/agent.yaml",
    `agents: [{ id: some, backend: { type: grok, model: grok-4-a, base_url: "${models.baseUrl}", cwd: workspace, exclude_file_operation_mcps: false } }]
orchestrator: { snapshot_storage: snapshots, agent_temporary_workspace: temp_workspaces }
ui: { display_type: simple }
`,
  );
  project.temp.write("project/mg-team.yaml", "models: [{ model: grok/grok-4-a, config: ./agent.yaml }, native:grok/grok-4-b]\n");
  project.env.XAI_BASE_URL = models.baseUrl;
  expect((await project.cli(["trust"])).code).toBe(0);
  const [ofMassgen, ofNative] = [`by MassGen ${crypto.randomUUID()}`, `by mg-team ${crypto.randomUUID()}`];
  const { code, result, file } = await team.run(
    {
      "grok-4-a": [
        { write: { "massgen.txt": ofMassgen } },
        { answer: "MassGen says four" },
        // The workspaces of others stand under the same anonymous names as their answers.
        { read: [{ at: "\\*\\*Shared Reference\\*\\*: `([^`]+)`", name: "/agent2/native.txt" }] },
        // After a call of a tool MassGen sends only what that brought: the model would remember the rest.
        { vote: "agent2" },
      ],
      "grok-4-b": [
        { write: { "native.txt": ofNative } },
        { answer: "Native says four" },
        { read: [{ at: "(@agent\\d)/massgen.txt", name: "/massgen.txt" }] },
        { vote: { preferring: "Native says" } },
      ],
    },
    ["What is 2+2?", "--synthesis", "markdown", "--no-docker"],
  );
  expect(code).toBe(0);
  expect(result.agents.map(({ failure }) => failure)).toEqual([null, null]);
  expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b", tally: { agent_b: 2 } });
  // Each showed its model what the other had said, and the file that it had left.
  const shown = (model: string) => models.requests.flatMap((request) => (request.model === model ? [request.text] : [])).join("\n");
  expect(shown("grok-4-a")).toContain("Native says four");
  expect(shown("grok-4-a")).toContain(ofNative);
  expect(shown("grok-4-b")).toContain("MassGen says four");
  expect(shown("grok-4-b")).toContain(ofMassgen);
  expect(file("synthesis/deliverable/native.txt")).toBe(ofNative);
}, 900_000);
