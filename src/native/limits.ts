/** What one step may use. Its config can change each under `limits:`, by the name in the comment. */
export interface StepLimits {
  /** Replies of the model: `turns`. */
  readonly turns: number;
  /** Tokens of all its replies together: `output_tokens`. */
  readonly outputTokens: number;
  /** From the start of the step: `seconds`. */
  readonly seconds: number;
  /** Between two signs of life of one reply: `silence_seconds`. Models that think without saying so need minutes. */
  readonly silenceSeconds: number;
  /** At one reply, before the step fails: `attempts`. */
  readonly attempts: number;
}

/**
 * Wide enough for real work, and an end to a model that runs in circles. The step's time is usually the run's to limit (`--timeout`,
 * `--step-timeout`).
 */
export const stepLimits: StepLimits = { turns: 100, outputTokens: 400_000, seconds: 7200, silenceSeconds: 600, attempts: 4 };
