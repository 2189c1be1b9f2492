import sanitizeHtml from "sanitize-html";
import { type Html, trusted } from "./html.ts";

/**
 * Markup that was made from text of others, reduced to what text needs: no script, style, form, frame, image, event handler, id, inline style
 * or name of a class that is not ours. Links lead to http, https or mailto, and tell their target nothing.
 */
export function sanitise(markup: string): Html {
  return trusted(sanitizeHtml(markup, policy));
}

// --- internal ---

const textTags = ["p", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "br", "hr"];
const tableTags = ["table", "thead", "tbody", "tr", "th", "td"];

const policy: sanitizeHtml.IOptions = {
  allowedTags: [...textTags, ...tableTags, "a", "span", "div"],
  allowedAttributes: {
    a: ["href", "rel", "title"],
    ol: ["start"],
    pre: ["tabindex"],
    div: ["tabindex", "role", "aria-label"],
  },
  allowedClasses: { span: ["target", "image"], div: ["scroll"], th: ["right", "center"], td: ["right", "center"] },
  allowedSchemes: ["http", "https", "mailto"],
  allowedSchemesByTag: {},
  allowProtocolRelative: false,
  disallowedTagsMode: "escape",
  transformTags: {
    a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: "noopener noreferrer nofollow" } }),
  },
};
