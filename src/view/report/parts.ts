import type { AgentId } from "../../types.ts";
import { signOf } from "../timeline.ts";
import { attribute, type Html, html, type Value } from "./html.ts";
import { linkTo } from "./links.ts";

/** Pieces that several sections are made of. Pure. */

/** A part of the page with a heading of its own and a line in the contents. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Html;
}

export interface Column {
  readonly title: string;
  /** Numbers stand on the right. */
  readonly right?: boolean;
}

/** A table that scrolls by itself where it is too wide; the first cell of each row is its head. `caption` is what screen readers call it. */
export function dataTable(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
  foot: readonly Value[] | null = null,
): Html {
  const side = (index: number) => attribute("class", columns[index]?.right ? "right" : null);
  const line = (cells: readonly Value[]) =>
    html`<tr>${cells.map((cell, index) => (index === 0 ? html`<th scope="row">${cell}</th>` : html`<td${side(index)}>${cell}</td>`))}</tr>`;
  const head = columns.map(({ title }, index) => html`<th scope="col"${side(index)}>${title}</th>`);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}"><table>
<caption class="unseen">${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${rows.map(line)}</tbody>${foot && html`<tfoot>${line(foot)}</tfoot>`}
</table></div>`;
}

/** Something that is shown when it is asked for. */
export function fold(summary: Value, body: Value, open = false): Html {
  return html`<details${open && html` open`}><summary>${summary}</summary><div class="folded">${body}</div></details>`;
}

/** An agent by its sign and name: `A agent_a`. */
export function agentName(id: AgentId): Html {
  return html`<span class="agent"><span class="sign" aria-hidden="true">${signOf(id)}</span><bdi>${id}</bdi></span>`;
}

/** Whom a vote is for, as one says it. */
export function targetName(target: string, voter: AgentId): Value {
  if (target === voter) return "itself";
  return target === "" ? "nobody" : agentName(target);
}

/** A file of the run, linked where it can be. `path` is relative to the team directory. */
export function fileLink(path: string, text: string = path): Html {
  const href = linkTo(path);
  return href === null ? html`<code>${text}</code>` : html`<a href="${href}" rel="noopener">${text}</a>`;
}

/** Somebody's words, with their line breaks. */
export function quote(text: string, none: string): Html {
  return text.trim() === "" ? html`<p class="none">${none}</p>` : html`<blockquote class="words" dir="auto">${text.trim()}</blockquote>`;
}
