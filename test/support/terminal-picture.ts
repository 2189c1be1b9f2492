import { type Html, html, trusted } from "../../src/view/report/html.ts";

/** A screen of a terminal as a page to make a picture of. @param screen lines with the codes of colours, as tmux gives them */
export function terminalPage(title: string, screen: string): string {
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><style>${trusted(style)}</style>
<figure><figcaption><i></i><i></i><i></i>${title}</figcaption><pre>${spansOf(screen)}</pre></figure></html>`.text;
}

// --- internal ---

/** What a code of SGR switches on; 22 and 39 switch off. */
const classes: Readonly<Record<string, string>> = { 1: "bold", 2: "dim", 31: "red", 32: "green", 33: "yellow", 35: "magenta", 36: "cyan" };

function spansOf(screen: string): readonly Html[] {
  let weight = "";
  let color = "";
  return screen.split(/(\u001b\[[\d;]*m)/).flatMap((part) => {
    const [, codes] = /^\u001b\[([\d;]*)m$/.exec(part) ?? [];
    if (codes === undefined) return part === "" ? [] : [html`<span class="${`${weight} ${color}`.trim()}">${part}</span>`];
    for (const code of codes.split(";")) {
      if (code === "" || code === "0") [weight, color] = ["", ""];
      else if (code === "22") weight = "";
      else if (code === "39") color = "";
      else if (code === "1" || code === "2") weight = classes[code] ?? "";
      else color = classes[code] ?? color;
    }
    return [];
  });
}

const style = `
body { margin: 0; background: transparent; }
figure { display: inline-block; margin: 0; border-radius: 10px; overflow: hidden; background: #16191d; color: #d9dde2; }
figcaption { padding: 9px 14px; background: #22272e; color: #9ba5b1; font: 13px system-ui, sans-serif; }
i { display: inline-block; width: 11px; height: 11px; margin-right: 7px; border-radius: 50%; background: #4a525c; }
i:last-of-type { margin-right: 14px; }
pre { margin: 0; padding: 14px 18px 18px; font: 14px/1.35 "JetBrains Mono", "DejaVu Sans Mono", monospace; }
.bold { font-weight: 700; color: #fff; }
.dim { color: #8b95a1; }
.red { color: #ff8a8a; } .green { color: #7ddc9a; } .yellow { color: #f0cb6b; } .magenta { color: #d6a1f5; } .cyan { color: #77d2e8; }
`;
