import type { Token } from "markdown-it";
import { neutralise } from "../session/text.ts";

/**
 * What mg-team knows of Markdown. One parser for everything: links of the deliverable, the frame around an answer, the report. It limits
 * nesting, and with `html: false` what it renders is safe to show: tags are shown as text, and links that run code are none.
 */
export async function createMarkdown(options: { readonly html: boolean; readonly linkify?: boolean }) {
  const { default: markdownIt } = await import("markdown-it");
  return markdownIt({ html: options.html, linkify: options.linkify ?? false });
}

/**
 * Makes Markdown that somebody else wrote end where it ends: whatever follows it, after a blank line, is no part of it. Code fences,
 * comments and HTML tags that it leaves open are closed; where that does not help, all of it becomes a code block. Otherwise it is
 * returned as it is, but for control characters and blank lines at its end.
 */
export async function closeMarkdown(text: string): Promise<string> {
  const plain = withoutControls(text).replace(/\s+$/, "");
  const markdown = await createMarkdown({ html: true });
  for (const closer of blockClosers(markdown.parse(plain, {}))) {
    const closed = plain + closer;
    if (!endsThere(markdown.parse(`${closed}\n\n${probe}`, {}), closed)) continue;
    const tags = await closingTags(markdown.render(closed));
    if (tags === null) break;
    const complete = tags === "" ? closed : `${closed}\n\n${tags}`;
    if (endsThere(markdown.parse(`${complete}\n\n${probe}`, {}), complete)) return complete;
  }
  return inFence(plain);
}

/** Text of others as plain text inside our Markdown: one line, nothing in it is markup, control characters are visible. */
export function escapeMarkdown(text: string): string {
  const line = neutralise(text).replace(/\s+/g, " ").trim();
  const tildes = line.split("~").length > 2 ? /~/g : /~~/g;
  return line
    .replace(/[\\`*[\]|]/g, "\\$&")
    .replace(tildes, "\\$&")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/<(?=[!/?\p{L}])/gu, "\\<")
    .replace(/&(?=#?\w+;)/g, "\\&")
    .replace(/^(#{1,6}(?= |$)|[-+](?= |$)|>|[=-]+$)/, "\\$1")
    .replace(/^(\d{1,9})([.)])(?= |$)/, "$1\\$2");
}

/** A relative path as the target of a link: each name percent-encoded, also what Markdown would take as the link's end. */
export function linkTarget(path: string): string {
  return path
    .split("/")
    .map((name) =>
      encodeURIComponent(name.toWellFormed()).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join("/");
}

/** Replaces control characters, which can hide or forge text in terminals, by U+FFFD; tabs and line ends stay. */
export function withoutControls(text: string): string {
  return text.replace(/\r(?!\n)/g, "\n").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, "\ufffd");
}

// --- internal ---

const probe = "# end";
const probeTag = "mg-team-end";
const manyTags = 100;
const voidTags = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);

/** Ends that may be missing, the likeliest first. */
function blockClosers(tokens: readonly Token[]): readonly string[] {
  const last = tokens.findLast(({ type }) => type === "fence");
  const raw = ["-->", "?>", "]]>", "</script>", "</pre>", "</style>", "</textarea>", ">"];
  return ["", ...(last ? [`\n${last.markup}`] : []), ...raw.map((end) => `\n${end}`)];
}

/** Whether the probe after a text is a heading of its own, outside of everything. */
function endsThere(tokens: readonly Token[], before: string): boolean {
  const [open, inline, close] = tokens.slice(-3);
  const line = before.split("\n").length + 1;
  return open?.type === "heading_open" && open.level === 0 && open.map?.[0] === line && inline?.content === "end" && close !== undefined;
}

/** End tags that bring HTML back to where it began, one a line; null when they do not (inside an attribute, after `<plaintext>`). */
async function closingTags(html: string): Promise<string | null> {
  const { Parser } = await import("htmlparser2");
  const open: string[] = [];
  const parser = new Parser({
    onopentagname: (name) => void open.push(name),
    onclosetag: (name, implied) => {
      const at = implied && !voidTags.has(name) ? -1 : open.lastIndexOf(name);
      if (at !== -1) open.splice(at, 1);
    },
  });
  parser.write(html);
  // Any block ends a paragraph, and a stray "</p>" would make one.
  const unclosed = open.filter((name) => name !== "p");
  if (unclosed.length > manyTags || unclosed.some((name) => !/^[a-z][a-z0-9-]*$/.test(name))) return null;
  const tags = unclosed.toReversed().map((name) => `</${name}>`);
  return (await isOutside(`${html}\n${tags.join("\n")}\n`)) ? tags.join("\n") : null;
}

/** Whether what follows some HTML stands in nothing of it, as browsers see it: they repeat tags that are out of order, and move them before a table. */
async function isOutside(html: string): Promise<boolean> {
  const { html: names, parse } = await import("parse5");
  const page = parse(`<!doctype html><body><p>text</p>${html}<${probeTag}>`).childNodes.find(
    ({ nodeName }) => nodeName === names.TAG_NAMES.HTML,
  );
  const body = page && "childNodes" in page ? page.childNodes.find(({ nodeName }) => nodeName === names.TAG_NAMES.BODY) : undefined;
  return body !== undefined && "childNodes" in body && body.childNodes.at(-1)?.nodeName === probeTag;
}

function inFence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
