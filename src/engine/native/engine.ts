import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, systemClock } from "../../clock.ts";
import { makeDirectory, writeFileAtomic } from "../../session/atomic.ts";
import { priceOf, type TokenPrice } from "../../session/cost.ts";
import type { Agent } from "../../types.ts";
import type { Engine, StepReport } from "../engine.ts";
import { formatConfig } from "../massgen/config-map.ts";
import { startStep } from "../massgen/step.ts";
import { noCost, reportLost } from "../massgen/step-report.ts";
import { nativeStepCommand } from "./command.ts";
import { nativeConfig } from "./config.ts";

export interface NativeEngineOptions {
  /** How to start mg-team: its binary, or Bun with its source. Never empty. */
  readonly program: readonly string[];
  /** Of mg-team. */
  readonly version: string;
  /** The caller's environment with the keys in it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Removes secrets; see `createRedactor`. */
  readonly redact: (text: string) => string;
  /** Marks all processes of the run. */
  readonly cookie: string;
  /** By model, see `priceOf`; what is not in it costs its list price. */
  readonly prices?: Readonly<Record<string, TokenPrice>>;
  /** Told, in a sentence, what should not be but stops nothing. */
  readonly warn?: (message: string) => void;
  readonly clock?: Clock;
}

/**
 * The engine that runs steps with mg-team itself (`mg-team step`), each in a process of its own. The contract is that of MassGen's step mode, so
 * the same code starts such a step, watches over it and reads what it left.
 */
export function createNativeEngine(options: NativeEngineOptions): Engine {
  const { program, version, env, redact, cookie, prices = {}, warn = () => {}, clock = systemClock } = options;
  // A step knows the list price itself: where it calls its cost unknown, that is what it is. Only the user may say more.
  const given = ({ backend, modelName }: Agent) => priceOf(prices, backend, modelName);
  return {
    info: { name: "native", version, ballot_fix: "off" },
    command: (step) => nativeStepCommand(program, step, env),
    start(step, events) {
      const setting = { clock, cookie, redact, price: given(step.agent), warn, ballotFix: false };
      const running = startStep(setting, step, events, () => nativeStepCommand(program, step, env));
      return { ...running, report: running.report.then((report) => withoutMark(freeIfUnasked(report, step.runDir))) };
    },
    recover: (step) => freeIfUnasked(reportLost(step, given(step.agent)), step.runDir),
    async writeConfig(agent, out, { context }) {
      const config = nativeConfig(agent, { context, price: given(agent), redact, warn });
      makeDirectory(dirname(out));
      await writeFileAtomic(out, formatConfig(config));
    },
  };
}

// --- internal ---

/** A step makes its log directory before it asks a model: without one it has failed over its config or its key, and cost nothing. */
function freeIfUnasked(report: StepReport, runDir: string): StepReport {
  const asked = report.action !== null || existsSync(join(runDir, ".massgen", "massgen_logs"));
  return asked ? report : { ...report, cost: noCost };
}

/** The class stands in brackets before the cause for whoever reads the log; a report has it already. */
function withoutMark(report: StepReport): StepReport {
  if (report.failure === null) return report;
  const message = report.failure.message.replace(/^\[[a-z_]+\] /, "");
  return { ...report, failure: { ...report.failure, message } };
}
