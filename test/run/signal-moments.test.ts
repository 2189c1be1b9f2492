import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TeamEvent } from "../../src/session/events.ts";
import type { SignalName } from "../../src/signals.ts";
import { withPlugin } from "../support/outside-plugin.ts";
import { onlyRun, patience, playRun, type RunSpec } from "../support/runs.ts";
import { endOf } from "../support/story.ts";

// A signal at the very moment that something happens: there is one result and never two, and file, journal, output and exit code agree (checkRun).
// In this process; what signals do to the program as a whole is in signals.test.ts.

const agree = "answer, vote a";
const isLast = (event: TeamEvent) => event.type === "step.finished" && event.action.agent === "agent_b";

const moments: readonly (readonly [title: string, when: (event: TeamEvent) => boolean, ends: RegExp])[] = [
  ["a run starts", ({ type }) => type === "run.started", /^none interrupted, exit N$/],
  ["a round starts", ({ type }) => type === "round.started", /^none interrupted, exit N$/],
  ["the first step starts", ({ type }) => type === "step.started", /^none interrupted, exit N$/],
  ["the first step ends", ({ type }) => type === "step.finished", /^forced interrupted [ab], exit N$/],
  ["the last step of a round ends", isLast, /^forced interrupted a, exit N$/],
  ["a round is counted", ({ type }) => type === "ballots", /^forced interrupted a, exit N$/],
  ["the next round starts", (event) => event.type === "round.started" && event.round === 2, /^forced interrupted a, exit N$/],
  [
    "the last vote is cast",
    (event) => event.type === "step.finished" && isLast(event) && event.action.kind === "vote",
    /^consensus majority a, exit N$/,
  ],
  ["it is decided", ({ type }) => type === "decision", /^consensus majority a, exit N$/],
  ["the document is begun", ({ type }) => type === "synthesis.started", /^consensus majority a, exit N$/],
  ["the document is done", ({ type }) => type === "synthesis.finished", /^consensus majority a, exit N$/],
  ["the synthesis step starts", (event) => event.type === "step.started" && event.kind === "synthesis", /^consensus majority a, exit N$/],
  ["the run has ended", ({ type }) => type === "run.finished", /^consensus majority a, exit 0$/],
];

describe("at the very moment that", () => {
  for (const [index, [title, when, ends]] of moments.entries()) {
    const signal = (["SIGINT", "SIGTERM", "SIGHUP"] as const)[index % 3] ?? "SIGINT";
    for (const times of [1, 2]) {
      test.concurrent(
        `${title}: ${signal}${times === 2 ? ", twice" : ""}`,
        async () => {
          let sent = false;
          const run = await playRun({
            plays: { a: agree, b: "answer after a, vote a after a" },
            args: ["--synthesis", "agent"],
            onEvent(event, { kill }) {
              if (sent || !when(event)) return;
              sent = true;
              for (let time = 0; time < times; time++) kill(signal);
            },
          });
          expect(sent).toBe(true);
          expect(endOf(run).replace(`exit ${codes[signal]}`, "exit N")).toMatch(ends);
          expect(run.events.filter(({ type }) => type === "stop").length).toBeLessThanOrEqual(1);
        },
        patience,
      );
    }
  }
});

/** The winner has a file; a signal ends the run while the other agent is still at work. */
function withFile(onEvent: NonNullable<RunSpec["onEvent"]>): RunSpec {
  return {
    plays: { a: [{ answer: { text: "x", files: { "index.html": "<p>x</p>" } } }], b: [{ before: { forever: true } }] },
    onEvent(event, live) {
      if (event.type === "step.finished" && event.action.agent === "agent_a") live.kill("SIGTERM");
      onEvent(event, live);
    },
  };
}

test.concurrent(
  "result.json holds the answer before any file is copied, which may take longer than a host waits",
  async () => {
    const answers: unknown[] = [];
    await playRun(
      withFile((event, { project }) => {
        if (event.type === "synthesis.started") answers.push(JSON.parse(readFileSync(onlyRun(project).result, "utf8")).answer);
      }),
      ({ result, directory }) => {
        expect(result.synthesis.deliverable).toBe(directory.deliverable);
        expect(readdirSync(join(directory.winner, "workspace"))).toContain("index.html");
      },
    );
    expect(answers).toEqual(["x"]);
  },
  patience,
);

test.concurrent(
  "a second signal ends the copying of files: there are none rather than a part of them, and that is said",
  async () => {
    const spec = withFile((event, { kill }) => {
      if (event.type === "synthesis.started") kill("SIGTERM");
    });
    await playRun(spec, ({ result, directory }) => {
      expect(result.answer).toBe("x");
      expect(result.synthesis).toMatchObject({ kind: "markdown", deliverable: null });
      expect(result.warnings).toContain("the workspace is not in the deliverable: a second signal ended the run before it was copied");
      expect(existsSync(directory.deliverable)).toBe(false);
      expect(readdirSync(join(directory.winner, "workspace"))).toEqual([]);
    });
  },
  patience,
);

test.concurrent(
  "an answer whose step has ended counts, although a plugin is still looking at it when the signal comes",
  async () => {
    const slow = `team.hooks.onAction.tapPromise("slow", async (action) => {
      action.notes = ["seen"];
      await Bun.write(team.run.project + "/../fake/looking", "");
      await new Promise(() => {});
    });`;
    const run = await playRun({
      plays: { a: [{ answer: { text: "x", workspace: false } }], b: [{ before: { forever: true } }] },
      ...withPlugin("slow", slow),
      onEvent(event, { kill, project }) {
        if (event.type === "step.started" && event.agent === "agent_b") void project.untilAnnounced("looking").then(() => kill("SIGINT"));
      },
    });
    expect(run.result.decision).toMatchObject({ kind: "forced", reason: "interrupted", winner: "agent_a" });
    expect(run.events.find((event) => event.type === "step.finished" && event.action.agent === "agent_a")).toMatchObject({
      action: { kind: "new_answer", notes: ["seen"] },
    });
  },
  patience,
);

test.concurrent(
  "a signal while plugins report: journal, result and process tell of the same end",
  async () => {
    // Its failure is an event, so that the signal comes in the middle of the reports.
    const report = `team.hooks.onFinish.tap("report", () => { throw new Error("no paper"); });`;
    const run = await playRun({
      plays: { a: agree, b: agree },
      ...withPlugin("report", report),
      onEvent(event, { kill }) {
        if (event.type === "plugin.error") kill("SIGTERM");
      },
    });
    expect(run.code).toBe(143);
  },
  patience,
);

const codes: Readonly<Record<SignalName, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
