import { formatCost } from "../../../session/totals.ts";
import { html, type Value } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { agentName, type Column, dataTable, fold, type Section } from "../parts.ts";
import type { Spending } from "../spending.ts";
import { costWords, countWords } from "../words.ts";

/** Money and tokens, by agent and round. */
export function costSection({ spending, result }: ReportModel): Section | null {
  if (spending.rounds.length === 0) return null;
  const wide = spending.rounds.length <= columnsInOne;
  const unknown = spending.agents.some(({ total }) => total.known !== "all");
  const body = html`<p>Total: <strong>${formatCost(result.cost)}</strong>.${unknown && " “Unknown” is money whose amount nobody has reported: not nothing."}</p>
${byAgent(spending, wide)}${!wide && fold("By round", byRound(spending))}`;
  return { id: "cost", title: "Cost", body };
}

// --- internal ---

/** Rounds beyond that get a table of their own. */
const columnsInOne = 8;

function byAgent({ agents, rounds, byRound: totals, total }: Spending, wide: boolean) {
  const shown = wide ? rounds : [];
  const columns: Column[] = [
    { title: "Agent" },
    ...shown.map((round) => ({ title: nameOf(round), right: true })),
    { title: "All", right: true },
    { title: "Tokens in", right: true },
    { title: "Tokens out", right: true },
  ];
  const row = (name: Value, cells: readonly Value[], sum: Spending["total"]): Value[] => [
    name,
    ...cells,
    html`<strong>${costWords(sum)}</strong>`,
    countWords(sum.input_tokens),
    countWords(sum.output_tokens),
  ];
  const rows = agents.map((agent) =>
    row(
      agentName(agent.id),
      shown.map((_, index) => moneyIn(agent.byRound[index])),
      agent.total,
    ),
  );
  return dataTable(
    "Cost by agent and round",
    columns,
    rows,
    row(
      "All",
      shown.map((_, index) => costWords(totals[index])),
      total,
    ),
  );
}

function byRound({ rounds, byRound: totals }: Spending) {
  const rows = rounds.map((round, index) => [nameOf(round), costWords(totals[index])]);
  return dataTable("Cost by round", [{ title: "Round" }, { title: "Cost", right: true }], rows);
}

function moneyIn(cost: Spending["agents"][number]["byRound"][number]): string {
  return cost ? costWords(cost) : "–";
}

function nameOf(round: number): string {
  return round === 0 ? "After the rounds" : `Round ${round}`;
}
