import { type Check, type CheckContext, lineFinder, mostProblems, type Problem } from "./check.ts";
import { problemsOf as scriptProblems } from "./javascript.ts";
import { problemsOf as jsonProblems } from "./json.ts";
import { brokenLink } from "./target.ts";

/** A link of an HTML text, where it stands, and whether it is one to walk along (`a`) rather than something that the page needs. */
export interface HtmlLink {
  readonly url: string;
  readonly position: number;
  readonly loose: boolean;
}

/** Files that HTML pages refer to and that are not in the deliverable. */
export const htmlLinksCheck: Check = {
  name: "links",
  applies: ({ extension }) => [".html", ".htm", ".xhtml"].includes(extension),
  longest: 512 * 1024,
  async run({ path, text }, { paths }) {
    const { links, hasBase } = await readHtml(text);
    return hasBase ? [] : brokenOf(links, lineFinder(text), path, paths);
  },
};

/** Syntax of the scripts and the JSON inside HTML pages. */
export const htmlScriptsCheck: Check = {
  name: "javascript",
  applies: htmlLinksCheck.applies,
  longest: 512 * 1024,
  async run({ text }) {
    const lineOf = lineFinder(text);
    const problems: Problem[] = [];
    for (const { type, code, position } of (await readHtml(text)).scripts.slice(0, mostProblems)) {
      // A page that a server fills in is no script yet.
      if (code.trim() === "" || /\{\{|\{%|<%|<\?/.test(code)) continue;
      const found = isJson(type) ? await jsonProblems(code, false) : isScript(type) ? await scriptProblems(code, jsx(type)) : [];
      const above = lineOf(position) - 1;
      for (const { line, message } of found) problems.push({ line: above + Math.max(1, line), message: `script in the page: ${message}` });
    }
    return problems;
  },
};

/** All links of an HTML text, in order. */
export async function linksOf(html: string): Promise<readonly HtmlLink[]> {
  return (await readHtml(html)).links;
}

// --- internal ---

interface Page {
  readonly links: readonly HtmlLink[];
  readonly scripts: readonly { readonly type: string; readonly code: string; readonly position: number }[];
  /** `<base>` moves all links to somewhere that we do not know. */
  readonly hasBase: boolean;
}

/** Attributes that name a file, by tag. */
const linking: Readonly<Record<string, readonly string[]>> = {
  a: ["href"],
  area: ["href"],
  audio: ["src"],
  embed: ["src"],
  iframe: ["src"],
  image: ["href", "xlink:href"],
  img: ["src", "srcset"],
  input: ["src"],
  link: ["href"],
  object: ["data"],
  script: ["src"],
  source: ["src", "srcset"],
  track: ["src"],
  video: ["src", "poster"],
};

async function readHtml(text: string): Promise<Page> {
  const { Parser } = await import("htmlparser2");
  const links: HtmlLink[] = [];
  const scripts: { type: string; code: string; position: number }[] = [];
  let hasBase = false;
  let script: { type: string; code: string; position: number } | null = null;
  const parser = new Parser({
    onopentag(name, attributes) {
      const position = parser.startIndex;
      if (name === "base" && attributes.href !== undefined) hasBase = true;
      for (const attribute of linking[name] ?? []) {
        const value = attributes[attribute];
        if (value === undefined) continue;
        const urls = attribute === "srcset" ? candidates(value) : [value];
        for (const url of urls) links.push({ url, position, loose: name === "a" || name === "area" || name === "iframe" });
      }
      if (name === "script" && attributes.src === undefined) {
        script = { type: (attributes.type ?? "").trim().toLowerCase(), code: "", position: parser.endIndex + 1 };
        scripts.push(script);
      }
    },
    ontext(part) {
      if (script) script.code += part;
    },
    onclosetag(name) {
      if (name === "script") script = null;
    },
  });
  parser.end(text);
  return { links, scripts, hasBase };
}

function brokenOf(links: readonly HtmlLink[], lineOf: (position: number) => number, from: string, paths: CheckContext["paths"]): Problem[] {
  const problems: Problem[] = [];
  for (const { url, position, loose } of links) {
    const message = brokenLink(url, from, paths, loose);
    if (message !== null) problems.push({ line: lineOf(position), message });
    if (problems.length >= mostProblems) break;
  }
  return problems;
}

/** `a.png 1x, b.png 2x`; a URL with data in it may hold commas. */
function candidates(srcset: string): readonly string[] {
  if (srcset.includes("data:")) return [];
  return srcset.split(",").flatMap((part) => part.trim().split(/\s+/)[0] ?? []);
}

function isJson(type: string): boolean {
  return /^application\/(ld\+)?json$|^(importmap|speculationrules)$/.test(type);
}

function isScript(type: string): boolean {
  return /^(|module|text\/(javascript|babel|jsx)|application\/javascript)$/.test(type);
}

function jsx(type: string): ["jsx"] | [] {
  return type === "text/babel" || type === "text/jsx" ? ["jsx"] : [];
}
