import type { ResultBallot } from "../../../session/result.ts";
import { plural } from "../../../text.ts";
import { type Html, html, type Value } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { agentName, fold, quote, type Section, targetName } from "../parts.ts";
import type { Change, Dissent } from "../story.ts";
import { mostDrawn, voteGraph } from "../vote-graph.ts";

/** The rule, the votes, who was against it, and who changed their mind. */
export function decisionSection({ result, dissent, changes }: ReportModel): Section | null {
  const { ballots, rule, winner } = result.decision;
  if (rule === "" && ballots.length === 0 && changes.length === 0) return null;
  const body = html`${rule !== "" && html`<p>${rule}</p>`}
${
  ballots.length === 0
    ? html`<p class="none">Nobody has voted.</p>`
    : html`<div class="beside">${voteGraph(result, "ballots")}${listOfBallots(ballots, winner)}</div>`
}
${winner !== null && ballots.length > 0 && html`<h3>Dissent</h3><p>${dissentWords(dissent, ballots)}</p>`}
<h3>Changes of mind</h3>${changes.length === 0 ? html`<p class="none">Nobody has changed their mind.</p>` : changeList(changes, ballots)}`;
  return { id: "decision", title: "How it was decided", body };
}

// --- internal ---

const listed = 60;
/** A list with more items is folded. */
const mostOpen = 12;

function listOfBallots(ballots: readonly ResultBallot[], winner: string | null): Html {
  const list = html`<ul class="plain" id="ballots">${ballots.map((ballot) => ballotItem(ballot, winner))}</ul>`;
  return ballots.length > mostDrawn ? fold(`All ${ballots.length} votes`, list) : list;
}

function ballotItem({ voter, target, round, standing, why, reason }: ResultBallot, winner: string | null): Html {
  const dissents = standing === "valid" && winner !== null && target !== winner;
  const tag = dissents
    ? html` <span class="tag stale">dissent</span>`
    : standing !== "valid" && html` <span class="tag ${standing}">${standing}</span>`;
  return html`<li>${agentName(voter)} voted for ${targetName(target, voter)}${tag} <span class="dim">round ${round}</span>
${standing !== "valid" && why !== "" && html`<p class="dim">It does not count: ${why}.</p>`}${quote(reason, "No reason was given.")}</li>`;
}

function dissentWords(dissent: readonly Dissent[], ballots: readonly ResultBallot[]): Value {
  if (dissent.length === 0) {
    const valid = ballots.some(({ standing }) => standing === "valid");
    return valid ? "None: every valid vote was for the answer that was chosen." : "No vote was valid at the end.";
  }
  const said = dissent
    .slice(0, listed)
    .map(
      ({ voter, target, self }) =>
        html`${agentName(voter)} stayed with ${self ? "its own answer" : html`that of ${targetName(target, voter)}`}`,
    );
  const more = dissent.length - said.length;
  return html`${said.map((one, index) => html`${index > 0 && "; "}${one}`)}${more > 0 && `; and ${plural(more, "more")}`}. The reasons are with the votes.`;
}

function changeList(changes: readonly Change[], ballots: readonly ResultBallot[]): Html {
  const more = changes.length - listed;
  const list = html`<ul class="plain">${changes.slice(0, listed).map((change) => changeItem(change, ballots))}</ul>${
    more > 0 && html`<p>And ${plural(more, "more change")}.</p>`
  }`;
  return changes.length > mostOpen ? fold(`All ${changes.length} changes`, list) : list;
}

function changeItem(change: Change, ballots: readonly ResultBallot[]): Html {
  const { agent, round, kind, why } = change;
  // The reason of a vote that still stands is told with the votes.
  const told = kind !== "answer" && ballots.some(({ voter, round: last }) => voter === agent && last === round);
  const reason =
    kind === "answer"
      ? why !== "" && html`<p class="dim">Its vote did not count any more: ${why}.</p>`
      : !told && quote(why, "No reason was given.");
  return html`<li>${agentName(agent)} ${changeWords(change)} <span class="dim">round ${round}</span>${reason}</li>`;
}

function changeWords({ agent, kind, from, to }: Change): Html {
  switch (kind) {
    case "vote":
      return html`turned from ${targetName(from, agent)} to ${targetName(to, agent)}`;
    case "yield":
      return html`put the answer of ${targetName(to, agent)} before its own`;
    case "answer":
      return html`was for ${targetName(from, agent)}, then gave a new answer of its own`;
  }
}
