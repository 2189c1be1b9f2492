import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Start } from "./target.ts";

const step = ["--step", "--session-dir", "{session}", "--config", "{config}", "--no-session-registry"];
const streamed = [...step, "--automation", "--stream-events"];
/** Everything that a shell, an option parser or a terminal might trip over. */
export const oddQuery = "-5 + 3 for @angular/core, \\@x  \"q\" 'q' $(id) `id`\né\u2028!";
const peer = (answer: unknown) => JSON.stringify({ agent_id: "agent_b", answer, timestamp: "2026-11-29T18:00:00+00:00" });
const quickstart = (backend: string, model: string) =>
  ["--quickstart", "--headless", "--config", "{cwd}/made.yaml", "--config-backend", backend, "--config-model", model].concat(
    "--config-agent-id",
    "agent_b",
  );

/** One start each; many properties are read from one start, because the real program takes ten seconds to get going. */
export const starts = named({
  answer: { behaviour: { answer: "four" }, argv: [...streamed, "--no-parse-at-references", "--", oddQuery] },
  vote: {
    behaviour: { vote: "agent_b" },
    model: "mystery-1",
    session: {
      "agent_a/001/answer.json": peer("three"),
      "agent_b/001/answer.json": peer("five"),
      "agent_b/002/answer.json": peer("cut").slice(0, 30),
      "agent_c/001/answer.json": `\ufeff${peer("bom")}`,
      "agent_d/001/answer.json": "",
      "agent_d/002/vote.json": "[]",
    },
    during: ({ sessionDir }) => {
      writeFileSync(join(sessionDir, "agents/agent_b/002/answer.json"), peer("newer"));
    },
    argv: [...step, "--automation", "Sum @notes.txt up"],
    files: { "notes.txt": "2+2" },
  },
  blank: { behaviour: { answer: "" }, argv: [...step, "-"] },
  blankPeer: { behaviour: { vote: "agent_b" }, session: { "agent_b/001/answer.json": peer("") }, argv: [...streamed, "Who?"] },
  files: {
    behaviour: { answer: "see index.html", files: { "index.html": "<p>4</p>" } },
    workspace: true,
    argv: [...streamed, "Build a page"],
  },
  noAction: { behaviour: { fails: "no-action" }, argv: [...streamed, "What is 2+2?"] },
  invalidAgent: {
    behaviour: { fails: "invalid-agent" },
    session: { "agent_b/001/answer.json": peer("five") },
    argv: [...streamed, "Who?"],
  },
  auth: { behaviour: { fails: "auth" }, argv: [...streamed, "What is 2+2?"] },
  timeout: { behaviour: { fails: "timeout" }, argv: [...streamed, "--orchestrator-timeout", "1", "What is 2+2?"] },
  noKey: { env: { XAI_API_KEY: "" }, argv: [...streamed, "What is 2+2?"] },
  notUtf8: { session: { "agent_b/001/answer.json": Buffer.from('{"answer": "caf\xe9"}', "latin1") }, argv: [...streamed, "Who?"] },
  voteNotUtf8: { session: { "agent_b/001/vote.json": Buffer.from('{"target": "\xe9"}', "latin1") }, argv: [...streamed, "Who?"] },
  array: { session: { "agent_b/001/answer.json": "[]" }, argv: [...streamed, "Who?"] },
  number: { session: { "agent_b/001/answer.json": peer(5) }, argv: [...streamed, "Who?"] },
  object: { session: { "agent_b/001/answer.json": peer({ text: "five" }) }, argv: [...streamed, "Who?"] },
  list: { behaviour: { answer: "four" }, session: { "agent_b/001/answer.json": peer(["five"]) }, argv: [...streamed, "Who?"] },
  surrogate: { behaviour: { vote: "agent_b" }, session: { "agent_b/001/answer.json": peer("a\ud800b") }, argv: [...streamed, "Who?"] },
  missingReference: { argv: [...streamed, "Upgrade @angular/core"] },
  twoAgents: { agents: ["agent_a", "agent_b"], argv: [...streamed, "Who?"] },
  noQuery: { argv: [...streamed, ""] },
  noSession: { argv: ["--step", "--config", "{config}", "--automation", "--stream-events", "Who?"] },
  noConfig: { argv: ["--step", "--session-dir", "{session}", "--config", "{cwd}/none.yaml", "--automation", "Who?"] },
  badCriteria: { files: { "criteria.json": '[{"weight": 1}]' }, argv: [...streamed, "--eval-criteria", "{cwd}/criteria.json", "Who?"] },
  unknownFlag: { argv: [...streamed, "--bogus", "Who?"] },
  interrupt: { behaviour: { answer: "late" }, kill: "SIGINT", argv: [...streamed, "Who?"] },
  terminate: { behaviour: { answer: "late" }, kill: "SIGTERM", argv: [...streamed, "Who?"] },
  help: { argv: ["--help"] },
  quickstart: { argv: quickstart("grok", "grok-4.20-0309-reasoning") },
  quickstartNoKey: { env: { XAI_API_KEY: "" }, argv: quickstart("grok", "grok-4") },
});

export type StartName = keyof typeof starts;

// --- internal ---

/** Keeps the names while every entry is a plain Start. */
function named<Name extends string>(table: Readonly<Record<Name, Start>>): Readonly<Record<Name, Start>> {
  return table;
}
