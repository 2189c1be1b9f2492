import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { TestProject } from "../../support/project.ts";
import { createRunProject } from "../../support/runs.ts";
import { openTmux, type Tmux } from "../../support/tmux.ts";

// A real terminal and a whole run, on a machine that may be busy.
setDefaultTimeout(60_000);

// `mg-team status` in a real terminal, while a run goes on and after it.

const query = "Build a landing page for a bakery, with opening hours and a way to order bread for the weekend";

let project: TestProject;
let tmux: Tmux;

beforeAll(async () => {
  project = createRunProject({
    script: {
      agents: {
        agent_a: [
          {
            answer: "# The first page\n\nWith a large picture 🎉 of bread, 你好.",
            events: [{ event_type: "tool_start", data: { tool_name: "write_file" } }],
            before: { file: "go" },
          },
          {
            vote: { target: "agent_b", reason: "The second page has the better structure, and it loads without scripts." },
            before: { file: "go-on" },
          },
        ],
        agent_b: [
          { answer: "# The second page", before: { file: "go" } },
          { vote: "agent_b", before: { file: "go-on" } },
        ],
      },
    },
  });
  tmux = await openTmux({ columns: 80, rows: 40, cwd: project.directory, env: project.env });
  const run = project.start(["run", query, "--models", "codex", "gemini", "--no-docker", "--synthesis", "markdown"]);
  tmux.type("clear");
  await project.untilLaunched("agent_a");
  await project.untilLaunched("agent_b");
  tmux.type("mg-team status --watch");
  void run.result;
});

afterAll(async () => {
  await tmux[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

const count = (text: string, word: string) => text.split(word).length - 1;

describe("watched", () => {
  test("a run is followed in place, at any width", async () => {
    await tmux.until((screen) => /^ {2}● {2}agent_a {2}gpt-5\.4 +using write_file/m.test(screen));
    expect(tmux.cursor()).toBe(false);
    for (const columns of [40, 120, 80]) {
      await tmux.resize(columns, 40);
      const wide = columns >= 100;
      const text = await tmux.until(
        (screen) => count(screen, "Consensus") === 1 && count(screen, "  agent_b  ") === 2 && screen.includes("  gemini/gemini") === wide,
      );
      for (const line of text.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  test("in a window that is too low it says that there is more", async () => {
    await tmux.resize(80, 8);
    await tmux.until((screen) => /… \d+ more lines; make the window taller/.test(screen) && count(screen, "· running ·") === 1);
    await tmux.resize(80, 40);
    await tmux.until((screen) => screen.includes("Timeline") && count(screen, "· running ·") === 1);
  });

  test("it ends with the run, the last status stays, and the cursor is back", async () => {
    project.signal("go");
    await tmux.until((screen) => screen.includes("round 2 of 5"));
    project.signal("go-on");
    const text = await tmux.until((screen) => screen.endsWith("$"));
    expect(text).toMatch(/^team_\d+_\d+ · finished · round 2 of 5 · /m);
    expect(count(text, "Timeline")).toBe(1);
    expect(tmux.cursor()).toBe(true);
  });
});

test.each([80, 120, 40])("at %i columns nothing is broken by the terminal", async (columns) => {
  await tmux.resize(columns, 60);
  tmux.type(`clear; mg-team status; echo that was ${columns}`);
  const text = await tmux.until((screen) => screen.endsWith(`that was ${columns}\n$`));
  for (const line of text.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
  expect(text).toMatch(/^ {2}agent_a {2}──▶ {2}agent_b {2}"The second pa/m);
  expect(text).toMatch(
    columns === 40
      ? /^ {2}→ {2}agent_a {2}for agent_b +\d+s {2}\$0\.0\d$/m
      : /^ {2}→ {2}agent_a {2}.*voted for agent_b +r2 +\d+s +\$0\.0\d$/m,
  );
  expect(text).toMatch(/^ {2}agent_b {2}✓ answer {2,}→ itself$/m);
  expect(text).toMatch(/ {4}# The first page\n {4}With a large picture 🎉 of bread,\s+你好\./);
});
