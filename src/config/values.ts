import { parseDuration } from "../text.ts";

/** Readers of single values, the same for options, variables and mg-team.yaml. Each returns undefined for what is not allowed. Pure. */

export type Reader<Value> = (text: string) => Value | undefined;

/** A whole number of `least` or more, written in plain digits. */
export function wholeNumber(least: number): Reader<number> {
  return (text) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(value) && value >= least ? value : undefined;
  };
}

/** Seconds, above 0. */
export const duration: Reader<number> = (text) => parseDuration(text) ?? undefined;

/** US dollars, above 0; a dollar sign is fine. */
export const money: Reader<number> = (text) => {
  const value = /^\$?\d*\.?\d+$/.test(text.trim()) ? Number(text.trim().replace("$", "")) : Number.NaN;
  return Number.isFinite(value) && value > 0 ? value : undefined;
};

/** One of a few words, upper case or not. */
export function choice<const Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return (text) => choices.find((allowed) => allowed === text.trim().toLowerCase());
}

/** A switch as a variable holds it. */
export const onOrOff: Reader<boolean> = (text) => {
  const word = text.trim().toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  return ["0", "false", "no", "off"].includes(word) ? false : undefined;
};

/** Any text that is not blank. */
export const someText: Reader<string> = (text) => (text.trim() === "" ? undefined : text);
