import type { FakeScript, FakeStep } from "../fixtures/fake-massgen/script.ts";

/**
 * A run in which much happens, as people would see it: four models, three rounds, a failure with a retry, an agent that gives up, stale
 * votes, changes of mind, dissent, files. For the report's tests and for the pictures of the README.
 */
export const showcaseQuery = "Build a landing page for a bakery in Porto";

export const showcaseModels = ["codex", "gemini", "claude", "grok"] as const;

/** @param pace seconds for a step of length 1; 0 is as fast as it goes */
export function showcaseScript(pace: number): FakeScript {
  const play = (steps: readonly Played[]) => steps.map((played) => stepOf(played, pace));
  return {
    quiet: true,
    rules: [{ when: { session: "synthesis" }, step: stepOf(synthesis, pace) }],
    agents: { agent_a: play(codex), agent_b: play(gemini), agent_c: play(claude), agent_d: play(grok) },
  };
}

// --- internal ---

/** A step with its relative length, last words and tool in use, price in US dollars, and tokens in and out. */
interface Played {
  readonly does: FakeStep;
  readonly length: number;
  readonly says?: string;
  readonly tool?: string;
  readonly spends: readonly [usd: number, inputTokens: number, outputTokens: number];
}

function stepOf({ does, length, says, tool, spends: [usd, inputTokens, outputTokens] }: Played, pace: number): FakeStep {
  const events = [
    ...(says === undefined ? [] : [{ event_type: "text", data: { content: says } }]),
    ...(tool === undefined ? [] : [{ event_type: "tool_start", data: { tool_name: tool } }]),
  ];
  return { ...does, events, cost: { usd, inputTokens, outputTokens }, ...(pace > 0 ? { before: { seconds: length * pace } } : {}) };
}

const claudeIsBetter =
  "agent_c sorts the opening hours by day and marks today, and its order form says plainly what happens after you send it. My own page has neither.";
const ownIsBetter =
  "The new answer of agent_c replaced the plain table of hours by a script that needs a network. Mine works without JavaScript and prints on one page, which a bakery will want.";
const accessible =
  "agent_a: real headings, a table with a caption for the hours, labels on every field of the form, and 4.8:1 contrast on the buttons.";
const stillAccessible = "agent_a again. The rewritten page of agent_c looks better, but its form cannot be sent with the keyboard alone.";
const claudeStays =
  "My second page is still the only one that says by when one must order for Saturday, and what happens after the order is sent.";

const codexAnswer = `# Landing page for Padaria da Foz

A single static page, no build step and no JavaScript. Open \`index.html\` to look at it.

## What is on it

| Part | What it says | Why |
|---|---|---|
| Hours | Tue to Sat 7:30–19:00, Sun 8:00–13:00, closed on Monday | a real table with a caption, so that it is read aloud correctly |
| Three breads | broa de milho, pão de Mafra, sourdough with walnuts | each with what is in it, weight and price |
| Weekend orders | by Thursday 18:00, by phone or with the form | the deadline stands beside the button |

## How the hours are marked up

\`\`\`html
<table>
  <caption>Opening hours</caption>
  <tr><th scope="row">Tuesday to Saturday</th><td>7:30–19:00</td></tr>
  <tr><th scope="row">Sunday</th><td>8:00–13:00</td></tr>
  <tr><th scope="row">Monday</th><td>closed</td></tr>
</table>
\`\`\`

## What you still have to do

1. Put the bakery's phone number in place of \`+351 000 000 000\`.
2. Point the form at your own mailbox: it uses [mailto](mailto:ola@example.com) until then.
3. Take three photos in daylight; the page has room for 3:2 pictures.
`;

const geminiAnswer = `# Bakery page

One page with a large photo on top, hours in the footer, and a *pre-order* button that opens the mail program.

- **Hours** are in the footer, on every screen size.
- **Breads**: broa, Mafra, walnut sourdough.
- **Orders**: a \`mailto:\` link with the subject filled in.
`;

const claudeAnswer = `# A page for the bakery

I would lead with the bread, not with the history of the house:

> Three breads, baked at five every morning. Order by Thursday for the weekend.

The hours mark today's line, and the form answers at once with what happens next.
`;

const claudeSecond = `${claudeAnswer}

Since the first version: the hours are drawn by a small script, which also knows public holidays in Porto, and the form checks the deadline.
`;

const finalText = `# Landing page for Padaria da Foz

A static page and an order form, no build step and no JavaScript. Open \`index.html\` to look at it.

| Part | What it says |
|---|---|
| Hours | Tue to Sat 7:30–19:00, Sun 8:00–13:00, closed on Monday |
| Three breads | broa de milho, pão de Mafra, sourdough with walnuts; each with weight and price |
| Weekend orders | by Thursday 18:00, by phone or with the form |

Taken from the others: the line under the headline (**agent_c**), the mail with its subject filled in (**agent_b**). Before it goes online, put the
phone number of the bakery in place of \`+351 000 000 000\`.
`;

const firstFiles = {
  "index.html": `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Padaria da Foz</title><link rel="stylesheet" href="style.css"></head>
<body><h1>Padaria da Foz</h1><p>Three breads, baked at five every morning.</p><a href="order.html">Order for the weekend</a></body></html>
`,
  "style.css": "body { font: 1.1rem/1.6 Georgia, serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }\n",
  "README.md": "# Padaria da Foz\n\nOpen `index.html`. Phone number: TODO before it goes online.\n",
};

const orderPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Order</title><link rel="stylesheet" href="style.css"></head>
<body><h1>Order for the weekend</h1><form action="mailto:ola@example.com" method="post"><label>Your name <input name="name"></label></form></body></html>
`;

const somePage = { "index.html": "<!doctype html><title>Padaria</title>" };

const synthesis: Played = {
  does: { answer: { text: finalText, files: { ...firstFiles, "order.html": orderPage } } },
  length: 1.4,
  says: "I take the line under the headline from agent_c, and the subject of the mail from agent_b.",
  tool: "write_file",
  spends: [0.1873, 31_240, 4_420],
};

const codex: readonly Played[] = [
  {
    does: { answer: { text: codexAnswer, files: firstFiles } },
    length: 1.6,
    says: "The hours go into a real table.",
    tool: "write_file",
    spends: [0.1421, 18_200, 3_910],
  },
  { does: { vote: { target: "agent_c", reason: claudeIsBetter } }, length: 0.7, tool: "read_file", spends: [0.0388, 21_480, 420] },
  { does: { vote: { target: "agent_a", reason: ownIsBetter } }, length: 0.6, spends: [0.0402, 23_010, 390] },
];

const gemini: readonly Played[] = [
  { does: { answer: { text: geminiAnswer, files: somePage } }, length: 1.1, tool: "write_file", spends: [0.0614, 16_020, 2_760] },
  {
    does: { vote: { target: "agent_a", reason: accessible } },
    length: 0.9,
    says: "Which of the forms can be sent with the keyboard alone?",
    spends: [0.0205, 20_440, 300],
  },
  { does: { vote: { target: "agent_a", reason: stillAccessible } }, length: 0.5, spends: [0.0211, 21_960, 280] },
];

const claude: readonly Played[] = [
  { does: { answer: { text: claudeAnswer, files: somePage } }, length: 1.9, tool: "write_file", spends: [0.2104, 17_950, 5_120] },
  {
    does: { answer: { text: claudeSecond, files: somePage } },
    length: 1.3,
    says: "The hours should mark today, and the form should know the deadline.",
    tool: "execute_command",
    spends: [0.1987, 26_300, 4_640],
  },
  { does: { vote: { target: "agent_c", reason: claudeStays } }, length: 0.7, spends: [0.0544, 27_110, 510] },
];

/** Tokens without a price: what it has cost is not known. */
const grok: readonly Played[] = [
  { does: { fail: "quota" }, length: 0.4, spends: [0, 3_100, 0] },
  { does: { fail: "server" }, length: 0.4, spends: [0, 3_100, 0] },
];
