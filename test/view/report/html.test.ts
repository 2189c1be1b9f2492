import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFragment } from "parse5";
import { attribute, escapeHtml, html, trusted } from "../../../src/view/report/html.ts";

describe("html", () => {
  test("any text in a template stays the text of one element", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const [element, ...more] = parseFragment(html`<p>${text}</p>`.text).childNodes;
        expect(more).toEqual([]);
        expect(element && "childNodes" in element ? element.childNodes.map(({ nodeName }) => nodeName) : []).toEqual(
          text === "" ? [] : ["#text"],
        );
      }),
    );
  });

  test("any text in a quoted attribute stays its value", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const [element] = parseFragment(html`<p title="${text}"${attribute("lang", text)}></p>`.text).childNodes;
        expect(element && "attrs" in element ? element.attrs.map(({ name }) => name) : []).toEqual(["title", "lang"]);
      }),
    );
  });

  test("control characters and turns of direction become visible", () => {
    expect(escapeHtml("a\u0000b\u001b[31mc\u202ed")).toBe("a␀bc&lt;202E&gt;d");
  });

  test("nothing, false and empty lists leave no trace, 0 does", () => {
    expect(html`${null}${undefined}${false}${[]}${0}`.text).toBe("0");
    expect(html`<i${attribute("id", null)}>`.text).toBe("<i>");
  });

  test("markup is taken as it is only from templates and from what was vouched for", () => {
    expect(html`${html`<b>${"<"}</b>`}${trusted("<i>")}${["<", html`<u>`]}`.text).toBe("<b>&lt;</b><i>&lt;<u>");
  });
});
