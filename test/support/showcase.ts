import type { FakeScript, FakeStep, FakeWait } from "../fixtures/fake-massgen/script.ts";

/**
 * A run in which much happens, as people would see it: four models, three rounds, a failure with a retry, an agent that gives up, stale
 * votes, changes of mind, dissent, files. For the report's tests and for the pictures of the README.
 */
export const showcaseQuery =
  "Build a landing page for a small bakery in Porto: opening hours, three breads, and how to order for the weekend";

export const showcaseModels = ["codex", "gemini", "claude", "grok"] as const;

/** @param pace seconds for a step of length 1; 0 is as fast as it goes */
export function showcaseScript(pace: number): FakeScript {
  const lasting = (length: number, step: FakeStep): FakeStep => (pace > 0 ? { ...step, before: seconds(length * pace) } : step);
  const spent = (usd: number, inputTokens: number, outputTokens: number) => ({ cost: { usd, inputTokens, outputTokens } });
  return {
    quiet: true,
    rules: [
      {
        when: { session: "synthesis" },
        step: lasting(1.4, {
          answer: { text: finalText, files: { ...firstFiles, "order.html": orderPage } },
          ...spent(0.1873, 31_240, 4_420),
        }),
      },
    ],
    agents: {
      agent_a: [
        lasting(1.6, { answer: { text: codexAnswer, files: firstFiles }, ...spent(0.1421, 18_200, 3_910) }),
        lasting(0.7, { vote: { target: "agent_c", reason: claudeIsBetter }, ...spent(0.0388, 21_480, 420) }),
        lasting(0.6, { vote: { target: "agent_a", reason: ownIsBetter }, ...spent(0.0402, 23_010, 390) }),
      ],
      agent_b: [
        lasting(1.1, {
          answer: { text: geminiAnswer, files: { "index.html": "<!doctype html><title>Padaria</title>" } },
          ...spent(0.0614, 16_020, 2_760),
        }),
        lasting(0.8, { vote: { target: "agent_a", reason: accessible }, ...spent(0.0205, 20_440, 300) }),
        lasting(0.5, { vote: { target: "agent_a", reason: stillAccessible }, ...spent(0.0211, 21_960, 280) }),
      ],
      agent_c: [
        lasting(1.9, {
          answer: { text: claudeAnswer, files: { "index.html": "<!doctype html><title>Padaria</title>" } },
          ...spent(0.2104, 17_950, 5_120),
        }),
        lasting(1.2, {
          answer: { text: claudeSecond, files: { "index.html": "<!doctype html><title>Padaria</title>" } },
          ...spent(0.1987, 26_300, 4_640),
        }),
        lasting(0.7, { vote: { target: "agent_c", reason: claudeStays }, ...spent(0.0544, 27_110, 510) }),
      ],
      agent_d: [lasting(0.4, { fail: "quota", ...spent(0, 3_100, 0) }), lasting(0.4, { fail: "server", ...spent(0, 3_100, 0) })],
    },
  };
}

// --- internal ---

function seconds(count: number): FakeWait {
  return { seconds: count };
}

const claudeIsBetter =
  "agent_c sorts the opening hours by day and marks today, and its order form says plainly what happens after you send it. My own page has neither.";
const ownIsBetter =
  "The new answer of agent_c replaced the plain table of hours by a script that needs a network. Mine works without JavaScript and prints on one page, which a bakery will want.";
const accessible =
  "agent_a: real headings, a table with a caption for the hours, labels on every field of the form, and 4.8:1 contrast on the buttons.";
const stillAccessible = "agent_a again. The rewritten page of agent_c looks better, but its form cannot be sent with the keyboard alone.";
const claudeStays =
  "My second page answers all three parts of the question, and it is the only one that says by when one must order for Saturday.";

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

const finalText = `${codexAnswer}
## Merged from the other answers

- From **agent_c**: the line under the headline ("Three breads, baked at five every morning"), and the sentence after sending an order.
- From **agent_b**: the subject of the order mail is filled in.

Checked: both pages are valid HTML, every link leads somewhere, and the order form can be used with the keyboard alone.
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
