import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/temp.ts";
import { launch, massgenPython, pythons, recentPythons, run } from "./support.ts";

const applied = "mg-team ballot: applied\n";
const nothing = { offered: ["agent1"], agents: ["agent_b"], labels: [] };
const repaired = { offered: ["agent1", "agent3"], agents: ["agent_a", "agent_b", "agent_c"], labels: ["agent1.1", "agent3.1"] };

describe.each(recentPythons)("in %s", (python) => {
  test("the ballot is repaired, and one line of stderr says so", async () => {
    await using temp = temporaryDirectory("dir with é and spaces");
    const { said, stderr, exit } = await launch(temp, { python });
    expect(said).toMatchObject({ ...repaired, starts: 2, docstring: "The docstring of __init__." });
    expect(stderr).toBe(applied);
    expect(exit.code).toBe(0);
  });
});

test("the fault is there without the repair", async () => {
  await using temp = temporaryDirectory();
  const { said, stderr } = await launch(temp, { repair: false });
  expect(said).toMatchObject(nothing);
  expect(stderr).toBe("");
});

describe("what MassGen starts", () => {
  test("inherits no PYTHONPATH when there was none", async () => {
    await using temp = temporaryDirectory();
    const { said } = await launch(temp);
    expect(said).toMatchObject({ pythonpath: [temp.join("ballot"), null], child: "(None, False)", path: [] });
  });

  test("inherits the PYTHONPATH that there was, wherever a wrapper has put more", async () => {
    await using temp = temporaryDirectory();
    const { said } = await launch(temp, { pythonpath: ["/first", "", "/last"] });
    expect(said).toMatchObject({ pythonpath: [`${temp.join("ballot")}:/first::/last`, "/first::/last"], path: [] });
    const wrapped = `PYTHONPATH="/more:$PYTHONPATH" exec "$@"`;
    const printed = `import sys; sys.argv.append("--step"); sys.path.insert(0, "${join(import.meta.dir, "pretend")}"); import massgen.orchestrator, os; print(os.environ["PYTHONPATH"])`;
    const { stdout } = await run(temp, ["bash", "-c", wrapped, "bash", massgenPython, "-c", printed, "--step"], true, ["/last"]);
    expect(stdout).toBe("/more:/last\n");
  });
});

describe("another sitecustomize", () => {
  test("runs as if Python had found it itself", async () => {
    await using temp = temporaryDirectory();
    temp.write("user/sitecustomize.py", "marks = [__name__, __spec__.name]\n");
    const { said, stderr } = await launch(temp, { pythonpath: [temp.join("user")] });
    const marks = ["sitecustomize", "sitecustomize"];
    expect(said).toMatchObject({ ...repaired, sitecustomize: temp.join("user/sitecustomize.py"), marks });
    expect(stderr).toBe(applied);
  });

  test("fails as if Python had found it itself", async () => {
    await using temp = temporaryDirectory();
    temp.write("user/sitecustomize.py", "import no_such_module\n");
    const { said, stderr } = await launch(temp, { pythonpath: [temp.join("user")] });
    const plain = await launch(temp, { pythonpath: [temp.join("user")], repair: false });
    expect(plain.stderr).toContain("Error in sitecustomize");
    expect(stderr).toBe(plain.stderr + applied);
    expect(said).toMatchObject(repaired);
  });
});

describe.each(pythons)("any other program of %s", (python) => {
  test("runs as it would without the repair", async () => {
    await using temp = temporaryDirectory();
    const look =
      "import os, sys; print(sys.path); print(sys.modules.get('sitecustomize')); print(sorted(set(sys.modules) - set(['mg_team_ballot'])))";
    const words = ["-c", `${look}; print([getattr(finder, '__name__', type(finder)) for finder in sys.meta_path])`];
    for (const program of [words, ["-c", look, "--step"], ["-c", "raise SystemExit(3)"]]) {
      const [with_, without] = await Promise.all([
        run(temp, [python, ...program], true, ["/x"]),
        run(temp, [python, ...program], false, ["/x"]),
      ]);
      expect({ program, ...with_ }).toEqual({ program, ...without });
    }
  });

  test("hands the repair on to a MassGen that it starts", async () => {
    await using temp = temporaryDirectory();
    const { stdout } = await run(temp, [python, "-c", "import os; print(os.environ['PYTHONPATH'])", "--step"], true);
    expect(stdout).toBe(`${temp.join("ballot")}\n`);
  });
});

describe("with no peer's answer, the repair is ready and changes nothing that a voter sees", () => {
  test.each([[[]], [["agent_b"]]])("answers: %j", async (answers) => {
    await using temp = temporaryDirectory();
    const { said, stderr } = await launch(temp, { answers });
    const plain = await launch(temp, { answers, repair: false });
    expect(stderr).toBe("mg-team ballot: ready\n");
    expect(said).toMatchObject({ offered: plain.said.offered, agents: plain.said.agents, labels: plain.said.labels });
  });
});

test("a MassGen whose ballot is healthy is left as it is", async () => {
  await using temp = temporaryDirectory();
  const edit = (source: string) =>
    source
      .replace("self.agent_ids = list(agent_ids)", "self.agent_ids = sorted({*self.agent_ids, *agent_ids})")
      .replace("{agent: [] for agent in agent_ids}", "{agent: self.answers_by_agent.get(agent, []) for agent in self.agent_ids}")
      .replace('["agent1"]', '["agent%d" % (i + 1) for i, a in enumerate(sorted({agent, *answers})) if a in answers]');
  const { said, stderr } = await launch(temp, { edit });
  const plain = await launch(temp, { edit, repair: false });
  expect(stderr).toBe("mg-team ballot: not needed\n");
  expect(said).toMatchObject({ ...repaired, starts: plain.said.starts });
  expect(plain.said).toMatchObject(repaired);
});

describe("a MassGen with other names runs on without the repair, which says so", () => {
  const names = [
    "Orchestrator",
    "_step_mode",
    "coordination_tracker",
    "initialize_session",
    "agent_ids",
    "answers_by_agent",
    "events",
    "_get_current_answers_snapshot",
    "get_agents_with_answers_anon",
    "get_anonymous_agent_mapping",
    "get_latest_answer_label",
    "workflow_tools",
    "vote",
    "function",
    "parameters",
  ];
  test.each(names)("%s", async (name) => {
    await using temp = temporaryDirectory();
    const edit = (source: string) => source.replaceAll(new RegExp(`\\b${name}\\b`, "g"), `other_${name}`);
    const { said, stderr, exit } = await launch(temp, { edit });
    expect(stderr).toMatch(/^mg-team ballot: unexpected code: .*\n$/);
    expect(stderr).toContain(name === "function" || name === "vote" ? "no vote tool" : name);
    expect(said).toMatchObject({ ...nothing, starts: 2 });
    expect(exit.code).toBe(0);
  });
});

describe("a ballot on which a name would stand for somebody else is not used", () => {
  const reversed: readonly [string, (source: string) => string][] = [
    ["names", (source) => source.replace("enumerate(sorted(self.agent_ids), 1)}", "enumerate(sorted(self.agent_ids)[::-1], 1)}")],
    ["labels", (source) => source.replace('"agent%d.1" % number', '"agent%d.1" % (4 - number)')],
  ];
  test.each(reversed)("%s in another order", async (_, edit) => {
    await using temp = temporaryDirectory();
    const { said, stderr } = await launch(temp, { edit, answers: ["agent_a"] });
    expect(stderr).toMatch(/^mg-team ballot: unexpected code: .*\n$/);
    expect(said).toMatchObject(nothing);
  });
});

test("an error of MassGen's own passes through", async () => {
  await using temp = temporaryDirectory();
  const edit = (source: string) => source.replace('self.events.append("session_start")', "if user_prompt: raise ValueError('its own')");
  const { stderr, exit } = await launch(temp, { edit });
  expect(stderr).toContain("ValueError: its own");
  expect(stderr).not.toContain("mg-team ballot");
  expect(exit.code).toBe(1);
});

test.each(["-I", "-E"])("a launcher with %s runs without the repair and without a line", async (flag) => {
  await using temp = temporaryDirectory();
  const { said, stderr } = await launch(temp, {
    flags: [flag],
    edit: (source) => `import sys; sys.path.insert(0, __file__.rsplit("/", 1)[0])\n${source}`,
  });
  expect(said).toMatchObject(nothing);
  expect(stderr).toBe("");
});
