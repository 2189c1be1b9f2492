import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { prepareBallotFix } from "../../../src/engine/massgen/ballot/fix.ts";
import { readBallotLine } from "../../../src/engine/massgen/ballot/line.ts";
import { startChild } from "../../../src/process/child.ts";
import { childEnvironment } from "../../../src/process/environment.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temp.ts";
import { startModelServer } from "../models/server.ts";
import { massgen } from "./support.ts";

const minutes = 60_000;

// Agent B has no answer; its model wants the answer of agent C and takes only names that the vote tool offers.
test.concurrent(
  "through a wrapper script, a model that obeys the vote tool reaches the peer that it means",
  async () => {
    await using temp = temporaryDirectory("dir with spaces");
    const wrapper = temp.write("scripts/run-massgen.sh", `set -e\npython3 -c "import json"\nexec "${massgen}" "$@"\n`);
    const step = await vote(temp, ["bash", wrapper], "auto");

    expect(step.offered).toEqual([["agent1", "agent3"]]);
    expect(step.verdicts).toEqual([{ verdict: "applied", detail: "" }]);
    expect(step.exit.code).toBe(0);
    expect(step.vote).toMatchObject({ voter: "agent_b", target: "agent_c" });
    // What MassGen writes for others still holds: costs, with peers in its tracker.
    expect(step.status.costs.total_input_tokens).toBe(1000);
  },
  2 * minutes,
);

test.concurrent(
  "without the repair the same model cannot vote at all",
  async () => {
    await using temp = temporaryDirectory();
    const step = await vote(temp, [massgen], "off");

    expect(step.offered).toEqual([["agent1"], ["agent1"], ["agent1"]]);
    expect(step.verdicts).toEqual([]);
    expect(step.exit.code).toBe(2);
    expect(step.vote).toBeNull();
  },
  2 * minutes,
);

/** One real step of agent B on a session in which agents A and C have answered. */
async function vote(temp: TemporaryDirectory, command: readonly string[], mode: "auto" | "off") {
  await using models = startModelServer({ "grok-4": [{ vote: { preferring: "Answer of C" } }] });
  const session = temp.join("session");
  for (const [agent, text] of [
    ["agent_a", "Answer of A"],
    ["agent_c", "Answer of C"],
  ] as const) {
    temp.write(`session/agents/${agent}/001/answer.json`, JSON.stringify({ agent_id: agent, answer: text, timestamp: "" }));
  }
  const config = temp.write("agent_b_step.yaml", configFor(models.baseUrl));
  const cwd = temp.join("runs");
  mkdirSync(cwd);
  const env = childEnvironment({ ...process.env, XAI_API_KEY: "xai-test", HOME: temp.path });
  const fix = await prepareBallotFix({ directory: temp.join("ballot"), env, mode, need: "unknown" });
  const stderr: string[] = [];
  const child = startChild({
    argv: [...command, ..."--step --automation --no-session-registry --session-dir".split(" "), session, "--config", config, "6 * 7?"],
    cwd,
    env: { ...env, ...fix.env },
    logDir: cwd,
    cookie: "ballot-test",
    onLine: (stream, line) => {
      if (stream === "stderr") stderr.push(line);
    },
  });
  const exit = await child.exited;
  const file = join(session, "agents/agent_b/001/vote.json");
  const stdout = readFileSync(join(cwd, "stdout.log"), "utf8");
  const statusPath = /^STATUS: (.*status\.json)$/m.exec(stdout)?.[1] ?? "";
  return {
    exit,
    offered: models.requests.filter(({ turn }) => turn !== null).map(({ voteEnum }) => voteEnum),
    verdicts: stderr.map(readBallotLine).filter((verdict) => verdict !== null),
    vote: existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null,
    status: existsSync(statusPath) ? JSON.parse(readFileSync(statusPath, "utf8")) : null,
  };
}

function configFor(baseUrl: string): string {
  return `agents:
  - id: agent_b
    backend: { type: grok, model: grok-4, base_url: "${baseUrl}" }
orchestrator: { snapshot_storage: snapshots, agent_temporary_workspace: temp_workspaces }
timeout_settings: { orchestrator_timeout_seconds: 90 }
ui: { display_type: simple, logging_enabled: true }
`;
}
