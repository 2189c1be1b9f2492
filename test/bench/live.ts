/**
 * What the live view of 8 busy agents costs, in hundredths of a core: user and system time of mg-team over 20 s on a terminal of 120 columns by
 * 40 rows, against the same run with plain lines. `bun test/bench/live.ts`; exits 1 when it is 2 or more.
 */
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readHolder } from "../../src/session/lock.ts";
import { createProject } from "../support/project.ts";
import { until } from "../support/temp.ts";
import { openTmux } from "../support/tmux.ts";

const [agents, seconds, limit] = [8, 20, 2];
const models = Array.from({ length: agents }, (_, index) => `grok/model-${index}`);
const args = ["run", "Say hello", "--models", ...models, "--no-docker", "--synthesis", "markdown"];

const plain = await measure(false);
const live = await measure(true);
const cost = live - plain;
process.stdout.write(
  `plain lines ${plain.toFixed(2)} %, live view ${live.toFixed(2)} %: it costs ${cost.toFixed(2)} % of a core, limit ${limit} %\n`,
);
process.exitCode = cost < limit ? 0 : 1;

// --- internal ---

/** Per cent of a core that mg-team takes while its agents are busy. */
async function measure(onTerminal: boolean): Promise<number> {
  await using project = createProject();
  const busy = project.temp.write("bin/busy", launcher(project.massgen));
  chmodSync(busy, 0o755);
  const line = [...args, "--massgen", busy];
  if (onTerminal) {
    await using tmux = await openTmux({ columns: 120, rows: 40, cwd: project.directory, env: project.env });
    tmux.type(`mg-team ${line.map((word) => `'${word}'`).join(" ")}`);
    const share = await shareOf(project.directory);
    if (!/^round 1 of 5/m.test(tmux.screen().join("\n"))) throw new Error(`there is no live view:\n${tmux.screen().join("\n")}`);
    tmux.press("C-c");
    await tmux.until((screen) => screen.endsWith("$"));
    return share;
  }
  const run = project.start(line);
  const share = await shareOf(project.directory);
  run.kill("SIGINT");
  await run.result;
  return share;
}

/** A MassGen that says something several times a second for a minute before it answers. */
function launcher(massgen: string): string {
  const busy = [process.execPath, "--no-env-file", "--config=/dev/null", resolve(import.meta.dir, "busy.ts")]
    .map((word) => `'${word}'`)
    .join(" ");
  return `#!/bin/sh\ncase " $* " in *" --step "*) ${busy} ;; esac\nexec '${massgen}' "$@"\n`;
}

async function shareOf(projectDir: string): Promise<number> {
  const sessions = join(projectDir, ".massgen-quality", "sessions");
  const journal = () => readFileSync(join(sessions, readdirSync(sessions)[0] ?? "", "events.jsonl"), "utf8");
  const tools = () =>
    new Set([...journal().matchAll(/"agent":"(agent_.)","round":1,"try":1,"phase":"tool"/g)].map(([, agent]) => agent)).size;
  const busy = () => {
    try {
      return tools() === agents;
    } catch {
      return false;
    }
  };
  await until(busy, "all agents to be busy", 120);
  const pid = readHolder(join(sessions, readdirSync(sessions)[0] ?? ""))?.pid ?? 0;
  // What runs for the first time is compiled; a run of half an hour does not notice.
  await Bun.sleep(3000);
  const [before, from] = [ticksOf(pid), performance.now()];
  await Bun.sleep(seconds * 1000);
  const ticks = ticksOf(pid) - before;
  return ticks / ((performance.now() - from) / 1000);
}

/** User and system time of a process in hundredths of a second, without its children. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
