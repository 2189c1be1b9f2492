import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { createTeamDirectory, findTeamDirectory, listTeamIds, sessionsPath } from "../../src/session/directory.ts";
import { openJournal, readJournal } from "../../src/session/journal.ts";
import { acquireLock } from "../../src/session/lock.ts";
import { type FaultRun, type Injection, runWithFault, tracedCalls } from "./inject.ts";

setDefaultTimeout(60_000); // a busy machine is no fault

// Faults 7 and 8: a kill, a full disk, an error of the disk, at each system call by which a run's state gets to disk.
const faults = ["signal=KILL", "error=ENOSPC", "error=EIO"];
const parallel = 3;

/** What is wrong with what a run left behind; empty when nothing is. */
function faultsOf(run: FaultRun): string[] {
  const wrong: string[] = [];
  const acknowledged = (name: string) => run.acknowledged.some((one) => one.name === name && one.ok);
  const id = listTeamIds(run.project)[0];
  // Before the directory was acknowledged its journal was written elsewhere, or nowhere.
  const root = acknowledged("directory") && id ? join(run.project, sessionsPath, id) : run.project;

  const result = fs.existsSync(join(root, "result.json")) ? fs.readFileSync(join(root, "result.json"), "utf8") : "";
  if (!["", `old ${"o".repeat(5000)}`, `new ${"n".repeat(5000)}`].includes(result)) wrong.push("result.json is torn");
  if (acknowledged("result new") && !result.startsWith("new")) wrong.push("an acknowledged result is lost");
  if (acknowledged("result old") && result === "") wrong.push("an acknowledged result is lost");

  const journal = join(root, "events.jsonl");
  const before = readJournal(journal);
  const names = before.events.map((event) => (event.type === "preflight.warning" ? event.message.split(" x")[0] : event.type));
  if (before.damaged > 0) wrong.push("the journal has a damaged line");
  if (before.torn && !killed(run)) wrong.push("the journal is torn though the writer lived");
  for (const { name, ok } of run.acknowledged.filter((one) => one.name.startsWith("event"))) {
    if (acknowledged("journal") && ok && !names.includes(name)) wrong.push(`acknowledged ${name} is lost`);
    if (!ok && names.includes(name)) wrong.push(`${name} is in the journal though its append failed`);
  }
  if (before.events.some((event, at) => event.seq !== at + 1)) wrong.push("numbers have a gap");

  // The next start goes on with it all.
  const lock = acquireLock(root);
  const again = openJournal(journal, { elapsed: () => 2 });
  again.append({ type: "preflight.warning", message: "next" }, { durable: true });
  again.close();
  lock.close();
  const after = readJournal(journal);
  if (after.torn || after.damaged > 0 || after.events.length !== before.events.length + 1) wrong.push("the journal cannot be continued");
  if (fs.readdirSync(root).some((name) => name.endsWith(".tmp"))) wrong.push("a temporary file stays for ever");
  return wrong;
}

function killed(run: FaultRun): boolean {
  return !run.acknowledged.some(({ name }) => name === "free");
}

/** Whether nobody needs to hear of it: everything is fsynced before it is closed, and what is not cleaned up now is at the next start. */
function isHarmless(call: string): boolean {
  return call.startsWith("close(") || /^unlink\(.*(\.tmp|\.holder\.json)"/.test(call);
}

test("without a fault all is acknowledged and whole", async () => {
  await using run = await runWithFault(null);
  expect(run.acknowledged.filter(({ ok }) => !ok)).toEqual([]);
  expect(faultsOf(run)).toEqual([]);
  expect(findTeamDirectory(run.project).cookie).toMatch(/^[0-9a-f]{32}$/);
});

test("a new file is on disk before it gets its name, and its name before it is acknowledged", async () => {
  await using run = await runWithFault(null);
  const renames = run.trace.flatMap((line, at) => (line.startsWith("rename(") ? [at] : []));
  expect(renames.length).toBe(4);
  for (const at of renames) {
    const temporary = run.trace[at]?.match(/^rename\("([^"]+)"/)?.[1] ?? "";
    const before = run.trace
      .slice(0, at)
      .filter((line) => line.includes(`<${temporary}>`))
      .map((line) => line.split("(")[0]);
    expect(before).toEqual(["openat", "write", "fsync", "close"]);
    const after = run.trace.slice(at + 1, at + 3).map((line) => line.replace(/^(\w+)\(.*<(.*)>.*$/, "$1 $2"));
    expect(after).toEqual([`openat ${dirname(temporary)}`, `fsync ${dirname(temporary)}`]);
  }
});

for (const fault of faults) {
  describe(fault, () => {
    test(`at each call leaves every file whole, loses nothing acknowledged, and is reported`, async () => {
      const { counts } = await counted();
      const injections = tracedCalls.flatMap((call) =>
        Array.from({ length: counts[call] ?? 0 }, (_, at): Injection => ({ call, when: at + 1, fault })),
      );
      const wrong: string[] = [];
      let hits = 0;
      let reported = 0;
      await Promise.all(Array.from({ length: parallel }, () => worker()));
      async function worker(): Promise<void> {
        for (let injection = injections.pop(); injection; injection = injections.pop()) {
          await using run = await runWithFault(injection);
          const where = `${fault} at ${injection.call} ${injection.when}: ${run.injected}`;
          if (run.injected) hits += 1;
          else wrong.push(`${where}: did not come to pass`);
          wrong.push(...faultsOf(run).map((what) => `${where}: ${what}`));
          const failures = run.acknowledged.filter(({ ok }) => !ok);
          if (failures.length > 0) reported += 1;
          else if (fault !== "signal=KILL" && run.injected && !isHarmless(run.injected)) wrong.push(`${where}: not reported`);
          wrong.push(
            ...failures.filter(({ expected }) => !expected).map(({ name, message }) => `${where}: ${name} failed as a bug: ${message}`),
          );
        }
      }
      console.log(`${fault}: ${hits} faults injected, ${reported} reported, ${wrong.length} wrong`);
      expect(wrong).toEqual([]);
      expect(hits).toBeGreaterThan(50);
    }, 600_000);
  });
}

const once: { run?: Promise<{ counts: Readonly<Record<string, number>> }> } = {};

function counted(): Promise<{ counts: Readonly<Record<string, number>> }> {
  once.run ??= (async () => {
    await using run = await runWithFault(null);
    return { counts: run.counts };
  })();
  return once.run;
}

test("a directory can be created again where a claim was killed half-way", async () => {
  await using run = await runWithFault({ call: "mkdir", when: 6, fault: "signal=KILL" });
  const directory = createTeamDirectory(run.project, new Date(2026, 10, 29));
  expect(directory.id).toBe("team_20261129_000000_2");
});
