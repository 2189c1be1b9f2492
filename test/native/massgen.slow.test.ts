import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { realMassgen } from "../support/massgen.ts";
import { createSession, type TestSession } from "./support.ts";
import { type Act, type SeenRequest, startWireServer } from "./wire/server.ts";
import { wires } from "./wire/wire.ts";

// MassGen's own step mode reads what the native engine writes, and the other way round. One start of Python takes ten seconds.

const openai = wires[0];
if (openai === undefined) throw new Error("no wire");

type Call = readonly [name: string, arguments_: Readonly<Record<string, unknown>>];

function massgen(calls: readonly Call[], cwd: string): unknown[] {
  const python = join(dirname(realMassgen()), "python");
  const driver = join(import.meta.dir, "reader.py");
  const env = { PATH: `${dirname(python)}:/usr/bin:/bin`, HOME: cwd };
  const run = Bun.spawnSync([python, driver], { cwd, env, stdin: Buffer.from(JSON.stringify(calls)) });
  const line = run.stdout
    .toString()
    .split("\n")
    .find((text) => text.startsWith("RESULT "));
  if (line === undefined) throw new Error(`no result from Python: ${run.stderr.toString().slice(-2000)}`);
  return JSON.parse(line.slice(7));
}

/** One of the agents that `load_session_dir_inputs` found. */
function agentIn(inputs: unknown, agent: string) {
  return (inputs as { virtual_agents: Readonly<Record<string, { readonly steps?: readonly unknown[] }>> }).virtual_agents[agent];
}

async function native(session: TestSession, agent: string, acts: Parameters<typeof startWireServer>[1]): Promise<readonly SeenRequest[]> {
  await using server = startWireServer(openai as NonNullable<typeof openai>, acts);
  const { code, stderr } = await session.step({ type: "openai", baseUrl: server.baseUrl, agent });
  if (code !== 0) throw new Error(stderr);
  return server.requests;
}

const call = (name: string, args: Readonly<Record<string, unknown>>) => ({ name, arguments: args });
const voteFor =
  (words: string) =>
  (request: SeenRequest): Act => {
    const label = new RegExp(`<(agent\\d+)\\.\\d+>\\\\n${words}`).exec(JSON.stringify(request.body))?.[1];
    return { calls: [call("vote", { agent_id: label, reason: "it is right" })] };
  };

test("MassGen's own functions and the native engine read each other's answers, files and votes", async () => {
  await using session = createSession();
  const session_dir = session.path;
  const theirs = session.temp.join("their_workspace");
  mkdirSync(theirs);
  writeFileSync(join(theirs, "four.txt"), `made in ${theirs}\n`);

  // Native answers; MassGen writes an answer beside it and reads both.
  await native(session, "agent_a", [
    { calls: [call("write_file", { path: "js/four.js", content: "4" }), call("new_answer", { content: "Vier «4» 😀" })] },
  ]);
  const save = { session_dir, action: "new_answer", vote_target: null, vote_reason: null, seen_steps: null, duration_seconds: 1.5 };
  const [, first] = massgen(
    [
      ["save_step_mode_output", { ...save, agent_id: "agent_b", answer_text: `Four, see ${theirs}/four.txt`, workspace_source: theirs }],
      ["load_session_dir_inputs", { session_dir }],
    ],
    session.temp.path,
  );
  expect(agentIn(first, "agent_a")).toMatchObject({
    latest_step: 1,
    latest_answer: "Vier «4» 😀",
    latest_answer_step: 1,
    latest_workspace: join(session_dir, "agents/agent_a/001/workspace"),
    steps: [{ step_num: 1, action: "new_answer", data: { agent_id: "agent_a" } }],
  });
  expect(agentIn(first, "agent_b")).toMatchObject({ latest_answer_step: 1 });

  // Native sees MassGen's answer under a label, with its files, and votes for it.
  const requests = await native(session, "agent_a", [
    (request) => {
      const label = /<(agent\d+)\.\d+>\\nFour, see/.exec(JSON.stringify(request.body))?.[1];
      return { calls: [call("read_file", { path: `@${label}/four.txt` })] };
    },
    voteFor("Four, see"),
  ]);
  expect(requests[0]?.text).toMatch(/Four, see @agent[12]\/four\.txt/);
  expect(requests[1]?.text).toContain("made in");

  // MassGen takes the vote for what it is, until an answer makes it stale; a vote that MassGen wrote does not disturb the native engine.
  const [before, , after, , loaded] = massgen(
    [
      ["is_vote_stale", { session_dir, voter_id: "agent_a", vote_step: 2 }],
      ["save_step_mode_output", { ...save, agent_id: "agent_c", answer_text: "Five" }],
      ["is_vote_stale", { session_dir, voter_id: "agent_a", vote_step: 2 }],
      [
        "save_step_mode_output",
        {
          ...save,
          agent_id: "agent_b",
          action: "vote",
          answer_text: null,
          vote_target: "agent_a",
          vote_reason: "",
          seen_steps: { agent_a: 1 },
        },
      ],
      ["load_session_dir_inputs", { session_dir }],
    ],
    session.temp.path,
  );
  expect([before, after]).toEqual([false, true]);
  expect(agentIn(loaded, "agent_a")?.steps?.[1]).toMatchObject({
    step_num: 2,
    action: "vote",
    data: { voter: "agent_a", target: "agent_b", reason: "it is right", seen_steps: { agent_a: 1, agent_b: 1 } },
  });
  expect(agentIn(loaded, "agent_a")).toMatchObject({ latest_step: 2, latest_answer_step: 1 });
  await native(session, "agent_d", [voteFor("Five")]);
  expect(session.read("agent_d/001/vote.json")).toMatchObject({ target: "agent_c", seen_steps: { agent_a: 1, agent_b: 1, agent_c: 1 } });
}, 120_000);
