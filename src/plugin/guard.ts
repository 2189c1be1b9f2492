import { listOf } from "../text.ts";
import type { HookName, TeamHooks } from "./hooks.ts";
import { problemWith } from "./values.ts";
import { within } from "./within.ts";

/** A tap failed. `message` names plugin, hook and what happened; the host decides what follows (design.md, hook table). */
export class PluginError extends Error {
  override readonly name = "PluginError";

  constructor(
    readonly plugin: string,
    readonly hook: HookName | "load" | "apply" | "options" | "cleanup" | "background",
    readonly detail: string,
    readonly file: string | null,
    options?: { readonly cause?: unknown },
  ) {
    super(`plugin ${plugin}${file ? ` (${file})` : ""}, ${hook}: ${detail}`, options);
  }
}

/** Whom a tap belongs to. */
export interface TapOwner {
  readonly name: string;
  /** Absolute path of its file; null for built-ins. */
  readonly file: string | null;
}

/** Hooks whose failing taps only warn; every other hook's failure stops the run. */
export const lenientHooks: ReadonlySet<HookName> = new Set(["onSynthesis", "onEvent", "onFinish"]);

/** Seconds that a tap may take when it does not say otherwise. */
const timeLimits: Record<HookName, number> = {
  beforeLaunch: 30,
  onAction: 30,
  onConsensus: 30,
  onSynthesis: 120,
  onEvent: 30,
  onFinish: 120,
};

/**
 * Puts a guard around every tap: errors carry plugin, hook and file; a lenient hook's error goes to `warn` and the value stays as
 * it was; a tap that outlives its time limit fails; an async function or a promise where `tap()` expects a plain one is refused.
 */
export function guardHooks(hooks: TeamHooks, owner: (tapName: string) => TapOwner, warn: (error: PluginError) => void): void {
  for (const name of Object.keys(hooks) as HookName[]) {
    const hook = hooks[name] as unknown as { intercept(interceptor: { register(tap: GuardedTap): GuardedTap }): void };
    hook.intercept({
      register: (tap) => {
        const fail = failureOf(name, owner(tap.name));
        if (tap.type === "sync" && tap.fn.constructor.name === "AsyncFunction") {
          throw fail("it is an async function; register it with tapPromise instead of tap");
        }
        const limit = tap.timeLimitSeconds === undefined ? timeLimits[name] : tap.timeLimitSeconds;
        return { ...tap, fn: guards[tap.type](tap.fn, { name, fail, limit, warn }) };
      },
    });
  }
}

// --- internal ---

type TapFunction = (...values: unknown[]) => unknown;
type Callback = (error?: unknown, result?: unknown) => void;

interface GuardedTap {
  readonly type: "sync" | "async" | "promise";
  readonly name: string;
  readonly fn: TapFunction;
  readonly timeLimitSeconds?: number | null;
}

interface Guard {
  readonly name: HookName;
  readonly fail: (detail: string, cause?: unknown) => PluginError;
  readonly limit: number | null;
  readonly warn: (error: PluginError) => void;
}

const guards: Record<GuardedTap["type"], (fn: TapFunction, guard: Guard) => TapFunction> = {
  sync: (fn, guard) => (value) => {
    const loan = lend(guard, value);
    try {
      const result = fn(loan.value);
      if (!isPromise(result)) return loan.accept(result);
      result.then(undefined, () => {}); // what becomes of it is nobody's business, but a rejection must not end the process
      throw guard.fail("it returned a promise; register it with tapPromise instead of tap");
    } catch (error) {
      return loan.refuse(error);
    }
  },
  promise: (fn, guard) => async (value) => {
    const loan = lend(guard, value);
    try {
      return loan.accept(await within(guard.limit, Promise.resolve(fn(loan.value))));
    } catch (error) {
      return loan.refuse(error);
    }
  },
  async:
    (fn, guard) =>
    (...values) => {
      const callback = values.pop() as Callback;
      const loan = lend(guard, values[0]);
      const run = new Promise((resolve, reject) => {
        fn(loan.value, (error?: unknown, result?: unknown) => (error ? reject(error) : resolve(result)));
      });
      within(guard.limit, run)
        .then(loan.accept)
        .catch(loan.refuse)
        .then(
          (result) => callback(null, result),
          (error) => callback(error),
        );
    },
};

function failureOf(hook: HookName, owner: TapOwner): Guard["fail"] {
  return (detail, cause) => new PluginError(owner.name, hook, detail, owner.file, { cause });
}

/** The value as one tap gets it, and what becomes of it. */
interface Loan {
  readonly value: unknown;
  /** Checks what the tap returned and gives it to tapable. Throws when it is wrong. */
  accept(result: unknown): unknown;
  /** Throws where a failure stops the run; elsewhere warns. */
  refuse(error: unknown): undefined;
}

/** A tap of onSynthesis works on a copy: when it fails, or finishes too late, the document is as before. */
function lend(guard: Guard, value: unknown): Loan {
  const { name, fail, warn } = guard;
  const original = value as object;
  const draft = name === "onSynthesis" ? { ...original } : original;
  return {
    value: draft,
    accept(result) {
      const returns = name !== "onEvent" && name !== "onFinish";
      const wrong = returns && result !== undefined ? whatIsWrong(result, original) : null;
      if (wrong !== null) throw fail(`it returned ${wrong}; return the edited value, or nothing`);
      const problem = problemWith(name, (returns ? result : null) ?? draft);
      if (problem !== null) throw fail(`it left ${problem}`);
      if (!returns) return undefined;
      if (name !== "onSynthesis") return result;
      Object.assign(original, result ?? draft);
      return undefined;
    },
    refuse(error) {
      const failure = error instanceof PluginError ? error : fail(detailOf(error), error);
      if (!lenientHooks.has(name)) throw failure;
      warn(failure);
      return undefined;
    },
  };
}

/** Why that cannot be the edited value, in words; null when it can. */
function whatIsWrong(result: unknown, original: object): string | null {
  if (typeof result === "function") return "a function";
  if (typeof result !== "object" || result === null) return typeof result === "string" ? JSON.stringify(result) : String(result);
  const missing = Object.keys(original).filter((key) => !(key in result));
  return missing.length === 0 ? null : `a value without ${listOf(missing)}`;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

function detailOf(error: unknown): string {
  return error instanceof Error ? `${error.name === "Error" ? "" : `${error.name}: `}${error.message}` : `it threw ${String(error)}`;
}
