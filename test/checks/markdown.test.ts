import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type DefaultTreeAdapterTypes, parse, parseFragment } from "parse5";
import { closeMarkdown, createMarkdown, escapeMarkdown, linkTarget } from "../../src/checks/markdown.ts";

type Node = DefaultTreeAdapterTypes.ChildNode;

const markdown = await createMarkdown({ html: true, linkify: true });

/** What stands around an answer: a heading, a table and a paragraph, as the document of a run has them. */
const frame = "## Frame heading\n\n| a | b |\n|---|---|\n| cell | `code` |\n\nFrame text with a [link](deliverable/x.html).";

/** Whether the frame after a text is a heading, a table and a paragraph at the top level of the page, with nothing around them. */
function frameStands(text: string): boolean {
  const html = markdown.render(`First line.\n\n${text}\n\n${frame}`);
  const page = parse(`<!doctype html><body>${html}`).childNodes.at(-1);
  const body = page && "childNodes" in page ? page.childNodes.at(-1) : undefined;
  const top = (body && "childNodes" in body ? body.childNodes : []).filter(
    (node) => node.nodeName !== "#text" && node.nodeName !== "#comment",
  );
  const [heading, table, paragraph] = top.slice(-3);
  return (
    heading?.nodeName === "h2" &&
    table?.nodeName === "table" &&
    paragraph?.nodeName === "p" &&
    shapeOf(heading) === "h2(Frame heading)" &&
    shapeOf(table).includes("td(cell)td(code(code))") &&
    shapeOf(paragraph) === "p(Frame text with a a(link).)"
  );
}

function shapeOf(node: Node | undefined): string {
  if (node === undefined) return "";
  if (node.nodeName === "#text")
    return (node as DefaultTreeAdapterTypes.TextNode).value.trim() === "" ? "" : (node as DefaultTreeAdapterTypes.TextNode).value;
  return `${node.nodeName}(${"childNodes" in node ? node.childNodes.map(shapeOf).join("") : ""})`;
}

describe("an answer ends where it ends", () => {
  const open = [
    "text\n```js\nlet a;",
    "~~~~\ncode",
    "````md\n```\nstill code",
    "- item\n  ```\n  code in a list",
    "> quote\n> ```\n> code in a quote",
    "<!-- a comment",
    "<div>\n<!-- a comment",
    "<script>\nlet a;",
    "<style>\na {",
    "<pre>\ntext",
    "<textarea>\ntext",
    "<?php\necho",
    "<!DOCTYPE html",
    "<![CDATA[\nx",
    "<details>\n<summary>More</summary>\n\ntext",
    "<div style='display:none'>\n\ntext",
    "<div align=center><b>bold\n\n<i>both",
    "a <b>bold <i>text",
    "<a href='x'>\n\nlink",
    '<div class="never closed',
    "<div\nclass='x",
    "<table><tr><td>\n\ncell",
    "<select><option>",
    "<plaintext>",
    "text <plaintext> text",
    "<xmp>\n\n",
    "<svg><g>",
    "<iframe>",
    "<title>x",
    "<template>\n\nx",
    "<noscript>",
    "<h1>\n\nx",
    "- a\n  - b\n\n      code",
    "    indented code",
    "| a | b |\n|---|---|\n| c",
    "a paragraph",
    "[ref]: /url 'title",
    "text\\",
    "# heading",
    "Setext",
    "1. item",
    "`code",
    "*emphasis",
    "",
  ];
  test.each(open)("%p", async (answer) => {
    expect(frameStands(await closeMarkdown(answer))).toBe(true);
  });

  test("the test sees when something is swallowed", () => {
    const swallowing = open.filter((answer) => !frameStands(answer));
    expect(swallowing.length).toBeGreaterThan(20);
  });

  test("whatever it is made of", async () => {
    const piece = fc.oneof(
      fc.constantFrom(...open),
      fc.constantFrom(
        "```",
        "~~~",
        "`",
        "<!--",
        "-->",
        "<b>",
        "</b>",
        "<div>",
        "</div>",
        "<p>",
        "<table>",
        "<td>",
        "</table>",
        "<script>",
        "</script>",
      ),
      fc.constantFrom(
        "<a>",
        '<a href="x',
        "'",
        '"',
        ">",
        "<",
        "&lt;",
        "\n",
        "\n\n",
        "    ",
        "- ",
        "> ",
        "1. ",
        "***",
        "<pre>",
        "<svg>",
        "<math>",
        "<form>",
      ),
      fc.constantFrom(
        "<select>",
        "<option>",
        "<button>",
        "<textarea>",
        "</textarea>",
        "<style>",
        "<![CDATA[",
        "]]>",
        "<?",
        "?>",
        "<!X",
        "<li>",
        "<ul>",
        "<h2>",
      ),
      fc.string({ maxLength: 12 }),
    );
    const answers = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
    const spaced = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("\n"));
    await fc.assert(
      fc.asyncProperty(fc.oneof(answers, spaced), async (answer) => {
        expect(frameStands(await closeMarkdown(answer))).toBe(true);
      }),
      { numRuns: 600 },
    );
  });

  test("an answer in order is returned as it is, but for blank lines at its end", async () => {
    const answer =
      "# Title\n\nSome *text*, `code`, <b>bold</b> & more.\n\n```js\nlet a;\n```\n\n- [x] done\n\n<details><summary>More</summary>\n\ntext\n\n</details>";
    expect(await closeMarkdown(`${answer}\n\n  \n`)).toBe(answer);
    expect(await closeMarkdown("windows\r\nline\rends\r\n")).toBe("windows\r\nline\nends");
    expect(await closeMarkdown("```\r\nopen\r\n")).toBe("```\r\nopen\n```");
  });

  test("only what is missing is added", async () => {
    expect(await closeMarkdown("text\n````js\nlet a;")).toBe("text\n````js\nlet a;\n````");
    expect(await closeMarkdown("<details>\n\ntext")).toBe("<details>\n\ntext\n\n</details>");
  });

  test("what nothing can close becomes a code block that it cannot end", async () => {
    const answer = "````\n```\n<plaintext>\n````\n\n<plaintext>";
    expect(await closeMarkdown(answer)).toBe(`\`\`\`\`\`\n${answer}\n\`\`\`\`\``);
  });

  test("control characters that terminals obey are replaced", async () => {
    expect(await closeMarkdown("a\u001b[2Jb\u0007\tc\u009b")).toBe("a\ufffd[2Jb\ufffd\tc\ufffd");
  });

  test("a long answer takes no long time", async () => {
    for (const answer of ["<div>".repeat(20_000), "- ".repeat(20_000), "[".repeat(20_000), "```\n".repeat(20_001)]) {
      expect(frameStands(await closeMarkdown(answer))).toBe(true);
    }
  });
});

describe("escaped text", () => {
  const shown = (text: string) => {
    const tree = parseFragment(createdParser.renderInline(text));
    return tree.childNodes
      .map((node) => (node.nodeName === "#text" ? (node as DefaultTreeAdapterTypes.TextNode).value : `<${node.nodeName}>`))
      .join("");
  };

  test.each([
    "*bold* _it_ __x__ **y** ~~z~~ ~a~ `code` ``x",
    "[text](url) ![img](x) [ref] <b>html</b> <https://x.y> a & b &amp; &#35; <!-- c -->",
    "snake_case_name _lead trail_ 5 < 6 > 4 a|b \\* \\",
    "# heading",
    "- list",
    "1. list",
    "> quote",
    "===",
  ])("shows as it was written: %s", (text) => {
    expect(shown(escapeMarkdown(text))).toBe(text);
    const [first] = markdown.parse(escapeMarkdown(text), {});
    expect(first?.type).toBe("paragraph_open");
  });

  test("any text is one plain line in a table", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (text) => {
        const row = `| a | b |\n|---|---|\n| x${escapeMarkdown(text)}x | last |`;
        const tokens = createdTokens(row);
        expect(tokens.filter((token) => token.type === "td_open")).toHaveLength(2);
        const cell = tokens.filter((token) => token.type === "inline").at(-2);
        const kinds = new Set((cell?.children ?? []).map((child) => child.type));
        expect([...kinds].filter((kind) => kind !== "text" && kind !== "text_special")).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  test("names stay readable: what needs no escape gets none", () => {
    for (const name of [
      "agent_a",
      "codex/gpt-5.4",
      "gemini/gemini-3.1-pro-preview",
      "a + b - c = d",
      "It's #1 (really)!",
      "~5 minutes",
      "C# & D",
    ]) {
      expect(escapeMarkdown(name)).toBe(name);
    }
  });

  test("control characters are visible, line ends are spaces", () => {
    expect(escapeMarkdown("a\nb\r\n c\u001b[2Jd\u202ee\u2028f")).toBe("a b c␛\\[2Jd\\<202E>e f".replace("\\<", "<"));
  });
});

describe("the target of a link", () => {
  test.each(["a b/c(d).html", "x?y#z.md", "<img>", "100%.txt", "日本/ü.txt", "a\nb", "[x]", "back\\slash", "it's!*.js"])(
    "leads to %p",
    (path) => {
      const [link] = createdTokens(`[x](${linkTarget(path)})`).flatMap(({ children }) => children ?? []);
      expect(decodeURIComponent(String(link?.attrGet("href")))).toBe(path);
    },
  );
});

function createdTokens(text: string) {
  return createdParser.parse(text, {});
}

const createdParser = await createMarkdown({ html: true });
