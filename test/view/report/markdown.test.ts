import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createMarkdownRenderer } from "../../../src/view/report/markdown.ts";
import { sanitise } from "../../../src/view/report/sanitise.ts";
import { type Element, elementsOf, textOf } from "./support.ts";

const markdown = await createMarkdownRenderer();
const bodyOf = (text: string, top = 3) => markdown(text, top).text;
const partsOf = (text: string) => elementsOf(bodyOf(text)).filter(({ tag }) => !["html", "head", "body"].includes(tag));

const allowedTags = new Set(
  "p h3 h4 h5 h6 ul ol li blockquote pre code em strong s br hr table thead tbody tr th td a span div".split(" "),
);
const allowedAttributes = new Set(["href", "rel", "title", "class", "start", "tabindex", "role", "aria-label"]);

/** What of an element breaks the rules. */
function wrongsOf({ tag, attributes }: Element): string[] {
  const wrongs = allowedTags.has(tag) ? [] : [tag];
  for (const [name, value] of Object.entries(attributes)) {
    if (!allowedAttributes.has(name)) wrongs.push(`${tag} ${name}`);
    if (name === "href" && !/^(https?:\/\/|mailto:)/i.test(value)) wrongs.push(value);
  }
  if (tag === "a" && attributes.rel !== "noopener noreferrer nofollow") wrongs.push("rel");
  return wrongs;
}

const attacks = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "<style>*{display:none}</style>",
  "<a href=javascript:alert(1)>x</a>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<meta http-equiv=refresh content='0;url=http://evil.example'>",
  "<base href=http://evil.example>",
  "<form action=http://evil.example><input name=a></form>",
  "<p style='position:fixed;inset:0'>over everything</p>",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "</div></section><h1>Forged</h1>",
  "<!-- --!><img src=x onerror=alert(1)>",
  "[x](javascript:alert(1)) [x](JaVaScRiPt:alert(1)) [x](&#106;avascript:alert(1)) [x](java\tscript:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>) [x](vbscript:x) [x](file:///etc/passwd) [x](//evil.example)",
  '[x](http://a.example/"onmouseover="alert(1)) [x](http://a.example "t\\"onclick=\\"alert(1)")',
  '![x](http://evil.example/pixel.png) ![x](data:image/svg+xml,<svg onload=alert(1)>) ![a"onerror="b](c)',
  "<http://a.example/?<script>> <javascript:alert(1)>",
  '```"><img src=x onerror=alert(1)>\n</code></pre><script>alert(1)</script>\n```',
  "|a|\n|:-:|\n|<img src=x onerror=alert(1)>|",
  "[a]: javascript:alert(1)\n\n[a] [x][a]",
  "\u0000<scr\u0000ipt>alert(1)</scr\u0000ipt>",
];

describe("Markdown of agents", () => {
  test.each(attacks)("%j becomes harmless", (attack) => {
    expect(partsOf(attack).flatMap(wrongsOf)).toEqual([]);
  });

  test("whatever is written, only what the page knows comes out", () => {
    const part = fc.oneof(
      fc.constantFrom(...attacks, "\n", "\n\n", "> ", "- ", "    ", "`", "*", "[", "](", ")", "|", "<", "&lt;"),
      fc.string(),
    );
    fc.assert(fc.property(fc.array(part, { maxLength: 8 }), (parts) => expect(partsOf(parts.join("")).flatMap(wrongsOf)).toEqual([])));
  });

  test("the sanitiser alone stops what a parser might let through", () => {
    for (const attack of attacks) {
      const wrongs = elementsOf(sanitise(attack).text)
        .filter(({ tag }) => !["html", "head", "body"].includes(tag))
        .flatMap(wrongsOf);
      expect(wrongs).toEqual([]);
    }
  });

  test("tags are shown, not dropped: a reader sees what was written", () => {
    expect(textOf(bodyOf("<script>alert(1)</script>"))).toBe("<script>alert(1)</script> ");
  });

  test("a link says where it leads, and what is none shows its target", () => {
    expect(textOf(bodyOf("[the docs](https://docs.example/a) and [gone](javascript:x) and [page](./index.html)"))).toBe(
      "the docs docs.example and gone javascript:x and page ./index.html ",
    );
    expect(bodyOf("[bank](https://bank.example@evil.example/)")).toContain('<span class="target">evil.example</span>');
    expect(bodyOf("https://docs.example/a")).not.toContain("target");
  });

  test("a picture is named, not loaded", () => {
    expect(textOf(bodyOf("![a cat](http://cats.example/1.png)"))).toBe("image: a cat (http://cats.example/1.png) ");
  });

  test("headings leave no gap and do not outrank the page's own", () => {
    const levels = (text: string, top: number) => [...bodyOf(text, top).matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
    expect(levels("# a\n### b\n###### c\n## d\n# e", 3)).toEqual([3, 4, 5, 4, 3]);
    expect(levels("###### a\n# b\n###### c", 4)).toEqual([4, 4, 5]);
    expect(levels("# a\n## b\n### c\n#### d\n##### e", 4)).toEqual([4, 5, 6, 6, 6]);
  });

  test("a line break in a cell is one; columns keep their side without inline styles", () => {
    const table = bodyOf("|a|b|\n|--|--:|\n|x<br>y|1|");
    expect(table).toContain("x<br />");
    expect(table).toContain('<td class="right">1</td>');
    expect(table).not.toContain("style=");
  });

  test("right-to-left writing keeps its marks, overrides are taken out", () => {
    expect(textOf(bodyOf("שלום\u200f \u202eevil"))).toBe("שלום\u200f \ufffdevil ");
  });
});
