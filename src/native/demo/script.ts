import type { Scene, Script, ScriptedReply } from "../script-types.ts";
import { boldPage, carefulPage, finishedPage, readme, swiftPage } from "./pages.ts";

/** What `mg-team demo` asks. */
export const demoQuery =
  "Make a tip calculator: one HTML file that works offline. It takes the bill, the tip in percent and the number of people, and shows what each one pays.";

/** Who takes part in it: `demo/swift` and so on. */
export const demoModels = ["swift", "careful", "bold"] as const;

/** What these models do. They look at what is in front of them, like any model; only what they say is written down here. */
export const demoScripts: Readonly<Record<(typeof demoModels)[number], Script>> = {
  swift: (scene) =>
    scene.answers.length === 0
      ? answer("A form, a sum, done.", "index.html", swiftPage, swiftAnswer)
      : voteFor(
          scene,
          preferred(scene),
          "Mine shows Infinity when nobody is at the table. This one has an answer for it, and rounds to cents.",
        ),
  careful: (scene) => {
    if (isSynthesis(scene)) return finish(scene);
    if (scene.answers.length === 0)
      return answer("Money first: cents, zero people, empty fields.", "index.html", carefulPage, carefulAnswer);
    const bold = find(scene, "nicest to look at");
    return find(scene, "best of both") === null && bold !== null
      ? improve(bold)
      : voteFor(
          scene,
          preferred(scene),
          "Correct in every case that I tried on paper, and pleasant to use. I see nothing left that matters.",
        );
  },
  bold: (scene) =>
    scene.answers.length === 0
      ? answer("It should look like something one wants to use.", "index.html", boldPage, boldAnswer)
      : voteFor(scene, preferred(scene), "My page looks better but loses cents: 100 / 3 shows 33.3. Right sums matter more."),
};

// --- internal ---

const swiftAnswer = "A tip calculator in index.html: three fields, and the share of each person below. It is as short as it can be.";
const carefulAnswer =
  "A tip calculator in index.html. It rounds to cents, says so when a field is empty or nobody is at the table, and works with a screen reader. The design is plain.";
const boldAnswer = "A tip calculator in index.html, the nicest to look at: big numbers, a dark mode, one column on a phone.";
const finishedAnswer =
  "A tip calculator in index.html, the best of both: the design of one answer with the arithmetic of another. Cents are rounded, empty fields and zero people are handled, and it follows the dark mode of the system.";
const synthesisAnswer = `# Tip calculator

Open \`index.html\` in any browser; it needs no network and no installation.

- **Bill**, **tip** and **people** go into three fields; what each one pays is shown at once, rounded to cents.
- Empty fields and zero people get a hint instead of a strange number.
- It follows the light or dark mode of the system, fits a phone, and reads its result out to screen readers.

\`README.md\` says how the sum is made. It was checked by reading and by sums on paper, not in a browser.`;

function find({ answers }: Scene, phrase: string): string | null {
  return answers.find(({ text }) => text.includes(phrase))?.label ?? null;
}

/** The merged answer once it is there, before that the correct one. */
function preferred(scene: Scene): string {
  return find(scene, "best of both") ?? find(scene, "screen reader") ?? scene.answers[0]?.label ?? "";
}

function answer(says: string, path: string, content: string, text: string): readonly ScriptedReply[] {
  return [
    { says, calls: [{ name: "write_file", input: { path, content } }] },
    { says: "That does what was asked.", calls: [{ name: "new_answer", input: { content: text } }] },
  ];
}

function voteFor({ answers }: Scene, label: string, reason: string): readonly ScriptedReply[] {
  const reading = answers.map((each) => ({ name: "read_file", input: { path: `@${each.label}/index.html` } }));
  return [
    { says: "First I read all of them.", calls: reading },
    { says: "One of them I would hand over as it is.", calls: [{ name: "vote", input: { agent_id: label, reason } }] },
  ];
}

function improve(bold: string): readonly ScriptedReply[] {
  return [
    {
      says: "Another page looks better than mine, but its sums are wrong.",
      calls: [{ name: "copy_file", input: { from: `@${bold}`, to: "." } }],
    },
    {
      says: "I keep its design and put my arithmetic into it.",
      calls: [{ name: "write_file", input: { path: "index.html", content: finishedPage } }],
    },
    { says: "Better than both.", calls: [{ name: "new_answer", input: { content: finishedAnswer } }] },
  ];
}

function isSynthesis({ query }: Scene): boolean {
  return query.includes("THE CHOSEN ANSWER");
}

/** The files of the chosen answer are named in the task. */
function finish({ query }: Scene): readonly ScriptedReply[] {
  const files = /THE CHOSEN ANSWER[^\n]*\n[^\n]*, its files in (\S[^\n]*)/.exec(query)?.[1] ?? "";
  return [
    { says: "I start from the files of the chosen answer.", calls: [{ name: "copy_file", input: { from: files, to: "." } }] },
    { says: "A few lines on how to use it are missing.", calls: [{ name: "write_file", input: { path: "README.md", content: readme } }] },
    { says: "Nothing else is missing.", calls: [{ name: "new_answer", input: { content: synthesisAnswer } }] },
  ];
}
