import type { AgentCost, ResultAgent, ResultBallot, ResultStep, RunResult } from "mg-team";
import type { FinalAnswerInput } from "../../plugins/markdown-synthesis/input.ts";
import { resultLimits } from "../../src/session/result.ts";
import { noLimits } from "../support/team.ts";

const sessionDir = "/project/.massgen-quality/sessions/team_20261129_181500";
const models = [
  "codex/gpt-5.4",
  "gemini/gemini-3.1-pro-preview",
  "grok/grok-4.20",
  "claude/claude-opus-4-6",
  "codex/gpt-5.4",
  "openai/gpt-5.4",
];

/** One step in short words: `answer`, `vote:b`, `failed`, `skipped`. */
export type StepWord = string;

/** An agent of the team by its steps, one a round. */
export function agentWith(letter: string, steps: readonly StepWord[], more: Partial<ResultAgent> = {}): ResultAgent {
  return {
    id: `agent_${letter}`,
    model: models[letter.charCodeAt(0) - 97] ?? "codex/gpt-5.4",
    status: "live",
    steps: steps.map((word, index): ResultStep => {
      const [kind = "", target] = word.split(":");
      return {
        step: kind === "answer" || kind === "vote" ? index + 1 : null,
        round: index + 1,
        try: 1,
        action: kind === "answer" ? "new_answer" : (kind as ResultStep["action"]),
        class: kind === "failed" ? "model" : null,
        vote_target: target === undefined ? null : `agent_${target}`,
        seconds: 61.5,
        usd: 0.1,
      };
    }),
    failure: null,
    ...more,
  };
}

export function ballotWith(voter: string, target: string, more: Partial<ResultBallot> = {}): ResultBallot {
  const base = { step: 2, round: 2, standing: "valid", why: "", reason: `${target} is better.` } as const;
  return { voter: `agent_${voter}`, target: `agent_${target}`, self: voter === target, ...base, ...more };
}

export function costWith(usd: number | null, known: AgentCost["known"] = usd === null ? "none" : "all"): AgentCost {
  return { usd, known, input_tokens: 12_345, output_tokens: 678, unpriced_tokens: known === "all" ? 0 : 678 };
}

/** A run of three agents that ends in consensus, with one dissent. */
export function resultWith(more: Partial<RunResult> = {}): RunResult {
  return {
    version: 1,
    session_id: "team_20261129_181500",
    session_dir: sessionDir,
    query: "Build a landing page",
    started_at: "2026-11-29T18:15:00.000Z",
    duration_seconds: 312.4,
    exit_code: 0,
    answer: "# Landing page\n\nThe page is in index.html.",
    decision: {
      kind: "consensus",
      reason: "majority",
      rule: "2 of 3 agents voted for agent_b, which is more than half.",
      winner: "agent_b",
      winner_model: "gemini/gemini-3.1-pro-preview",
      tally: { agent_b: 2, agent_a: 1 },
      ballots: [ballotWith("a", "b"), ballotWith("b", "b"), ballotWith("c", "a", { reason: "It has tests.\nAnd it is shorter." })],
    },
    rounds: 2,
    limits: resultLimits(noLimits, null),
    cost: { total_usd: 0.6, known: "all", by_agent: { agent_a: costWith(0.2), agent_b: costWith(0.3), agent_c: costWith(0.1) } },
    agents: [agentWith("a", ["answer", "vote:b"]), agentWith("b", ["answer", "vote:b"]), agentWith("c", ["answer", "vote:a"])],
    synthesis: {
      kind: "markdown",
      path: `${sessionDir}/synthesis/final_answer.md`,
      deliverable: `${sessionDir}/synthesis/deliverable`,
      winner: `${sessionDir}/synthesis/winner`,
      why_not_agent: null,
    },
    checks: [],
    engine: { name: "massgen", version: "0.1.97", ballot_fix: "on" },
    warnings: [],
    plugins: { checks: { files: 2 } },
    ...more,
  };
}

export function inputWith(more: Partial<FinalAnswerInput> = {}): FinalAnswerInput {
  const result = more.result ?? resultWith();
  return {
    answer: result.answer ?? "",
    madeBy: null,
    whyNotAgent: null,
    result,
    answers: result.agents
      .filter(({ steps }) => steps.some(({ action }) => action === "new_answer"))
      .map(({ id }) => ({
        agent: id,
        step: 1,
        text: `# Title of ${id}\n\nThe page of ${id} is *static*.\n\nMore text.`,
        workspace: `${sessionDir}/session/agents/${id}/001/workspace`,
      })),
    files: [
      { path: "css/main style.css", bytes: 1 },
      { path: "index.html", bytes: 12_345 },
    ],
    directory: `${sessionDir}/synthesis`,
    ...more,
  };
}
