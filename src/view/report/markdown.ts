import type { RendererRule, StateInline, Token } from "markdown-it";
import { createMarkdown } from "../../checks/markdown.ts";
import { plainText } from "./clean.ts";
import { escapeHtml, type Html } from "./html.ts";
import { sanitise } from "./sanitise.ts";

/** Renders Markdown that an agent wrote. `top` is the level that its highest headings get, 2 to 6; deeper ones follow without a gap. */
export type MarkdownRenderer = (text: string, top: number) => Html;

/**
 * Makes a renderer for text that nobody vouches for. Two walls: the parser makes no markup of tags, which it shows as text, and what it made goes through
 * the sanitiser. Images are named, not loaded; a link that leads elsewhere than to the web or to a mailbox shows its target and is none.
 */
export async function createMarkdownRenderer(): Promise<MarkdownRenderer> {
  const markdown = await createMarkdown({ html: false, linkify: true });
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  markdown.validateLink = () => true; // judged below, where the target of a refused one can still be shown
  markdown.core.ruler.push("report", ({ tokens, env }) => adapt(tokens, Number(env.top)));
  markdown.inline.ruler.before("html_inline", "line break", breakLine);
  Object.assign(markdown.renderer.rules, rules);
  return (text, top) => sanitise(markdown.render(plainText(text), { top }));
}

// --- internal ---

const rules: Readonly<Record<string, RendererRule>> = {
  fence: (tokens, index) => codeBlock(tokens[index]?.content ?? ""),
  code_block: (tokens, index) => codeBlock(tokens[index]?.content ?? ""),
  table_open: () => '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>',
  table_close: () => "</table></div>",
  image: (tokens, index) => {
    const token = tokens[index];
    return `<span class="image">image: ${escapeHtml(token?.content || "unnamed")} (${escapeHtml(shortened(String(token?.attrGet("src") ?? "")))})</span>`;
  },
};

function codeBlock(text: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;
}

function adapt(tokens: readonly Token[], top: number): void {
  levelHeadings(tokens, top);
  for (const token of tokens) {
    alignCell(token);
    if (token.children) judgeLinks(token.children);
  }
}

/** Levels without gaps, whatever the text does: a heading is one below the nearest one before it that stands higher. */
function levelHeadings(tokens: readonly Token[], top: number): void {
  const open: number[] = [];
  for (const token of tokens) {
    if (token.type !== "heading_open" && token.type !== "heading_close") continue;
    if (token.type === "heading_open") {
      const level = Number(token.tag.slice(1));
      while ((open.at(-1) ?? 0) >= level) open.pop();
      open.push(level);
    }
    token.tag = `h${Math.min(6, top + open.length - 1)}`;
  }
}

/** The page forbids inline styles. */
function alignCell(token: Token): void {
  const [, side] = /text-align:\s*(right|center)/.exec(String(token.attrGet("style") ?? "")) ?? [];
  token.attrs = token.attrs?.filter(([name]) => name !== "style") ?? null;
  if (side !== undefined) token.attrSet("class", side);
}

/** A link says where it leads; what is no link to follow becomes plain text with its target. */
function judgeLinks(tokens: readonly Token[]): void {
  let opened: { readonly token: Token; text: string } | null = null;
  for (const token of tokens) {
    if (token.type === "link_open") opened = { token, text: "" };
    else if (token.type === "link_close" && opened) {
      closeLink(opened.token, token, opened.text);
      opened = null;
    } else if (opened) opened.text += token.content;
  }
}

function closeLink(open: Token, close: Token, text: string): void {
  const href = String(open.attrGet("href") ?? "");
  const url = URL.parse(href);
  const follows = url !== null && ["http:", "https:", "mailto:"].includes(url.protocol);
  const place = follows ? url.host || url.pathname : shortened(decoded(href));
  if (follows)
    open.attrs = [
      ["href", href],
      ["title", decoded(href)],
    ];
  else {
    open.attrs = null;
    for (const token of [open, close]) token.tag = "span";
  }
  if (place === "" || text.includes(place)) return;
  close.type = "html_inline";
  close.content = `</${close.tag}> <span class="target">${escapeHtml(place)}</span>`;
}

function decoded(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    return href;
  }
}

function shortened(target: string): string {
  return target.length > 80 ? `${target.slice(0, 79)}…` : target;
}

/** Models break lines in table cells with `<br>`: the one tag that is worth knowing. */
function breakLine(state: StateInline, silent: boolean): boolean {
  const [tag] = /^<br\s{0,9}\/?>/i.exec(state.src.slice(state.pos, state.pos + 16)) ?? [];
  if (tag === undefined) return false;
  if (!silent) state.push("hardbreak", "br", 0);
  state.pos += tag.length;
  return true;
}
