import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { randomChoices } from "../support/choices.ts";
import type { Baseline, Fault, Played, Task } from "./run-sweep.ts";

// Faults 7 and 8 over a whole run of the CLI: a kill, a full disk, an error of the disk at the system calls by which mg-team writes and opens its files; after
// each the run is resumed, or run again where it had not begun. `MG_TEST_SWEEP=all` plays every point, else a random sample of each fault.

const faults = ["signal=KILL", "error=ENOSPC", "error=EIO"] as const;
const sample = process.env.MG_TEST_SWEEP === "all" ? Number.POSITIVE_INFINITY : Number(process.env.MG_TEST_SWEEP ?? 40);
/** How many runs at the same time. */
const atOnce = 3;

// Only root may make a namespace of processes. Without one the same is played among all other processes, where fewer calls can be aimed at.
const namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const isPossible = Bun.spawnSync([...namespace, "true"], { stderr: "ignore", env: process.env }).exitCode === 0;

interface Worker {
  play(task: Task): Promise<unknown>;
  stop(): Promise<void>;
}

const workers = Array.from({ length: atOnce }, startWorker);
afterAll(() => Promise.all(workers.map((worker) => worker.stop())));

const seed = Number(process.env.MG_TEST_SEED ?? Date.now() % 2 ** 31);
const choices = randomChoices(seed);
let known: Promise<Baseline> | null = null;

function baseline(): Promise<Baseline> {
  known ??= (workers[0] ?? startWorker()).play({ kind: "baseline" }) as Promise<Baseline>;
  return known;
}

for (const fault of faults) {
  describe(fault, () => {
    test("at any call of a run loses nothing, tears nothing, leaves nothing alive, is no success, and the run can be gone on with", async () => {
      const { points } = await baseline();
      expect(points.length).toBeGreaterThan(150);
      const left = shuffled(points).map((point): Fault => ({ ...point, fault }));
      const played: Played[] = [];
      // The open of a file whose name is by chance can only be counted among all opens, those of /proc too: some aims miss, others take their place.
      const isEnough = () => played.filter(({ ours }) => ours).length >= sample;
      await Promise.all(
        workers.map(async (worker) => {
          for (let task = left.pop(); task && !isEnough(); task = left.pop()) {
            played.push((await worker.play({ kind: "play", fault: task })) as Played);
          }
        }),
      );
      const hits = played.filter(({ hit }) => hit !== null);
      const ours = hits.filter((one) => one.ours);
      const wrong = ours.filter((one) => one.wrong.length > 0 || isSilent(one));
      const codes = Map.groupBy(ours, ({ code }) => String(code));
      const ends = [...codes].map(([code, all]) => `${code === "null" ? "killed" : `exit ${code}`}: ${all.length}`).join(", ");
      console.error(
        `seed ${seed}, ${fault}: ${points.length} points, ${played.length} aimed at, ${hits.length} hit, ${ours.length} of ours (${ends}), ` +
          `${ours.filter(({ again }) => again?.command === "resume").length} resumed, ${wrong.length} wrong`,
      );
      expect(wrong.map(describeWrong)).toEqual([]);
      expect(ours.length).toBeGreaterThanOrEqual(Math.min(sample, 0.8 * points.length));
    }, 3_000_000);
  });
}

// --- internal ---

function shuffled<T>(from: readonly T[]): T[] {
  const left = [...from];
  return Array.from(from, () => left.splice(choices.next(left.length), 1)).flat();
}

/** It goes on as if nothing had been, though something was not written. What nobody misses is no such thing, and what was not read would be missed in the result. */
function isSilent({ fault, code, hit, said }: Played): boolean {
  if (fault.fault === "signal=KILL" || code !== 0) return false;
  return !isHarmless(hit ?? "") && !isRead(hit ?? "") && !/ENOSPC|EIO|the disk/.test(said);
}

/**
 * The next start takes the run for one that crashed, sweeps it, and finds nothing; or nobody but us can enter the lock's directory anyway; or it is the
 * report that looks whether anybody works on the run.
 */
function isHarmless(hit: string): boolean {
  return /^unlink\(.*\.holder\.json"|^chmod\(.*\.lock"|^openat\(.*\.lock", O_RDWR/.test(hit);
}

/** A file opened to be read, or a directory to be listed. One that is opened to be synced is no such thing: what was written into it might not last. */
function isRead(hit: string): boolean {
  return /^openat\(.*O_RDONLY/.test(hit) && (/O_PATH|O_DIRECTORY/.test(hit) || /\.\w+", O_/.test(hit));
}

function describeWrong({ fault, hit, code, said, again, wrong }: Played): string {
  return `${fault.fault} at ${fault.call} ${fault.when} ${fault.path ?? ""}: ${hit} → ${code}, ${again?.command} → ${again?.code}: ${wrong.join("; ") || "not a word about it"}\n${said}`;
}

function startWorker(): Worker {
  const program = [process.execPath, join(import.meta.dir, "run-sweep-worker.ts")];
  const child = Bun.spawn([...(isPossible ? namespace : []), ...program], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    env: process.env,
  });
  const answers = linesFrom(child.stdout);
  return {
    async play(task) {
      child.stdin.write(`${JSON.stringify(task)}\n`);
      child.stdin.flush();
      const { value, done } = await answers.next();
      if (done) throw new Error(`the worker ended with ${await child.exited}`);
      return JSON.parse(value);
    },
    async stop() {
      child.stdin.end();
      await child.exited;
    },
  };
}

async function* linesFrom(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}
