import { plural } from "../../text.ts";
import { type Html, html } from "./html.ts";
import type { Edit } from "./model.ts";
import { agentName, fileLink } from "./parts.ts";

/** What plugins have made of the question: each text once, with those that it was sent to. Pure. */
export function editList(edits: readonly Edit[]): Html | null {
  if (edits.length === 0) return null;
  const texts = [...Map.groupBy(edits, ({ query }) => query)];
  return html`<h3>Edited questions</h3><p>A plugin has changed what these agents were asked.</p>
<ul class="plain">${texts.slice(0, mostTexts).map(([query, launches]) => item(query, launches))}</ul>
${texts.length > mostTexts && html`<p>And ${plural(texts.length - mostTexts, "more text")}; all are in ${fileLink("events.jsonl")}.</p>`}`;
}

// --- internal ---

const mostTexts = 10;
const mostNamed = 16;

function item(query: string, launches: readonly Edit[]): Html {
  const agents = [...new Set(launches.map(({ agent }) => agent))].slice(0, mostNamed);
  const rounds = [...new Set(launches.map(({ round }) => round))].slice(0, mostNamed);
  const places = rounds.map((round) => (round === 0 ? "after the rounds" : `round ${round}`));
  return html`<li>${agents.map((id) => html`${agentName(id)} `)}<span class="dim">${places.join(", ")}</span><pre class="text" tabindex="0">${query}</pre></li>`;
}
