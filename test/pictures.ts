#!/usr/bin/env bun
/**
 * Makes the pictures of the README from one real run of mg-team, with models that are played: `npx bun test/pictures.ts` (test/setup.sh brings tmux and
 * chromium; fonts-inter and fonts-jetbrains-mono make them look as they do here). Writes docs/live.png, and docs/report.png and docs/rounds.png, each also as -dark.png.
 */
import { chmodSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { shellWord } from "../src/text.ts";
import { openBrowser } from "./support/browser.ts";
import { createRunProject, onlyRun } from "./support/runs.ts";
import { showcaseModels, showcaseQuery, showcaseScript } from "./support/showcase.ts";
import { temporaryDirectory } from "./support/temp.ts";
import { terminalPage } from "./support/terminal-picture.ts";
import { openTmux } from "./support/tmux.ts";

/** Seconds of a step of length 1: long enough to see something, short enough to wait for. */
const pace = 5;
const docs = resolve(import.meta.dir, "../docs");

await using temp = temporaryDirectory();
await using project = createRunProject({ script: showcaseScript(pace), yaml: "docker: off\n" }, "bakery");
const codex = temp.write("bin/codex", "#!/bin/sh\n"); // preflight looks for it
chmodSync(codex, 0o755);
const env = { ...project.env, PATH: `${join(temp.path, "bin")}:${project.env.PATH}` };
await project.cli(["doctor"], { env }); // so that this is not the first run ever
await using terminal = await openTmux({ columns: 100, rows: 24, cwd: project.directory, env });
await using browser = await openBrowser({ FONTCONFIG_FILE: fonts() });
mkdirSync(docs, { recursive: true });

const models = `${showcaseModels.slice(0, -1).join(", ")}, and ${showcaseModels.at(-1)}`;
terminal.type(`mg-team ${shellWord(showcaseQuery)} with ${models}`);
// The second round: one has voted, one is still at its answer, one is out.
await terminal.until((screen) => screen.includes("round 2") && screen.includes("voted for"), 120);
await picture(browser, temp.write("live.html", terminalPage("mg-team", terminal.colors())), "live.png", async (page) => {
  const figure = page.locator("figure");
  return (await figure.boundingBox()) ?? undefined;
});
await terminal.until((screen) => screen.includes("total spent"), 120);

const { report } = onlyRun(project);
await picture(browser, report, "report.png", above("#decision h3"));
await picture(browser, report, "report-dark.png", above("#decision h3"), "dark");
await picture(browser, report, "rounds.png", rounds);
await picture(browser, report, "rounds-dark.png", rounds, "dark");

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

async function picture(
  from: Browser,
  file: string,
  name: string,
  part: (page: Page) => Promise<Box | undefined>,
  colorScheme: "light" | "dark" = "light",
): Promise<void> {
  const page = await from.newPage({ viewport: { width: 1280, height: 900 }, deviceScaleFactor: 1.5, colorScheme });
  await page.goto(`file://${file}`);
  await page.screenshot({ path: join(docs, name), fullPage: true, omitBackground: true, clip: await part(page) });
  await page.close();
  process.stdout.write(`docs/${name}\n`);
}

/** The page down to an element. */
function above(selector: string): (page: Page) => Promise<Box> {
  return async (page) => ({ x: 0, y: 0, width: 1280, height: ((await page.locator(selector).first().boundingBox())?.y ?? 900) - 8 });
}

async function rounds(page: Page): Promise<Box> {
  const from = await page.locator("#rounds h2").boundingBox();
  const lanes = await page.locator("#rounds .lanes").boundingBox();
  const to = await page.locator("#rounds .legend").boundingBox();
  if (!from || !lanes || !to) throw new Error("the report shows no rounds");
  return { x: from.x - 24, y: from.y - 16, width: lanes.x + lanes.width - from.x + 48, height: to.y + to.height - from.y + 32 };
}

/** What the system calls its own font is another one on every machine. */
function fonts(): string {
  const prefer = (family: string, font: string) =>
    `<alias binding="strong"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;
  return temp.write(
    "fonts.conf",
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><include>/etc/fonts/fonts.conf</include>${prefer("system-ui", "Inter")}${prefer("sans-serif", "Inter")}${prefer("ui-monospace", "JetBrains Mono")}${prefer("monospace", "JetBrains Mono")}</fontconfig>\n`,
  );
}
