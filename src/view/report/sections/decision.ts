import type { ResultBallot } from "../../../session/result.ts";
import { plural } from "../../../text.ts";
import { type Html, html } from "../html.ts";
import type { ReportModel } from "../model.ts";
import { agentName, fold, quote, type Section, targetName } from "../parts.ts";
import type { Change, Dissent } from "../story.ts";
import { mostDrawn, voteGraph } from "../vote-graph.ts";

/** The rule, the votes, who was against it, and who changed their mind. */
export function decisionSection({ result, dissent, changes }: ReportModel): Section | null {
  const { ballots, rule, winner } = result.decision;
  if (rule === "" && ballots.length === 0 && changes.length === 0) return null;
  const body = html`${rule !== "" && html`<p>${rule}</p>`}
${ballots.length === 0 ? html`<p class="none">Nobody has voted.</p>` : html`<div class="beside">${voteGraph(result, "ballots")}${listOfBallots(ballots)}</div>`}
${winner !== null && ballots.length > 0 && html`<h3>Dissent</h3>${dissentList(dissent, ballots)}`}
<h3>Changes of mind</h3>${
    changes.length === 0
      ? html`<p class="none">Nobody has changed their mind.</p>`
      : html`<ul class="plain">${changes.slice(0, listed).map(changeItem)}</ul>${
          changes.length > listed && html`<p>And ${plural(changes.length - listed, "more change")}.</p>`
        }`
  }`;
  return { id: "decision", title: "How it was decided", body };
}

// --- internal ---

const listed = 60;

function listOfBallots(ballots: readonly ResultBallot[]): Html {
  const list = html`<ul class="plain" id="ballots">${ballots.map(ballotItem)}</ul>`;
  return ballots.length > mostDrawn ? fold(`All ${ballots.length} votes`, list) : list;
}

function ballotItem({ voter, target, round, standing, why, reason }: ResultBallot): Html {
  return html`<li>${agentName(voter)} voted for ${targetName(target, voter)} <span class="tag ${standing}">${standing}</span> <span class="dim">round ${round}</span>
${why !== "" && html`<p class="dim">It is ${standing}: ${why}.</p>`}${quote(reason, "No reason was given.")}</li>`;
}

function dissentList(dissent: readonly Dissent[], ballots: readonly ResultBallot[]): Html {
  const valid = ballots.some(({ standing }) => standing === "valid");
  if (dissent.length === 0)
    return html`<p class="none">${valid ? "Every valid vote was for the answer that was chosen." : "No vote was valid at the end."}</p>`;
  const items = dissent.map(
    ({ voter, target, self, reason }) =>
      html`<li>${agentName(voter)} stayed with ${self ? "its own answer" : targetName(target, voter)}.${quote(reason, "No reason was given.")}</li>`,
  );
  return html`<ul class="plain">${items}</ul>`;
}

function changeItem({ agent, round, kind, from, to, why }: Change): Html {
  const whose = targetName(from, agent);
  switch (kind) {
    case "vote":
      return html`<li>${agentName(agent)} turned from ${whose} to ${targetName(to, agent)} <span class="dim">round ${round}</span>${quote(why, "No reason was given.")}</li>`;
    case "yield":
      return html`<li>${agentName(agent)} put the answer of ${targetName(to, agent)} before its own <span class="dim">round ${round}</span>${quote(why, "No reason was given.")}</li>`;
    case "answer":
      return html`<li>${agentName(agent)} was for ${whose}, then gave a new answer <span class="dim">round ${round}</span>${
        why !== "" && html`<p class="dim">Its vote had become stale: ${why}.</p>`
      }</li>`;
  }
}
