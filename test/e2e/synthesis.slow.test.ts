import { expect, test } from "bun:test";
import { createRealTeam } from "./real-team.ts";

// A synthesis on the real MassGen, with models that read, write and vote by script (design.md, "Synthesis"). Where one brings nothing is
// shown on the fake: test/run/synthesis*.test.ts.

const patience = 900_000;

test(
  "three agents leave a file each; the winner's model reads those of two, writes a file merged from both, and all is delivered and paid for",
  async () => {
    await using team = createRealTeam({ tools: "files", models: ["grok/grok-4-a", "grok/grok-4-b", "grok/grok-4-c"] });
    const starters = `soup ${crypto.randomUUID()}`;
    const mains = `pie ${crypto.randomUUID()}`;
    const inFilesOf = (agent: string, name: string) => ({ at: `- ${agent}: .*, its files in (.*)`, name: `/${name}` });
    const answerOf = (agent: string) => ({ at: `- ${agent}: ([^,\\n]*)`, name: "" });
    const { code, result, file, events, stderr } = await team.run(
      {
        "grok-4-a": [
          { write: { "starters.txt": starters } },
          { answer: "Starters, by the first" },
          { vote: { preferring: "by the second" } },
        ],
        "grok-4-b": [
          { write: { "mains.txt": mains, "menu.txt": "mains only\n" } },
          { answer: "Mains, by the second" },
          { vote: { preferring: "by the second" } },
          // The synthesis.
          { read: [answerOf("agent_a"), inFilesOf("agent_a", "starters.txt"), inFilesOf("agent_b", "mains.txt")] },
          { write: { "menu.txt": "{{2}}\n{{3}}\n", "mains.txt": "{{3}}" } },
          { answer: "# The menu\n\nStarters and mains are in menu.txt.", usage: { input: 200_000, output: 1000 } },
        ],
        "grok-4-c": [{ write: { "desserts.txt": "cake" } }, { answer: "Desserts, by the third" }, { vote: { preferring: "by the first" } }],
      },
      ["Write a menu", "--no-docker", "--cost-budget", "10"],
    );
    expect({ code, why: result.synthesis.why_not_agent, stderr }).toEqual({ code: 0, why: null, stderr: expect.any(String) });
    expect(result.decision).toMatchObject({ kind: "consensus", winner: "agent_b", tally: { agent_b: 2, agent_a: 1 } });

    // The merged file holds what only the files of the two agents hold.
    expect(file("synthesis/deliverable/menu.txt")).toBe(`${starters}\n${mains}\n`);
    expect(file("synthesis/deliverable/mains.txt")).toBe(mains);
    expect(file("synthesis/winner/workspace/menu.txt")).toBe("mains only\n");
    expect(result.synthesis).toMatchObject({ kind: "agent", deliverable: `${result.session_dir}/synthesis/deliverable` });
    expect(result.warnings).toEqual([]);

    // It saw the other's answer, and nobody whom it could vote for.
    const { requests } = team.models;
    const asked = requests.slice(requests.findIndex(({ text }) => text.includes("THE CHOSEN ANSWER"))).filter(({ turn }) => turn !== null);
    const deeds = asked.map(({ turn }) => Object.keys(turn ?? {})[0]);
    // A turn is played again where MassGen's file server is late.
    expect([...new Set(deeds)]).toEqual(["read", "write", "answer"]);
    expect(asked[deeds.indexOf("write")]?.text).toContain("Starters, by the first");
    expect(asked[0]?.text).toContain("(no answers available yet)");
    for (const { text } of asked) expect(text).not.toContain("grok-4-a");

    const document = file("synthesis/final_answer.md") ?? "";
    expect(document).toStartWith(
      "> **A synthesis by grok/grok-4-b**, made from the answer of agent_b (grok/grok-4-b), which was chosen by consensus (2 of 3 votes)",
    );
    expect(document).toContain("Starters and mains are in menu.txt.");
    expect(document).toContain("[menu.txt](deliverable/menu.txt)");
    expect(document).toContain("**agent_c** voted for agent_a");

    // Its cost is the winner's, and in the total that the budget is held against.
    const step = result.agents[1]?.steps.at(-1);
    expect(step).toMatchObject({ round: 0, action: "new_answer" });
    expect(step?.usd).toBeGreaterThan(0.5);
    const spent = result.agents.flatMap(({ steps }) => steps.map(({ usd }) => usd ?? Number.NaN));
    expect(result.cost.total_usd).toBeCloseTo(
      spent.reduce((sum, usd) => sum + usd, 0),
      7,
    );
    expect(result.cost.known).toBe("all");
    expect(events.findLast((event) => event.type === "synthesis.finished")).toMatchObject({ kind: "agent" });
  },
  patience,
);
