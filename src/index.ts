/** What `import … from "mg-team"` gives to plugins. Types and functions here are the public, stable surface. */

export { type CheckLimits, type CheckOptions, checkFiles } from "./checks/check-files.ts";
export { knownSecrets } from "./checks/known-secrets.ts";
export { closeMarkdown, escapeMarkdown, linkTarget } from "./checks/markdown.ts";
export { decideByMajority, force, markBallots, mustAct, tallyOf } from "./consensus.ts";
export {
  type HookName,
  type LaunchRequest,
  type RunInfo,
  Stage,
  type SynthesisDocument,
  SynthesisStage,
  type TapExtras,
  type TeamHooks,
} from "./plugin/hooks.ts";
export {
  type Cleanup,
  type CurrentAnswer,
  definePlugin,
  type ExtraStep,
  type ExtraStepResult,
  type Log,
  type Plugin,
  type StopOptions,
  type Team,
} from "./plugin/plugin.ts";
export { type Copied, type CopiedFile, copyDeliverable, type LeftOut, listFiles } from "./session/deliverable.ts";
export type * from "./session/events.ts";
export type * from "./session/result.ts";
export { formatCost } from "./session/totals.ts";
export { formatDuration, formatMoney, listOf, plural } from "./text.ts";
export type * from "./types.ts";
