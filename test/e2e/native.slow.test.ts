import { expect, test } from "bun:test";
import { createRealTeam } from "./real-team.ts";

test("an agent of the real MassGen and a native one share a session, see each other's answers, and agree", async () => {
  await using team = createRealTeam();
  const { project, models } = team;
  const backend = `{ type: grok, model: grok-4-a, base_url: "${models.baseUrl}" }`;
  project.temp.write("project/agent.yaml", `agents: [{ id: some, backend: ${backend} }]\nui: { display_type: simple }\n`);
  project.temp.write("project/mg-team.yaml", "models: [{ model: grok/grok-4-a, config: ./agent.yaml }, native:grok/grok-4-b]\n");
  project.env.XAI_BASE_URL = models.baseUrl;
  expect((await project.cli(["trust"])).code).toBe(0);
  const { code, result } = await team.run(
    {
      "grok-4-a": [{ answer: "MassGen says four" }, { vote: "agent_b" }],
      "grok-4-b": [{ write: { "four.txt": "4\n" } }, { answer: "Native says four" }, { vote: { preferring: "Native says" } }],
    },
    ["What is 2+2?", "--synthesis", "markdown", "--no-docker", "--no-ballot-fix"],
  );
  expect(code).toBe(0);
  expect(result.agents.map(({ failure }) => failure)).toEqual([null, null]);
  expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b", tally: { agent_b: 2 } });
  const asked = (model: string) => models.requests.filter((request) => request.model === model).map(({ text }) => text);
  // MassGen showed its model what mg-team wrote, and the other way round.
  expect(asked("grok-4-a").at(-1)).toContain("Native says four");
  expect(asked("grok-4-b").at(-1)).toContain("MassGen says four");
  expect(result.synthesis.deliverable).not.toBeNull();
}, 900_000);
