import { formatDuration, formatMoney, plural } from "../../text.ts";
import type { AgentRow } from "../agent-row.ts";
import { fit, joinParts, oneLine, wrapLine } from "../fit.ts";
import { renderRows } from "../live/render.ts";
import { paint, type Style } from "../paint.ts";
import { shortTotal, targetOf } from "../phrases.ts";
import { table } from "../table.ts";
import type { StatusAgent, TeamStatus } from "./shape.ts";
import { renderTimeline, timelineLegend } from "./timeline.ts";

/**
 * A status as lines, none wider than `width`.
 * @param height as many lines as there may be: the answers' beginnings give way first, then what is last is cut off, with a line that says so
 */
export function renderStatus(status: TeamStatus, width: number, height: number, color: boolean): string[] {
  for (const previewLines of [status.agents.length > 8 ? 1 : 3, 1, 0]) {
    const lines = sections(status, width, previewLines, color);
    if (lines.length <= height) return lines;
    if (previewLines > 0) continue;
    const more = `… ${plural(lines.length - height + 1, "more line")}; make the window taller, or leave out --watch`;
    return [...lines.slice(0, Math.max(0, height - 1)), ...wrapLine(more, width, 1)].slice(0, height);
  }
  return [];
}

// --- internal ---

function sections(status: TeamStatus, width: number, previewLines: number, color: boolean): string[] {
  const { agents, timeline, columns, unknown, warnings } = status;
  const title = (text: string) => paint(text, "bold", color);
  const said = (text: string, style?: Style) => wrapLine(oneLine(text), width - 2).map((line) => `  ${paint(line, style, color)}`);
  const listed = (text: string, style: Style) =>
    wrapLine(oneLine(text), width - 4).map((line, index) => `  ${paint(`${index === 0 ? "- " : "  "}${line}`, style, color)}`);
  const section = (name: string, lines: readonly string[]) => (lines.length === 0 ? [] : ["", title(name), ...lines]);
  const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);
  const legend = timelineLegend(timeline);
  return [
    title(headOf(status, width)),
    ...(status.query === null ? [] : wrapLine(oneLine(status.query.slice(0, 2000)), width, 2)),
    ...section(
      "Agents",
      indented(
        renderRows(
          agents.map((agent) => rowOf(agent, columns)),
          width - 2,
          color,
        ),
      ),
    ),
    ...section(
      "Answers",
      previewLines === 0 ? [] : agents.flatMap((agent) => answerLines(agent, width - 2, previewLines, color)).map((line) => `  ${line}`),
    ),
    ...section("Votes", indented(voteLines(status, width - 2, color))),
    ...section("Consensus", said(status.consensus, status.decision || status.consensus.startsWith("consensus") ? "green" : undefined)),
    ...section("Timeline", [
      ...indented(renderTimeline(status, width - 2, color)),
      ...(legend === "" ? [] : said(legend, "dim")),
      ...(columns === "steps" && legend !== "" ? said("Columns are each agent's own steps.", "dim") : []),
    ]),
    ...section(
      "Warnings",
      warnings.flatMap((warning) => listed(warning, "yellow")),
    ),
    ...section(
      "Not known here",
      unknown.flatMap((what) => listed(what, "dim")),
    ),
  ];
}

function headOf({ session_id: id, directory, state, round, limits, elapsed_seconds: elapsed, cost }: TeamStatus, width: number): string {
  const whole = (seconds: number) => formatDuration(Math.floor(seconds));
  const money = cost ? `${shortTotal(cost)}${limits?.costBudget ? ` of ${formatMoney(limits.costBudget)}` : ""}` : "";
  const time = elapsed === null ? "" : `${whole(elapsed)}${limits ? ` of ${whole(limits.timeoutSeconds)}` : ""}`;
  const rounds = !round ? "" : limits ? `round ${round} of ${limits.maxRounds}` : `round ${round}`;
  return joinParts([oneLine(id ?? directory), state === "unknown" ? "" : state.replace("_", " "), rounds, time, money], width);
}

function rowOf(agent: StatusAgent, columns: TeamStatus["columns"]): AgentRow {
  return { ...agent, model: agent.model ?? "", round: columns === "rounds" ? agent.round : 0 };
}

function answerLines({ id, answer }: StatusAgent, width: number, most: number, color: boolean): string[] {
  if (!answer) return [];
  const { step, round, characters, preview } = answer;
  const place = round === null ? `step ${step}` : `step ${step}, round ${round}`;
  const head = joinParts([oneLine(id), place, plural(characters, "character")], width);
  const cut = characters > preview.length ? `${preview}…` : preview;
  const lines = cut.split("\n").flatMap((line) => wrapLine(oneLine(line), width - 2, most));
  const shown = lines.length > most ? [...lines.slice(0, most - 1), fit(`${lines[most - 1]} …`, width - 2)] : lines;
  return [paint(head, "cyan", color), ...shown.map((line) => `  ${line}`)];
}

/** The vote graph, an edge a line: `agent_a ──▶ agent_b  "the better structure"`. */
function voteLines({ ballots, tally, votes_needed: needed }: TeamStatus, width: number, color: boolean): string[] {
  if (ballots.length === 0) return [];
  const edges = ballots.map(({ voter, target, standing, why, reason }) => {
    const valid = standing === "valid";
    return {
      voter: { text: oneLine(voter) },
      arrow: { text: valid ? "──▶" : "╌╌▷", style: valid ? "magenta" : "yellow" } as const,
      target: { text: oneLine(targetOf(target, voter)) },
      remark: valid
        ? ({ text: reason === "" ? "" : `"${oneLine(reason)}"`, style: "dim" } as const)
        : ({ text: `${standing}: ${oneLine(why)}`, style: "yellow" } as const),
    };
  });
  const lines = table(
    [
      { cells: edges.map(({ voter }) => voter), least: 7, rank: 4 },
      { cells: edges.map(({ arrow }) => arrow), least: 3, rank: 3 },
      { cells: edges.map(({ target }) => target), least: 7, rank: 2 },
      { cells: edges.map(({ remark }) => remark), least: 8, rank: 1 },
    ],
    width,
    color,
  );
  const counts = Object.entries(tally).sort(([, a], [, b]) => b - a);
  const others = (["stale", "invalid"] as const).map((word) => ({
    word,
    count: ballots.filter(({ standing }) => standing === word).length,
  }));
  const parts = [
    counts.map(([id, votes]) => `${oneLine(id)} ${votes}`).join(", ") || "no valid vote",
    ...others.map(({ word, count }) => (count === 0 ? "" : `${count} ${word}`)),
    `${needed} needed`,
  ];
  return [...lines, joinParts(parts, width)];
}
