import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser, openFile, unfold, violationsOf } from "../../support/browser.ts";
import { createRunProject, onlyRun, runHere } from "../../support/runs.ts";
import { showcaseModels, showcaseQuery, showcaseScript } from "../../support/showcase.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { type MadeRun, makeRun, render } from "./support.ts";

// The report in a real Chromium: what it shows, runs, loads, and how it fits.

const word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(3);

/** Whatever an agent might try, in every field and in the answers. `HERE` becomes the address of a server that counts its visitors. */
const attack = `"'><script>window.ran=1</script><img src="HERE/a.png" onerror="window.ran=2"><svg onload="window.ran=3"></svg>
<iframe src="HERE/frame"></iframe><link rel="stylesheet" href="HERE/a.css"><style>@import url(HERE/b.css); body { background: url(HERE/c.png) }</style>
<meta http-equiv="refresh" content="0;url=HERE/refresh"><object data="HERE/o"></object><video src="HERE/v" autoplay></video>
![x](HERE/d.png) [x](javascript:window.ran=4) [x](data:text/html,<script>window.ran=5</script>)`;

const cases: Readonly<Record<string, MadeRun>> = {
  "three agents": { agents: 3, rounds: 3 },
  "a large team": { agents: 17, rounds: 5 },
  "no result yet": { agents: 2, rounds: 2, finished: false },
  "long words": { agents: 3, rounds: 3, text: (place) => `${place}${word}` },
  "deep nesting and wide code": {
    agents: 2,
    rounds: 2,
    text: (place) =>
      place === "answer"
        ? `${">".repeat(30)} deep\n\n${"- ".repeat(30)}deep\n\n\`\`\`\n${word.repeat(3)}\n\`\`\`\n\n|${"a|".repeat(40)}\n|${"-|".repeat(40)}\n|${`${word}|`.repeat(40)}`
        : place,
  },
};

let browser: Browser;
const temp = temporaryDirectory();
const pages: Record<string, string> = {};

beforeAll(async () => {
  browser = await openBrowser();
  await using project = createRunProject({ script: showcaseScript(0) });
  await runHere(project, ["run", "--no-docker", "--models", showcaseModels.join(","), "--", showcaseQuery]);
  pages["a real run"] = temp.write("a real run.html", await Bun.file(onlyRun(project).report).text());
  for (const [name, made] of Object.entries(cases)) pages[name] = await write(name, made);
}, 60_000);

afterAll(async () => {
  await browser.close();
  await temp[Symbol.asyncDispose]();
});

async function write(name: string, made: MadeRun): Promise<string> {
  await using directory = temporaryDirectory("team_20261129_181500");
  return temp.write(`${name}.html`, await render(makeRun(directory, made)));
}

const overflow = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

const looks = [
  { colorScheme: "light", width: 360 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 360 },
] as const;

describe.each(["a real run", ...Object.keys(cases)])("the report of %s", (name) => {
  const file = () => pages[name] ?? "";

  test("fits a phone and a desk, in light and dark: axe finds nothing, nothing stands out at the side, nothing is asked for, nothing complains", async () => {
    await using opened = await openFile(browser, file());
    const { page, complaints, requests } = opened;
    for (const folded of [true, false]) {
      if (!folded) await unfold(page);
      for (const width of [360, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await overflow(page)).toBe(0);
      }
    }
    // All four on one page; two are enough to see whether other content changes anything.
    for (const { colorScheme, width } of looks.slice(0, name === "a real run" ? 4 : 2)) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      expect(await violationsOf(page)).toEqual([]);
    }
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  }, 60_000);

  test("prints", async () => {
    await using opened = await openFile(browser, file());
    const pdf = await opened.page.pdf({ format: "A4" });
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
    expect(opened.complaints).toEqual([]);
  }, 30_000);
});

describe("a hostile run", () => {
  test("runs nothing and asks for nothing", async () => {
    await using visitors = countVisitors();
    const hostile = attack.replaceAll("HERE", visitors.url);
    const file = await write("hostile", { agents: 3, rounds: 3, text: (place) => `${hostile} ${place}` });
    await using opened = await openFile(browser, file);
    const { page, complaints, requests } = opened;
    await unfold(page);
    expect(await page.evaluate<unknown>("window.ran")).toBeUndefined();
    expect(await page.evaluate<number>("document.querySelectorAll('script, img, iframe, object, video, link, main style').length")).toBe(0);
    expect({ complaints, requests, visits: visitors.count }).toEqual({ complaints: [], requests: [], visits: 0 });
    expect(page.url()).toStartWith("file:");
  }, 30_000);

  test("could do neither if its markup came through: the policy of the page stands behind the sanitiser", async () => {
    await using visitors = countVisitors();
    // Without the refresh: no policy can forbid one.
    const hostile = attack.replaceAll("HERE", visitors.url).replace(/<meta[^>]*>/, "");
    const page = await Bun.file(pages["three agents"] ?? "").text();
    const file = temp.write(
      "through.html",
      page.replace("</main>", `${hostile}<p style="position:fixed" onclick="window.ran=6" id="last">x</p></main>`),
    );
    const context = await browser.newContext(); // nothing in between
    const opened = await context.newPage();
    await opened.goto(`file://${file}`, { waitUntil: "load" });
    await opened.click("#last");
    expect(await opened.evaluate<number>("document.querySelectorAll('main img').length")).toBe(1);
    expect(await opened.evaluate<unknown>("window.ran")).toBeUndefined();
    expect(await opened.evaluate<string>("getComputedStyle(document.querySelector('#last')).position")).toBe("static");
    await context.close();
    expect(visitors.count).toBe(0);
    // The same markup on a page without a policy does visit, so the count means something.
    const open = await browser.newContext();
    const other = await open.newPage();
    await other.goto(
      `file://${temp.write("open.html", page.replace(/<meta http-equiv="Content[^>]*>/, "").replace("</main>", `${hostile}</main>`))}`,
    );
    expect(await other.evaluate<unknown>("window.ran")).toBeDefined();
    await open.close();
    expect(visitors.count).toBeGreaterThan(0);
  }, 30_000);
});

describe("by keyboard", () => {
  test("the first stop is a visible link to the answer, then the contents, and folded parts open", async () => {
    await using opened = await openFile(browser, pages["a real run"] ?? "");
    const { page } = opened;
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("To the answer");
    const box = await page.locator(".skip").boundingBox();
    expect((box?.x ?? -1) >= 0 && (box?.y ?? -1) >= 0).toBe(true);
    await page.keyboard.press("Enter");
    expect(page.url()).toEndWith("#answer");
    await page.locator("#agents summary").first().focus();
    await page.keyboard.press("Enter");
    expect(await page.locator("#agents details").first().getAttribute("open")).not.toBeNull();
  }, 30_000);
});

test("axe would find something on a page with faults", async () => {
  const page = await Bun.file(pages["three agents"] ?? "").text();
  const faulty = page.replace('<html lang="en">', "<html>").replace(/<h1 [\s\S]*?<\/h1>/, '<h4 style="color:#ccc"></h4>');
  await using opened = await openFile(browser, temp.write("faulty.html", faulty));
  const found = (await violationsOf(opened.page)).map((line) => line.split(":")[0]);
  expect(found).toEqual(expect.arrayContaining(["html-has-lang", "page-has-heading-one"]));
}, 30_000);

test("the report is the same without JavaScript, and nothing moves where motion is not wanted", async () => {
  await using opened = await openFile(browser, pages["a real run"] ?? "", { javaScriptEnabled: false });
  expect(await opened.page.locator("section").count()).toBeGreaterThan(8);
  await using calm = await openFile(browser, pages["a real run"] ?? "", { reducedMotion: "reduce" });
  expect(await calm.page.evaluate<string>("getComputedStyle(document.documentElement).scrollBehavior")).toBe("auto");
}, 30_000);

/** A server that nobody should visit. */
function countVisitors(): AsyncDisposable & { readonly url: string; readonly count: number } {
  let count = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      count++;
      return new Response("seen");
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    get count() {
      return count;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
