import { AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncHook } from "tapable";
import type { TeamEvent } from "../session/events.ts";
import type { RunResult } from "../session/result.ts";
import type { Action, Agent, AgentId, Deliberation, Limits } from "../types.ts";

/**
 * The points of a run at which plugins take part, in the order in which they happen. One list: the type, the
 * documentation and the host all start from here. Waterfall taps return the (edited) value, or nothing to leave it.
 */
export interface TeamHooks {
  /** Before a step's process starts: rounds (for the whole round before its first spawn), retries, synthesis. A throw stops the run, exit 4. */
  readonly beforeLaunch: AsyncSeriesWaterfallHook<[LaunchRequest], LaunchRequest | void, TapExtras>;
  /** After a step: annotate its action. A throw stops the run, exit 4. */
  readonly onAction: AsyncSeriesWaterfallHook<[Action], Action | void, TapExtras>;
  /** At each barrier and each stop: mark ballots, decide, force, overrule (see {@link Stage}). A throw stops the run, exit 4. */
  readonly onConsensus: AsyncSeriesWaterfallHook<[Deliberation], Deliberation | void, TapExtras>;
  /** Add to the final document, or replace it. A throw is a warning; the document stays as before. */
  readonly onSynthesis: AsyncSeriesWaterfallHook<[SynthesisDocument], SynthesisDocument | void, TapExtras>;
  /** Watch events. A throw is a warning. */
  readonly onEvent: SyncHook<[TeamEvent], void, TapExtras>;
  /** After `result.json` is written: report, add data under the plugin's name. A throw is a warning. */
  readonly onFinish: AsyncSeriesHook<[RunResult], TapExtras>;
}

/** What a tap may say beside tapable's own options (`name`, `stage`, `before`). */
export interface TapExtras {
  /** Seconds after which an unfinished tap counts as failed; null waits for ever. Default 30, onFinish and onSynthesis 120. */
  timeLimitSeconds?: number | null;
}

/** Stages of `onConsensus`, in order. The host fills in what the contract's own rules say between `limit` and `overrule`. */
export const Stage = {
  /** Set the standing of ballots. */
  mark: 0,
  /** Find a consensus. */
  decide: 100,
  /** Force a decision because a limit is reached. */
  limit: 200,
  /** Change a verdict that everything before agreed on. */
  overrule: 300,
} as const;

/** The value of `beforeLaunch`. Plugins may edit what is not readonly; edits of `query` are journaled and shown. */
export interface LaunchRequest {
  readonly kind: "round" | "retry" | "synthesis" | "plugin";
  readonly agent: AgentId;
  readonly model: string;
  /** 0 outside rounds. */
  readonly round: number;
  readonly try: number;
  /** The query before any plugin edited it. */
  readonly asked: string;
  query: string;
  /** More arguments for the engine's command line, before the query. */
  args: string[];
  /** More environment variables for the step. */
  env: Record<string, string>;
  /** Set to leave this launch out. In a round that counts as an action and uses up a round; elsewhere the step has failed for whoever asked for it. */
  skip: { readonly reason: string; readonly by: string } | null;
}

/**
 * The value of `onSynthesis`. The host calls the hook with `kind: "markdown"` and writes what comes back; then, under `--synthesis agent`, once
 * more with `kind: "agent"`: a plugin that makes a synthesis sets `answer` and `madeBy`; one that cannot sets `whyNotAgent`, and the winner's answer stays.
 */
export interface SynthesisDocument {
  readonly kind: "agent" | "markdown";
  /** The text that the document is about: the winner's answer, or the synthesis made of it. */
  answer: string;
  /** The model that made a synthesis and put it into `answer`; null while that is the winner's answer. */
  madeBy: string | null;
  /** What `final_answer.md` will hold; built from all the rest by `markdown-synthesis`. */
  markdown: string;
  /** Why there is no synthesis by a model, in one sentence; null while there may be one. */
  whyNotAgent: string | null;
  readonly result: RunResult;
  /** Absolute path of `synthesis/`; `deliverable/` and `winner/` are already in place. */
  readonly directory: string;
}

/** Stages of `onSynthesis`, in order. */
export const SynthesisStage = {
  /** Make the text (and the files). */
  write: 0,
  /** Look at the files and add findings to `result.checks`. */
  check: 100,
  /** Build `markdown`. */
  render: 200,
  /** Add to the document, or replace it. */
  edit: 300,
} as const;

/** Makes the hooks of one run. */
export function createHooks(): TeamHooks {
  return {
    beforeLaunch: new AsyncSeriesWaterfallHook(["request"], "beforeLaunch"),
    onAction: new AsyncSeriesWaterfallHook(["action"], "onAction"),
    onConsensus: new AsyncSeriesWaterfallHook(["deliberation"], "onConsensus"),
    onSynthesis: new AsyncSeriesWaterfallHook(["document"], "onSynthesis"),
    onEvent: new SyncHook(["event"], "onEvent"),
    onFinish: new AsyncSeriesHook(["result"], "onFinish"),
  };
}

export type HookName = keyof TeamHooks;

/** Facts of a run that do not change. */
export interface RunInfo {
  readonly sessionId: string;
  readonly query: string;
  readonly agents: readonly Agent[];
  /** Absolute path of the project: where mg-team was called, and where its `.massgen-quality` is. */
  readonly project: string;
  /** Absolute path of the team directory. */
  readonly directory: string;
  readonly limits: Limits;
  /** How the final answer is asked to be made. */
  readonly synthesis: "agent" | "markdown";
  /** Model of the synthesis step; null is the winner's. */
  readonly synthesizer: string | null;
}
