import type { ResultBallot, RunResult } from "../../session/result.ts";
import { plural } from "../../text.ts";
import { attribute, type Html, html } from "./html.ts";

/** The last ballots as a picture: voters on the left, those that they voted for on the right. Pure. */

/** Beyond that many agents the lines would be a tangle: bars tell how many votes each has. */
export const mostDrawn = 16;

/** @param described id of the element that tells the same in words */
export function voteGraph(result: RunResult, described: string): Html {
  const label = "Vote graph: who voted for whom at the end";
  return result.agents.length > mostDrawn ? bars(result, label, described) : graph(result, label, described);
}

// --- internal ---

const width = 344;
const row = 52;
const box = { width: 112, height: 36 } as const;

function graph({ agents, decision }: RunResult, label: string, described: string): Html {
  const ids = agents.map(({ id }) => id);
  const lost = decision.ballots.some(({ target }) => !ids.includes(target));
  const targets = [
    ...ids.filter((id) => id === decision.winner || decision.ballots.some(({ target }) => target === id)),
    ...(lost ? [nobody] : []),
  ];
  const height = Math.max(ids.length, targets.length) * row + 26;
  const y = (index: number, count: number) => 26 + ((height - 26) / count) * (index + 0.5);
  const yOf = (target: string) => y(targets.indexOf(targets.includes(target) ? target : nobody), targets.length);
  return html`<svg class="votes" role="img" aria-label="${label}" aria-describedby="${described}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<text class="head" x="${box.width / 2}" y="14">Voters</text><text class="head" x="${width - box.width / 2}" y="14">Votes for</text>
${decision.ballots.map((ballot) => line(ballot, y(ids.indexOf(ballot.voter), ids.length), yOf(ballot.target)))}
${ids.map((id, index) => name(id, "", 0, y(index, ids.length), decision.ballots.some(({ voter }) => voter === id) ? "box" : "box idle"))}
${targets.map((id) => name(id, countFor(id, decision.tally), width - box.width, yOf(id), id === decision.winner ? "box won" : "box"))}
</svg>`;
}

const nobody = "nobody";

function countFor(id: string, tally: RunResult["decision"]["tally"]): string {
  return id === nobody ? "" : plural(tally[id] ?? 0, "vote");
}

function name(id: string, count: string, x: number, y: number, kind: string): Html {
  const middle = x + box.width / 2;
  return html`<rect class="${kind}" x="${x + 1}" y="${y - box.height / 2}" width="${box.width - 2}" height="${box.height}" rx="8"/><text class="name" x="${middle}" y="${count === "" ? y + 5 : y - 1}">${shortened(id)}</text>${
    count !== "" && html`<text class="count" x="${middle}" y="${y + 13}">${count}</text>`
  }`;
}

function line({ standing }: ResultBallot, from: number, to: number): Html {
  const [start, end] = [box.width + 1, width - box.width - 6];
  const middle = (start + end) / 2;
  return html`<path class="arrow ${standing}" d="M${start} ${from}C${middle} ${from} ${middle} ${to} ${end} ${to}"${attribute("marker-end", standing === "valid" ? "url(#tip)" : "url(#dull-tip)")}/>`;
}

function shortened(id: string): string {
  return id.length > 13 ? `${id.slice(0, 12)}…` : id;
}

function bars({ decision }: RunResult, label: string, described: string): Html {
  const most = Object.entries(decision.tally).sort(([, a], [, b]) => b - a);
  const shown = most.slice(0, mostDrawn);
  const top = Math.max(1, shown[0]?.[1] ?? 1);
  const height = Math.max(1, shown.length) * 30;
  const room = width - box.width - 48;
  return html`<svg class="votes" role="img" aria-label="${label}" aria-describedby="${described}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
${shown.map(
  ([id, votes], index) =>
    html`<text class="name left" x="0" y="${index * 30 + 20}">${shortened(id)}</text><rect class="${
      id === decision.winner ? "box won" : "box"
    }" x="${box.width}" y="${index * 30 + 5}" width="${Math.max(2, (room * votes) / top)}" height="20" rx="4"/><text class="count left" x="${
      box.width + (room * votes) / top + 8
    }" y="${index * 30 + 20}">${votes}</text>`,
)}
</svg>`;
}
