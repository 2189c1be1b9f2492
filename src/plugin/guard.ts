import type { HookName, TeamHooks } from "./hooks.ts";

/** A tap failed. `message` names plugin, hook and what happened; the host decides what follows (design.md, hook table). */
export class PluginError extends Error {
  override readonly name = "PluginError";

  constructor(
    readonly plugin: string,
    readonly hook: HookName | "load" | "apply" | "options" | "cleanup",
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
    const restore = remember(guard, value);
    try {
      const result = fn(value);
      if (isPromise(result)) throw guard.fail("it returned a promise; register it with tapPromise instead of tap");
      return checked(result, guard);
    } catch (error) {
      return restore(error);
    }
  },
  promise: (fn, guard) => async (value) => {
    const restore = remember(guard, value);
    try {
      return checked(await within(guard, Promise.resolve(fn(value))), guard);
    } catch (error) {
      return restore(error);
    }
  },
  async:
    (fn, guard) =>
    (...values) => {
      const callback = values.pop() as Callback;
      const [value] = values;
      const restore = remember(guard, value);
      const run = new Promise((resolve, reject) => {
        fn(value, (error?: unknown, result?: unknown) => (error ? reject(error) : resolve(result)));
      });
      within(guard, run).then(
        (result) => settle(callback, () => checked(result, guard)),
        (error) => settle(callback, () => restore(error)),
      );
    },
};

function failureOf(hook: HookName, owner: TapOwner): Guard["fail"] {
  return (detail, cause) => new PluginError(owner.name, hook, detail, owner.file, { cause });
}

/** What to do when the tap fails: throw where a failure stops the run; elsewhere warn and undo what it did to the document. */
function remember(guard: Guard, value: unknown): (error: unknown) => undefined {
  const document = value as { markdown?: unknown } | null;
  const markdown = guard.name === "onSynthesis" ? document?.markdown : undefined;
  return (error) => {
    const failure = error instanceof PluginError ? error : guard.fail(detailOf(error), error);
    if (!lenientHooks.has(guard.name)) throw failure;
    if (document && markdown !== undefined) document.markdown = markdown;
    guard.warn(failure);
    return undefined;
  };
}

function checked(result: unknown, guard: Guard): unknown {
  if (guard.name === "onEvent" || guard.name === "onFinish") return undefined;
  if (result !== undefined && (typeof result !== "object" || result === null)) {
    throw guard.fail(`it returned ${JSON.stringify(result)}; return the edited value, or nothing`);
  }
  return result;
}

function within(guard: Guard, work: Promise<unknown>): Promise<unknown> {
  const { limit } = guard;
  if (limit === null) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(guard.fail(`it did not finish within ${limit} s`)), limit * 1000);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

function settle(callback: Callback, value: () => unknown): void {
  try {
    callback(null, value());
  } catch (error) {
    callback(error);
  }
}

function isPromise(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

function detailOf(error: unknown): string {
  return error instanceof Error ? `${error.name === "Error" ? "" : `${error.name}: `}${error.message}` : `it threw ${String(error)}`;
}
