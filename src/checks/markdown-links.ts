import type { Token } from "markdown-it";
import { type Check, mostProblems, type Problem } from "./check.ts";
import { linksOf } from "./html.ts";
import { createMarkdown } from "./markdown.ts";
import { brokenLink } from "./target.ts";

/** Files and images that Markdown refers to, by links, references or HTML, and that are not in the deliverable. */
export const markdownLinksCheck: Check = {
  name: "links",
  applies: ({ extension }) => extension === ".md" || extension === ".markdown",
  longest: 512 * 1024,
  async run({ path, text }, { paths }) {
    const markdown = await createMarkdown({ html: true });
    const problems: Problem[] = [];
    for (const { url, line } of await linksIn(markdown.parse(text, {}))) {
      const message = brokenLink(url, path, paths, false);
      if (message !== null) problems.push({ line, message });
      if (problems.length >= mostProblems) break;
    }
    return problems;
  },
};

// --- internal ---

interface MarkdownLink {
  readonly url: string;
  readonly line: number;
}

async function linksIn(tokens: readonly Token[]): Promise<readonly MarkdownLink[]> {
  const links: MarkdownLink[] = [];
  let line = 1;
  for (const token of tokens) {
    // Cells of a table have no place of their own; they are in the row before them.
    if (token.map) line = token.map[0] + 1;
    if (token.type === "html_block") links.push(...(await htmlLinks(token.content, line)));
    let at = line;
    for (const child of token.children ?? []) {
      if (child.type === "softbreak" || child.type === "hardbreak") at++;
      const url = child.attrGet("href") ?? child.attrGet("src");
      if (typeof url === "string") links.push({ url, line: at });
      if (child.type === "html_inline") links.push(...(await htmlLinks(child.content, at)));
    }
  }
  return links;
}

async function htmlLinks(html: string, line: number): Promise<readonly MarkdownLink[]> {
  const links = await linksOf(html);
  return links.map(({ url, position }) => ({ url, line: line + html.slice(0, position).split("\n").length - 1 }));
}
