import type { Clock } from "../../clock.ts";
import type { TokenPrice } from "../../session/cost.ts";

/** What every step of an engine shares. */
export interface StepSetting {
  readonly clock: Clock;
  /** Marks the processes of the run. */
  readonly cookie: string;
  readonly redact: (text: string) => string;
  /** What the step's model costs when MassGen does not know it. */
  readonly price: TokenPrice | null;
  /** Told, in a sentence, what should not be. */
  readonly warn: (message: string) => void;
  /** Whether the repair of the ballot is in place, so that each step says what became of it. */
  readonly ballotFix: boolean;
}
