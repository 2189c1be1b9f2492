import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** The real Chromium (Debian's package), headless, with a fresh profile that is gone with it. @param env more variables for it */
export async function openBrowser(env: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const path = Bun.which("chromium");
  if (path === null) throw new Error("there is no chromium: run test/setup.sh");
  // Playwright adds --headless, --no-first-run and a profile directory of its own.
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  return chromium.launch({ executablePath: path, args, env: { ...process.env, ...env } });
}

/** A page, and all that it complained about or asked for beside its own file. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: string[];
  readonly requests: string[];
}

/** Opens a file as a user would, in a context of its own. Requests for anything else than the file are noted and refused. */
export async function openFile(
  browser: Browser,
  file: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage & AsyncDisposable> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  const url = pathToFileURL(file).href;
  page.on("console", (message) => void complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => void complaints.push(error.message));
  await context.route("**/*", (route) => {
    if (route.request().url().split("#")[0] === url) return route.continue();
    requests.push(route.request().url());
    return route.abort();
  });
  await page.goto(url);
  return { page, complaints, requests, [Symbol.asyncDispose]: () => context.close() };
}

/** Opens everything that is folded. */
export async function unfold(page: Page): Promise<void> {
  await page.evaluate(`for (const each of document.querySelectorAll("details")) each.open = true`);
}

/** What axe finds wrong, one line each; its own script is put in from outside, past the policy of the page. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(await Bun.file(axePath).text());
  return page.evaluate<string[]>(`axe.run(document, { preload: false, resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ": " + html.slice(0, 200) + " " + failureSummary)))`);
}

// --- internal ---

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
