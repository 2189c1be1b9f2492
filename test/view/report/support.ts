import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type DefaultTreeAdapterMap, parse } from "parse5";
import { type TeamDirectory, teamDirectory } from "../../../src/session/directory.ts";
import type { BallotStanding, EventBody } from "../../../src/session/events.ts";
import { type RunResult, resultLimits } from "../../../src/session/result.ts";
import type { Agent, StepCost } from "../../../src/types.ts";
import { renderReport } from "../../../src/view/report/write.ts";
import { envelope } from "../../support/events.ts";
import { noLimits } from "../../support/team.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temp.ts";

/** A run on the disk that nobody has run: agents answer, then vote, round by round; every text of it comes from `text`. */
export interface MadeRun {
  readonly agents: number;
  readonly rounds: number;
  /** The text for a place: "model", "reason", "answer", … Default: the name of the place. */
  readonly text?: (place: string) => string;
  /** Without it there is no result.json. */
  readonly finished?: boolean;
  /** Without it the journal ends before the decision. */
  readonly decided?: boolean;
  readonly result?: Partial<RunResult>;
  /** Of every step. */
  readonly cost?: StepCost;
}

export const date = new Date("2026-11-29T18:15:00Z");

/** Renders a made run; its directory is gone afterwards. */
export async function renderMade(made: MadeRun): Promise<string> {
  await using temp = temporaryDirectory("team_20261129_181500");
  return await render(makeRun(temp, made)); // before it is gone
}

export function render(directory: TeamDirectory, redact: (text: string) => string = (text) => text): Promise<string> {
  return renderReport(directory, { date, version: "0.1.0", redact });
}

/** Writes journal, result, answers, logs and files of a made run. */
export function makeRun(temp: TemporaryDirectory, { finished = true, ...made }: MadeRun): TeamDirectory {
  const text = made.text ?? ((place) => place);
  const write = (path: string, content: string) => {
    mkdirSync(dirname(temp.join(path)), { recursive: true });
    writeFileSync(temp.join(path), content);
  };
  const agents = Array.from({ length: made.agents }, (_, index): Agent => agentAt(index, text));
  const bodies = eventsOf(agents, made, text);
  write("events.jsonl", bodies.map((body, index) => `${JSON.stringify(envelope(body, index + 1))}\n`).join(""));
  for (const body of bodies) {
    if (body.type !== "step.finished" || body.action.kind !== "new_answer") continue;
    const path = join("session", "agents", body.action.agent, String(body.action.step).padStart(3, "0"));
    write(join(path, "answer.json"), JSON.stringify({ answer: text("answer") }));
  }
  write("runs/stderr.log", `${text("log")}\nthe last line\n`);
  if (finished) {
    write("result.json", JSON.stringify({ ...resultOf(agents, bodies, made, text), session_dir: temp.path, ...made.result }));
    write("synthesis/final_answer.md", text("answer"));
    write(`synthesis/deliverable/${text("file").replaceAll("/", "∕").slice(0, 60)}`, "12345");
  }
  write("config.json", "{}");
  return teamDirectory(temp.path);
}

/** Every element of a page, parsed as a browser would. */
export function elementsOf(page: string): Element[] {
  const found: Element[] = [];
  const visit = (node: DefaultTreeAdapterMap["node"], prose: boolean) => {
    const isElement = "tagName" in node;
    const attributes = isElement ? Object.fromEntries(node.attrs.map(({ name, value }) => [name, value])) : {};
    if (isElement) found.push({ tag: node.tagName, attributes, inProse: prose });
    const inside = prose || attributes.class === "prose";
    if ("content" in node) visit(node.content, inside);
    if ("childNodes" in node) for (const child of node.childNodes) visit(child, inside);
  };
  visit(parse(page), false);
  return found;
}

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Within the text of an agent. */
  readonly inProse: boolean;
}

/** What a reader sees: the page without its head, tags and line breaks. */
export function textOf(page: string): string {
  const parts: string[] = [];
  const visit = (node: DefaultTreeAdapterMap["node"]) => {
    if (node.nodeName === "head") return;
    if ("value" in node) parts.push(node.value);
    if ("childNodes" in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(page));
  return parts.join("").replace(/\s+/g, " ");
}

// --- internal ---

type Text = (place: string) => string;

const oneCent: StepCost = { usd: 0.01, inputTokens: 100, outputTokens: 10 };

function agentAt(index: number, text: Text): Agent {
  const letters =
    index < 26
      ? String.fromCharCode(97 + index)
      : `${String.fromCharCode(96 + Math.floor(index / 26))}${String.fromCharCode(97 + (index % 26))}`;
  return { id: `agent_${letters}`, model: text("model"), backend: "codex", modelName: text("model") };
}

function eventsOf(agents: readonly Agent[], { rounds, cost = oneCent, decided = true }: MadeRun, text: Text): EventBody[] {
  const bodies: EventBody[] = [
    {
      type: "run.started",
      session_id: "team_20261129_181500",
      directory: "/nowhere",
      agents,
      limits: { ...noLimits, maxRounds: rounds, costBudget: 5 },
      engine: { name: "massgen", version: text("version"), ballot_fix: "on" },
      mg_team: text("version"),
    },
    { type: "preflight.warning", message: text("warning") },
  ];
  const [first, last] = [agents[0]?.id ?? "", agents.at(-1)?.id ?? ""];
  for (let round = 1; round <= rounds; round++) {
    bodies.push({ type: "round.started", round, agents: agents.map(({ id }) => id) });
    const answers = Object.fromEntries(agents.map(({ id }) => [id, round - 1]));
    const ballots: BallotStanding[] = [];
    for (const { id } of agents) {
      const launchedWith = { answers, blank: [] };
      const base = { agent: id, round, try: 1, launchedWith, seconds: 30, cost, at: round * 1000, notes: [text("note")] };
      const fails = id === last && round === rounds;
      const votes = round > 1 && (round === rounds || round % 2 === 0);
      bodies.push({
        type: "step.started",
        kind: "round",
        agent: id,
        round,
        try: 1,
        pid: 1,
        launched_with: launchedWith,
        after: 0,
        run_dir: "runs",
        query: text("edit"),
      });
      const vote = { target: first, reason: text("reason"), seenSteps: answers, step: round };
      const action = fails
        ? ({ ...base, kind: "failed", class: "crash", message: text("message"), log: "runs/stderr.log" } as const)
        : votes
          ? ({ ...base, kind: "vote", ...vote } as const)
          : ({ ...base, kind: "new_answer", step: round } as const);
      bodies.push({ type: "step.finished", kind: "round", action, retry: false, interrupted: false });
      if (action.kind !== "vote") continue;
      const standing = round === rounds ? "valid" : "stale";
      ballots.push({ voter: id, target: first, step: round, round, self: id === first, standing, why: text("why") });
    }
    bodies.push({ type: "ballots", round, ballots, tally: { [first]: ballots.length } });
  }
  if (decided)
    bodies.push({
      type: "decision",
      round: rounds,
      decision: { kind: "consensus", reason: "majority", winner: first, rule: text("rule") },
    });
  return bodies;
}

function resultOf(agents: readonly Agent[], bodies: readonly EventBody[], made: MadeRun, text: Text): RunResult {
  const last = bodies.findLast((body) => body.type === "ballots");
  const ballots = (last?.type === "ballots" ? last.ballots : []).map((ballot) => ({ ...ballot, reason: text("reason") }));
  const winner = agents[0]?.id ?? null;
  return {
    version: 1,
    session_id: "team_20261129_181500",
    session_dir: "/nowhere",
    query: text("query"),
    started_at: "2026-11-29T18:00:00.000Z",
    duration_seconds: 90,
    exit_code: 0,
    answer: text("answer"),
    decision: {
      kind: "consensus",
      reason: "majority",
      rule: text("rule"),
      winner,
      winner_model: text("model"),
      tally: { [winner ?? ""]: ballots.length },
      ballots,
    },
    rounds: made.rounds,
    limits: resultLimits({ ...noLimits, maxRounds: made.rounds, costBudget: 5 }, null),
    cost: { total_usd: 0.5, known: "all", by_agent: {} },
    agents: agents.map(({ id, model }) => ({
      id,
      model,
      status: "live",
      steps: [],
      failure: { class: "crash", message: text("message"), log: "runs/stderr.log" },
    })),
    synthesis: { kind: "markdown", path: "/nowhere", deliverable: "/nowhere", winner: "/nowhere", why_not_agent: text("whyNot") },
    checks: [{ file: text("file"), line: 3, check: text("check"), message: text("finding") }],
    engine: { name: "massgen", version: text("version"), ballot_fix: "on" },
    warnings: [text("warning")],
    plugins: { [text("plugin")]: { [text("key")]: text("data") } },
  };
}
