import { afterEach, describe, expect, jest, test } from "bun:test";
import { guardHooks, lenientHooks, PluginError } from "../../src/plugin/guard.ts";
import { createHooks, type HookName, Stage, type SynthesisDocument, type TeamHooks } from "../../src/plugin/hooks.ts";
import { sampleValue } from "../support/hook-values.ts";

/** Every hook with what tapable offers for it, loosely typed: these tests do what plugin authors should not. */
interface LooseHook {
  tap(options: unknown, fn: (value: never) => unknown): void;
  tapPromise(options: unknown, fn: (value: never) => Promise<unknown>): void;
  tapAsync(options: unknown, fn: (value: never, callback: (error?: unknown, result?: unknown) => void) => void): void;
  promise(value: unknown): Promise<unknown>;
  call(value: unknown): void;
}

const hookNames = Object.keys(createHooks()) as HookName[];
const file = "/home/me/plugins/csv.ts";

function guarded() {
  const hooks = createHooks();
  const warnings: PluginError[] = [];
  guardHooks(
    hooks,
    () => ({ name: "csv-costs", file }),
    (error) => warnings.push(error),
  );
  return { hooks, warnings, hook: (name: HookName) => hooks[name] as unknown as LooseHook };
}

/** Runs a hook; gives what it threw, or null. */
async function run(hook: LooseHook, name: HookName, value: unknown = sampleValue(name)): Promise<unknown> {
  try {
    if (name === "onEvent") hook.call(value);
    else await hook.promise(value);
    return null;
  } catch (error) {
    return error;
  }
}

afterEach(() => void jest.useRealTimers());

/** Ways to fail, and what the error says of it. `onEvent` is a SyncHook and takes plain taps only. */
const failures: { title: string; detail: string; plainTap: boolean; tap: (hook: LooseHook) => void }[] = [
  {
    title: "throws",
    detail: "boom",
    plainTap: true,
    tap: (hook) =>
      hook.tap("csv-costs", () => {
        throw new Error("boom");
      }),
  },
  {
    title: "makes a mistake",
    detail: "TypeError: ",
    plainTap: true,
    tap: (hook) => hook.tap("csv-costs", (value) => (value as unknown as { no: { such: number } }).no.such),
  },
  {
    title: "throws what is no error",
    detail: "it threw boom",
    plainTap: true,
    tap: (hook) =>
      hook.tap("csv-costs", () => {
        throw "boom";
      }),
  },
  {
    title: "throws nothing at all",
    detail: "it threw undefined",
    plainTap: true,
    tap: (hook) =>
      hook.tap("csv-costs", () => {
        throw undefined;
      }),
  },
  {
    title: "returns a promise where tap() wants a value",
    detail: "it returned a promise; register it with tapPromise instead of tap",
    plainTap: true,
    tap: (hook) => hook.tap("csv-costs", () => Promise.resolve()),
  },
  {
    title: "returns a promise that rejects where tap() wants a value",
    detail: "it returned a promise; register it with tapPromise instead of tap",
    plainTap: true,
    tap: (hook) => hook.tap("csv-costs", () => Promise.reject(new Error("nobody listens"))),
  },
  {
    title: "rejects",
    detail: "boom",
    plainTap: false,
    tap: (hook) => hook.tapPromise("csv-costs", () => Promise.reject(new Error("boom"))),
  },
  {
    title: "throws before it has a promise",
    detail: "boom",
    plainTap: false,
    tap: (hook) =>
      hook.tapPromise("csv-costs", () => {
        throw new Error("boom");
      }),
  },
  {
    title: "never resolves",
    detail: "it did not finish within 0.01 s",
    plainTap: false,
    tap: (hook) => hook.tapPromise({ name: "csv-costs", timeLimitSeconds: 0.01 }, () => new Promise(() => {})),
  },
  {
    title: "calls back with an error",
    detail: "boom",
    plainTap: false,
    tap: (hook) => hook.tapAsync("csv-costs", (_value, callback) => callback(new Error("boom"))),
  },
  {
    title: "throws instead of calling back",
    detail: "boom",
    plainTap: false,
    tap: (hook) =>
      hook.tapAsync("csv-costs", () => {
        throw new Error("boom");
      }),
  },
  {
    title: "never calls back",
    detail: "it did not finish within 0.01 s",
    plainTap: false,
    tap: (hook) => hook.tapAsync({ name: "csv-costs", timeLimitSeconds: 0.01 }, () => {}),
  },
];

for (const name of hookNames) {
  const lenient = lenientHooks.has(name);
  describe(`a tap of ${name} that`, () => {
    for (const { title, detail, plainTap, tap } of failures) {
      if (name === "onEvent" && !plainTap) continue;
      test(`${title} ${lenient ? "only warns" : "fails the hook"}, with plugin, hook and file`, async () => {
        const { hook, warnings } = guarded();
        tap(hook(name));
        const thrown = await run(hook(name), name);
        const error = lenient ? warnings[0] : thrown;
        expect(warnings).toHaveLength(lenient ? 1 : 0);
        if (lenient) expect(thrown).toBeNull();
        expect(error).toBeInstanceOf(PluginError);
        expect(error).toMatchObject({ name: "PluginError", plugin: "csv-costs", hook: name, file });
        expect((error as PluginError).detail).toStartWith(detail);
        expect((error as PluginError).message).toStartWith(`plugin csv-costs (${file}), ${name}: ${detail}`);
        await Bun.sleep(0); // an unhandled rejection would fail this test
      });
    }

    test("is an async function is refused where it is registered", () => {
      const { hook } = guarded();
      const tap = () => hook(name).tap("csv-costs", async () => {});
      expect(tap).toThrow(PluginError);
      expect(tap).toThrow(`plugin csv-costs (${file}), ${name}: it is an async function; register it with tapPromise instead of tap`);
    });

    test(`fails ${lenient ? "lets the next one run" : "keeps the next one from running"}`, async () => {
      const { hook } = guarded();
      let ran = false;
      hook(name).tap("csv-costs", () => {
        throw new Error("boom");
      });
      hook(name).tap("next", () => {
        ran = true;
      });
      await run(hook(name), name);
      expect(ran).toBe(lenient);
    });
  });
}

describe("the value of a waterfall hook", () => {
  const wrong: [shown: string, value: unknown][] = [
    ["null", null],
    ["3", 3],
    ["true", true],
    ['"text"', "text"],
    ["1", 1n],
    ["a function", () => {}],
    ["a value without", {}],
    ["a value without", []],
  ];
  for (const name of ["beforeLaunch", "onAction", "onConsensus", "onSynthesis"] as const) {
    for (const [shown, value] of wrong) {
      for (const kind of ["tap", "tapPromise", "tapAsync"] as const) {
        test(`${name}, ${kind}: a tap must not return ${Bun.inspect(value)}`, async () => {
          const { hook, warnings } = guarded();
          if (kind === "tap") hook(name).tap("csv-costs", () => value);
          if (kind === "tapPromise") hook(name).tapPromise("csv-costs", async () => value);
          if (kind === "tapAsync") hook(name).tapAsync("csv-costs", (_value, callback) => callback(null, value));
          const thrown = await run(hook(name), name);
          const error = (lenientHooks.has(name) ? warnings[0] : thrown) as PluginError;
          expect(error).toMatchObject({ plugin: "csv-costs", hook: name, file });
          expect(error.detail).toStartWith(`it returned ${shown}`);
          expect(error.detail).toEndWith("; return the edited value, or nothing");
        });
      }
    }

    test(`${name}: what is missing from a returned value is named`, async () => {
      const { hook, warnings } = guarded();
      const value = sampleValue(name) as Record<string, unknown>;
      const [first = "", ...rest] = Object.keys(value);
      hook(name).tap("csv-costs", () => Object.fromEntries(rest.map((key) => [key, value[key]])));
      const thrown = await run(hook(name), name, value);
      const error = (lenientHooks.has(name) ? warnings[0] : thrown) as PluginError;
      expect(error.detail).toBe(`it returned a value without ${first}; return the edited value, or nothing`);
    });

    test(`${name}: a tap may return nothing, the value itself, or an edited copy; the next tap sees it`, async () => {
      const { hook } = guarded();
      const seen: unknown[] = [];
      hook(name).tap("one", () => undefined);
      hook(name).tapPromise("two", async (value: object) => value);
      hook(name).tapAsync("three", (value: object, callback) => callback(null, { ...value, extra: 3 }));
      hook(name).tap("four", (value: { extra?: number }) => void seen.push(value.extra));
      const result = await hook(name).promise(sampleValue(name));
      expect(seen).toEqual([3]);
      expect(result).toEqual({ ...(sampleValue(name) as object), extra: 3 });
    });

    test(`${name}: edits in place are kept, also over an await`, async () => {
      const { hook } = guarded();
      hook(name).tapPromise("one", async (value: { extra?: number }) => {
        await Promise.resolve();
        value.extra = 1;
      });
      expect(await hook(name).promise(sampleValue(name))).toMatchObject({ extra: 1 });
    });
  }

  test("what a tap of onEvent or onFinish returns does not matter", async () => {
    const { hook, warnings } = guarded();
    hook("onEvent").tap("csv-costs", () => 3);
    hook("onFinish").tapPromise("csv-costs", async () => "done");
    expect(await run(hook("onEvent"), "onEvent")).toBeNull();
    expect(await run(hook("onFinish"), "onFinish")).toBeNull();
    expect(warnings).toEqual([]);
  });
});

describe("the document of onSynthesis", () => {
  const before = () => sampleValue("onSynthesis") as SynthesisDocument;
  const spoil = (document: SynthesisDocument) => {
    document.answer = "spoiled";
    document.markdown = "spoiled";
    document.whyNotAgent = "spoiled";
  };

  for (const kind of ["tap", "tapPromise", "tapAsync"] as const) {
    test(`is as before when a ${kind} edits it and then fails`, async () => {
      const { hook, hooks, warnings } = guarded();
      const fail = (document: SynthesisDocument) => {
        spoil(document);
        throw new Error("boom");
      };
      if (kind === "tapPromise") hook("onSynthesis").tapPromise("csv-costs", async (document: SynthesisDocument) => fail(document));
      else hook("onSynthesis")[kind]("csv-costs", fail);
      const document = before();
      expect((await hooks.onSynthesis.promise(document)) as SynthesisDocument).toEqual(before());
      expect(document).toEqual(before());
      expect(warnings).toHaveLength(1);
    });
  }

  test("is as before when a tap edits it after its time is over", async () => {
    const { hooks, warnings } = guarded();
    const late = Promise.withResolvers<void>();
    const edited = Promise.withResolvers<void>();
    hooks.onSynthesis.tapPromise({ name: "csv-costs", timeLimitSeconds: 0.01 }, async (document) => {
      await late.promise;
      spoil(document);
      edited.resolve();
    });
    const document = before();
    const settled = (await hooks.onSynthesis.promise(document)) as SynthesisDocument;
    late.resolve();
    await edited.promise;
    expect(settled).toEqual(before());
    expect(document).toEqual(before());
    expect(warnings.map(({ detail }) => detail)).toEqual(["it did not finish within 0.01 s"]);
  });

  test("keeps what earlier taps did when a later one fails", async () => {
    const { hooks } = guarded();
    hooks.onSynthesis.tap("one", (document) => {
      document.markdown = "# By one";
    });
    hooks.onSynthesis.tap("csv-costs", (document) => {
      spoil(document);
      throw new Error("boom");
    });
    hooks.onSynthesis.tap("three", (document) => ({ ...document, markdown: `${document.markdown}, then three` }));
    const document = before();
    const settled = (await hooks.onSynthesis.promise(document)) as SynthesisDocument;
    expect(settled.markdown).toBe("# By one, then three");
    expect(settled.answer).toBe(before().answer);
    // The host that gave up waiting looks at the document it handed in.
    expect(document.markdown).toBe("# By one, then three");
  });
});

describe("time", () => {
  const limits: Record<string, number> = { beforeLaunch: 30, onAction: 30, onConsensus: 30, onSynthesis: 120, onFinish: 120 };
  for (const [name, seconds] of Object.entries(limits) as [HookName, number][]) {
    test(`a tap of ${name} that says nothing has ${seconds} s`, async () => {
      const { hook, warnings } = guarded();
      const begun = Promise.withResolvers<void>();
      hook(name).tapPromise("csv-costs", () => {
        begun.resolve();
        return new Promise(() => {});
      });
      jest.useFakeTimers();
      let over = false;
      const ended = run(hook(name), name).finally(() => {
        over = true;
      });
      await begun.promise;
      jest.advanceTimersByTime(seconds * 1000 - 1);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      expect(over).toBe(false);
      jest.advanceTimersByTime(1);
      const error = (await ended) ?? warnings[0];
      expect(error).toMatchObject({ detail: `it did not finish within ${seconds} s`, hook: name });
    });
  }

  for (const timeLimitSeconds of [null, Number.POSITIVE_INFINITY, 1e9]) {
    test(`a tap may ask for ${timeLimitSeconds === null ? "no limit" : `${timeLimitSeconds} s`} and is waited for`, async () => {
      const { hook } = guarded();
      const work = Promise.withResolvers<void>();
      hook("onAction").tapPromise({ name: "csv-costs", timeLimitSeconds }, () => work.promise);
      const ended = run(hook("onAction"), "onAction");
      await Bun.sleep(5);
      work.resolve();
      expect(await ended).toBeNull();
    });
  }

  test("a tap that is done in time leaves no timer behind", async () => {
    const { hook } = guarded();
    jest.useFakeTimers();
    hook("onAction").tapPromise("csv-costs", async () => {});
    await run(hook("onAction"), "onAction");
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe("order", () => {
  test("stages run in order whatever the order of registration, taps of one stage in the order of registration", async () => {
    const { hooks } = guarded();
    const order: string[] = [];
    const note = (name: string, stage: number) => hooks.onConsensus.tap({ name, stage }, () => void order.push(name));
    note("overrule", Stage.overrule);
    note("limit", Stage.limit);
    note("mark", Stage.mark);
    note("decide", Stage.decide);
    note("mark too", Stage.mark);
    hooks.onConsensus.tapPromise({ name: "between", stage: 150 }, async () => void order.push("between"));
    await hooks.onConsensus.promise(sampleValue("onConsensus") as never);
    expect(order).toEqual(["mark", "mark too", "decide", "between", "limit", "overrule"]);
  });

  test("the error keeps its cause", async () => {
    const { hook } = guarded();
    const cause = new RangeError("too far");
    hook("onAction").tap("csv-costs", () => {
      throw cause;
    });
    const error = (await run(hook("onAction"), "onAction")) as PluginError;
    expect(error.cause).toBe(cause);
    expect(error.detail).toBe("RangeError: too far");
  });

  test("a built-in's error names no file", async () => {
    const hooks: TeamHooks = createHooks();
    guardHooks(
      hooks,
      (name) => ({ name, file: null }),
      () => {},
    );
    hooks.onAction.tap("budget", () => {
      throw new Error("boom");
    });
    await expect(hooks.onAction.promise(sampleValue("onAction") as never)).rejects.toThrow("plugin budget, onAction: boom");
  });
});
