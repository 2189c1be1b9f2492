/** The pages that the models of the demonstration write. Small, but real: they open in a browser and work. */

/** Quick, and with a fault: nobody at the table gives Infinity. */
export const swiftPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Tip calculator</title>
<label>Bill <input id="bill" type="number"></label>
<label>Tip % <input id="tip" type="number" value="15"></label>
<label>People <input id="people" type="number" value="2"></label>
<p id="share"></p>
<script>
  document.oninput = () => {
    const [bill, tip, people] = ["bill", "tip", "people"].map((id) => Number(document.getElementById(id).value));
    document.getElementById("share").textContent = "Each pays " + (bill * (1 + tip / 100)) / people;
  };
</script>
</html>
`;

/** Correct and plain. */
export const carefulPage = page("body { font: 1rem/1.5 system-ui, sans-serif; max-width: 24rem; margin: 2rem auto; padding: 0 1rem }", "$");

/** Good to look at, and with a fault: it cuts off cents. */
export const boldPage = page(styles(), "$").replace("(cents / 100).toFixed(2)", "Math.floor(cents / 10) / 10");

/** The design of one with the arithmetic of the other. */
export const finishedPage = page(styles(), "$");

export const readme = `# Tip calculator

Open \`index.html\`. Each person pays (bill + bill × tip / 100) / people, rounded to the nearest cent, so all shares together may be a
cent or two off the total.
`;

// --- internal ---

function styles(): string {
  return `:root { color-scheme: light dark; --accent: #0a7d4f }
    body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 10vh auto; padding: 0 1rem }
    label { display: grid; gap: .25rem; margin-bottom: 1rem }
    input { font: inherit; padding: .6rem .8rem; border: 1px solid; border-radius: .6rem }
    output { display: block; font-size: 2.4rem; font-weight: 700; color: var(--accent) }
    @media (prefers-color-scheme: dark) { :root { --accent: #5fd7a4 } }`;
}

function page(style: string, currency: string): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Tip calculator</title>
  <style>
    ${style}
  </style>
</head>
<body>
  <h1>Tip calculator</h1>
  <form>
    <label>Bill <input id="bill" type="number" min="0" step="0.01" inputmode="decimal"></label>
    <label>Tip in percent <input id="tip" type="number" min="0" value="15"></label>
    <label>People <input id="people" type="number" min="1" step="1" value="2"></label>
  </form>
  <p>Each one pays</p>
  <output id="share" aria-live="polite">–</output>
  <script>
    const field = (id) => document.getElementById(id);
    function update() {
      const [bill, tip, people] = ["bill", "tip", "people"].map((id) => field(id).valueAsNumber);
      const whole = Number.isInteger(people) && people > 0;
      const cents = Math.round((bill * 100 * (1 + tip / 100)) / people);
      field("share").textContent = whole && bill >= 0 && tip >= 0 ? "${currency}" + (cents / 100).toFixed(2) : "Fill in all three fields";
    }
    document.querySelector("form").addEventListener("input", update);
    document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  </script>
</body>
</html>
`;
}
