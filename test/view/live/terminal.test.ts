import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readHolder } from "../../../src/session/lock.ts";
import type { FakeScript } from "../../fixtures/fake-massgen/script.ts";
import type { TestProject } from "../../support/project.ts";
import { createRunProject } from "../../support/runs.ts";
import { temporaryDirectory, until } from "../../support/temp.ts";
import { openTmux, type Tmux } from "../../support/tmux.ts";

// A real terminal and a whole run, on a machine that may be busy.
setDefaultTimeout(60_000);

// The live view in a real terminal: one run, held at its first step by files that the fake waits for.

const words = "I look at the brief first: warm colours, 你好, a large picture 🎉 of bread.";

const script: FakeScript = {
  agents: {
    agent_a: [
      {
        answer: "The first answer",
        before: { file: "go" },
        events: [
          { event_type: "text", data: { content: words } },
          { event_type: "tool_start", data: { tool_name: "write_file" } },
        ],
      },
      { vote: "agent_b", before: { file: "go-on" } },
    ],
    agent_b: [
      { answer: "The second answer", before: { file: "go" } },
      { vote: "agent_b", before: { file: "go-on" } },
    ],
    agent_c: [{ fail: "auth", before: { file: "fail" } }],
  },
};

const command = "mg-team run 'Say hello' --models codex gemini grok --no-docker --synthesis markdown";

function projectFor(env: Readonly<Record<string, string>> = {}): TestProject {
  return createRunProject({ script, env: { MG_TEAM_NO_DOCKER: "1", ...env } });
}

/** How often a word stands on the screen: an old frame that was not erased would show it once more. */
function count(text: string, word: string | RegExp): number {
  return text.split(word).length - 1;
}

const frame = /^round \d of \d/m;
const ready = (text: string) => text.includes("using write_file") && count(text, /thinking/) === 2;

describe("from 120 columns down to 40, and up again, in one run", () => {
  let project: TestProject;
  let tmux: Tmux;
  beforeAll(async () => {
    project = projectFor();
    tmux = await openTmux({ columns: 120, rows: 30, cwd: project.directory, env: project.env });
    tmux.type(command);
    await tmux.until(ready);
  });
  afterAll(async () => {
    await tmux[Symbol.asyncDispose]();
    await project[Symbol.asyncDispose]();
  });

  test("at 120 columns every agent has one row, with the whole name of its model, and the cursor is hidden", async () => {
    const text = await tmux.until((screen) => screen.includes("of bread."));
    expect(text).toMatch(/^round 1 of 5 · \d+s · 29m \d+s left · \$0\.00$/m);
    expect(text).toMatch(/^● {2}agent_a {2}codex\/gpt-5\.4 {2,}using write_file +r1 +\d+s +\$0\.00$/m);
    expect(text).toMatch(/^● {2}agent_b {2}gemini\/gemini-3\.1-pro-preview +thinking +r1/m);
    expect(text).toInclude("votes  none yet · 2 needed");
    expect(text).toInclude(`agent_a: ${words}`);
    expect(count(text, frame)).toBe(1);
    expect(tmux.cursor()).toBe(false);
  });

  test.each([80, 40, 25, 120])("after a change to %i columns there is one frame, and no line of it is broken", async (columns) => {
    await tmux.resize(columns, 24);
    const text = await tmux.until((screen) => {
      const rows = screen.split("\n").filter((line) => /^● {2}agent_[abc] {2}/.test(line));
      const whole = columns < 40 || (rows.every((line) => line.endsWith("$0.00")) && screen.includes("codex/gpt") === columns >= 100);
      return rows.length === 3 && count(screen, frame) === 1 && whole && rows.every((line) => Bun.stringWidth(line) <= columns);
    });
    expect(count(text, "votes  none yet")).toBe(1);
  });

  test("in a window of 5 rows the agents stay, and after it everything is back", async () => {
    await tmux.resize(100, 5);
    const small = await tmux.until((screen) => count(screen, frame) === 1 && !screen.includes("votes"));
    for (const id of ["agent_a", "agent_b", "agent_c"]) expect(count(small, `  ${id}  `)).toBe(1);
    await tmux.resize(100, 30);
    await tmux.until((screen) => count(screen, frame) === 1 && screen.includes("votes  none yet") && count(screen, "  agent_b  ") === 1);
  });

  test("an agent that is out is said above the frame, with the reason, and shown in it", async () => {
    project.signal("fail");
    const text = await tmux.until((screen) => screen.includes("agent_c is out (auth)"));
    expect(text.indexOf("agent_c is out")).toBeLessThan(text.search(frame));
    await tmux.until((screen) => /^✗ {2}agent_c .*out, auth/m.test(screen));
  });

  test("Ctrl-Z leaves a usable terminal, and fg shows the frame again", async () => {
    tmux.press("C-z");
    await tmux.until((screen) => screen.endsWith("$"));
    expect(tmux.cursor()).toBe(true);
    tmux.type("echo still $((1 + 1)) alive");
    const shell = await tmux.until((screen) => screen.includes("still 2 alive"));
    expect(shell).not.toMatch(frame);
    tmux.type("fg");
    await tmux.until((screen) => count(screen, frame) === 1);
    expect(tmux.cursor()).toBe(false);
  });

  test("in the background it draws nothing, and comes back", async () => {
    tmux.press("C-z");
    await tmux.until((screen) => screen.endsWith("$"));
    tmux.type("bg; clear");
    await tmux.until((screen) => screen === "$" || !screen.includes("agent_"));
    const before = tmux.output().length;
    // Two ticks of the frame's clock.
    await Bun.sleep(2100);
    expect(tmux.output().slice(before)).not.toInclude("agent_");
    tmux.type("fg");
    await tmux.until((screen) => count(screen, frame) === 1);
  });

  test("at the end the frame gives way to a table, the decision, the answer and the total; the cursor is back", async () => {
    project.signal("go");
    await tmux.until((screen) => /^round 2 of 5/m.test(screen));
    project.signal("go-on");
    await tmux.until((screen) => screen.endsWith("$"));
    const all = tmux.history();
    expect(all).not.toMatch(frame);
    expect(all).toMatch(/^→ {2}agent_a {2}codex\/gpt-5\.4 +voted for agent_b/m);
    expect(all).toMatch(/^→ {2}agent_b .*voted for itself/m);
    expect(all).toMatch(/^✗ {2}agent_c .*out, auth/m);
    expect(all).toInclude("decision: consensus for agent_b (gemini/gemini-3.1-pro-preview).");
    expect(all).toInclude("The second answer");
    expect(all).toMatch(/total spent: \$0\.0\d in \d/);
    expect(tmux.cursor()).toBe(true);
  });

  test("it rings once, and every frame came in one piece", () => {
    const bytes = tmux.output();
    const own = bytes.slice(bytes.indexOf("\u001b[?2026h"), bytes.indexOf("total spent"));
    expect(count(own, "\u001b[?2026h")).toBe(count(own, "\u001b[?2026l"));
    expect(count(own, "\u001b[?7l")).toBe(count(own, "\u001b[?7h"));
    expect(count(bytes.slice(bytes.indexOf("total spent")), "\u0007")).toBe(1);
  });
});

describe("however it ends", () => {
  test.each([
    ["Ctrl-C", (tmux: Tmux) => tmux.press("C-c"), "interrupted by Ctrl-C"],
    ["TERM", (_: Tmux, pid: number) => void process.kill(pid, "SIGTERM"), "ended by SIGTERM"],
  ])("after %s the cursor is back, the frame is gone, and nothing rings", async (_name, end, said) => {
    await using project = projectFor();
    await using tmux = await openTmux({ columns: 80, rows: 24, cwd: project.directory, env: project.env });
    tmux.type(command);
    await tmux.until(ready);
    const before = tmux.output().length;
    end(tmux, pidOf(project));
    await tmux.until((screen) => screen.endsWith("$") && screen.includes("total spent"));
    const all = tmux.history();
    expect(all).toInclude(`stopping: ${said}`);
    expect(all).not.toMatch(frame);
    expect(tmux.cursor()).toBe(true);
    expect(tmux.output().slice(before)).not.toInclude("\u0007");
  });

  test("Ctrl-\\ restores the cursor too; and with NO_COLOR there was no colour", async () => {
    await using project = projectFor({ NO_COLOR: "1" });
    await using tmux = await openTmux({ columns: 80, rows: 24, cwd: project.directory, env: project.env });
    tmux.type(command);
    await tmux.until(ready);
    expect(tmux.cursor()).toBe(false);
    tmux.press("C-\\");
    await tmux.until((screen) => screen.endsWith("$"));
    expect(tmux.cursor()).toBe(true);
    expect(tmux.output()).not.toMatch(/\u001b\[(1|2|3\d)m/);
  });

  test("a fault that ends the program at once restores the cursor and leaves the last frame", async () => {
    await using temp = temporaryDirectory();
    await using tmux = await openTmux({ columns: 80, rows: 24, cwd: temp.path, env: { PATH: "/usr/bin:/bin" } });
    tmux.type(`'${process.execPath}' '${join(import.meta.dir, "broken-program.ts")}'`);
    await tmux.until((screen) => screen.includes("the last frame") && screen.endsWith("$"));
    expect(tmux.cursor()).toBe(true);
    expect(tmux.output()).toInclude("\u001b[?25l");
  });

  test("a terminal that is stopped with Ctrl-S does not hold up the run", async () => {
    await using project = projectFor();
    await using tmux = await openTmux({ columns: 80, rows: 24, cwd: project.directory, env: project.env });
    tmux.type(command);
    await tmux.until(ready);
    tmux.press("C-s");
    for (const signal of ["fail", "go", "go-on"]) project.signal(signal);
    const sessions = join(project.directory, ".massgen-quality", "sessions");
    await until(() => readdirSync(sessions).some((id) => existsSync(join(sessions, id, "result.json"))), "the result");
    tmux.press("C-q");
    await tmux.until((screen) => screen.endsWith("$") && screen.includes("total spent"));
    expect(tmux.history()).toMatch(/^→ {2}agent_a .*voted for agent_b/m);
    expect(tmux.cursor()).toBe(true);
  });
});

describe("plain lines instead", () => {
  test.each([
    ["a dumb terminal", { TERM: "dumb" }, ""],
    ["CI", { CI: "true" }, ""],
    ["--verbose", {}, " --verbose"],
  ])("with %s", async (_name, env, option) => {
    await using project = projectFor(env);
    await using tmux = await openTmux({ columns: 80, rows: 24, cwd: project.directory, env: project.env });
    for (const signal of ["fail", "go", "go-on"]) project.signal(signal);
    tmux.type(command + option);
    await tmux.until((screen) => screen.endsWith("$") && screen.includes("total spent"));
    expect(tmux.history()).toMatch(/^\[ +\ds\] agent_a: answered after/m);
    expect(tmux.output()).not.toInclude("\u001b[?25l");
  });
});

// --- internal ---

/** The CLI of a project, by the record of its lock. */
function pidOf(project: TestProject): number {
  const sessions = join(project.directory, ".massgen-quality", "sessions");
  const [id = ""] = readdirSync(sessions);
  const holder = readHolder(join(sessions, id));
  if (!holder) throw new Error("nobody holds the run");
  return holder.pid;
}
