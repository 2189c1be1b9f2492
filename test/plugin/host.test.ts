import { afterEach, describe, expect, jest, test } from "bun:test";
import { TeamError } from "../../src/errors.ts";
import { refuseExit } from "../../src/plugin/exit.ts";
import type { PluginError } from "../../src/plugin/guard.ts";
import { createHooks } from "../../src/plugin/hooks.ts";
import { createPluginHost } from "../../src/plugin/host.ts";
import type { LoadedPlugin } from "../../src/plugin/load.ts";
import { definePlugin, type Plugin } from "../../src/plugin/plugin.ts";
import { sampleValue } from "../support/hook-values.ts";
import { fakeTeam } from "../support/team.ts";

function openHost() {
  const hooks = createHooks();
  const warnings: PluginError[] = [];
  const host = createPluginHost(hooks, (error) => warnings.push(error));
  const apply = (...plugins: LoadedPlugin[]) => host.apply(plugins, () => fakeTeam({ hooks }));
  return { hooks, warnings, host, apply, [Symbol.asyncDispose]: () => host.close() };
}

function loaded(name: string, apply: Plugin["apply"], file: string | null = `/p/${name}.ts`): LoadedPlugin {
  return { plugin: { name, apply }, options: undefined, file };
}

async function failure(work: Promise<unknown>): Promise<TeamError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof TeamError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

const exit = process.exit;
afterEach(() => {
  process.exitCode = 0;
  jest.useRealTimers();
  expect(process.exit).toBe(exit);
});

describe("applying plugins", () => {
  test("happens in order, one after the other, with team and options", async () => {
    await using opened = openHost();
    const order: unknown[] = [];
    const slow = loaded("slow", async (team, options) => {
      await Bun.sleep(1);
      order.push(team.run.query, options);
    });
    await opened.apply(
      { ...slow, options: { file: "x" } },
      loaded("quick", () => void order.push("quick")),
    );
    expect(order).toEqual(["Build a landing page", { file: "x" }, "quick"]);
  });

  test("gives their taps their name and file, whatever the tap is called", async () => {
    await using opened = openHost();
    await opened.apply(
      loaded("csv", (team) =>
        team.hooks.onEvent.tap("some other name", () => {
          throw new Error("boom");
        }),
      ),
    );
    opened.hooks.onEvent.call(sampleValue("onEvent") as never);
    expect(opened.warnings.map(({ message }) => message)).toEqual(["plugin csv (/p/csv.ts), onEvent: boom"]);
  });

  test("knows the owner of a tap that is made later, by its name", async () => {
    await using opened = openHost();
    await opened.apply(
      loaded("csv", (team) =>
        team.hooks.onAction.tap("csv", () => {
          team.hooks.onEvent.tap("csv", () => {
            throw new Error("late");
          });
        }),
      ),
    );
    await opened.hooks.onAction.promise(sampleValue("onAction") as never);
    opened.hooks.onEvent.call(sampleValue("onEvent") as never);
    expect(opened.warnings.map(({ message }) => message)).toEqual(["plugin csv (/p/csv.ts), onEvent: late"]);
  });

  const failures: [title: string, apply: Plugin["apply"], detail: string][] = [
    [
      "throws",
      () => {
        throw new Error("no such\n  table");
      },
      "no such table",
    ],
    ["rejects", () => Promise.reject(new Error("no network")), "no network"],
    ["taps with an async function", (team) => team.hooks.onEvent.tap("x", async () => {}), "onEvent: it is an async function; register"],
    [
      "taps a sync hook with a promise",
      (team) => (team.hooks.onEvent as never as { tapPromise(...a: unknown[]): void }).tapPromise("x", () => {}),
      "tapPromise",
    ],
    ["taps without a name", (team) => team.hooks.onEvent.tap("", () => {}), "name"],
    [
      "taps a hook that does not exist",
      (team) => (team.hooks as never as { onNothing: { tap(n: string): void } }).onNothing.tap("x"),
      "onNothing",
    ],
    ["ends the process", () => process.exit(3), "it called process.exit(3); plugins end a run with team.stop(…)"],
    [
      "ends the process without a code",
      () => {
        process.exitCode = 97; // so that a guard that fails does not end this run of the tests as a success
        process.exit();
      },
      "it called process.exit(); plugins end a run",
    ],
  ];
  for (const [title, apply, detail] of failures) {
    test(`that ${title} fails with plugin, file and a hint`, async () => {
      await using opened = openHost();
      const error = await failure(opened.apply(loaded("csv", apply)));
      expect(error.message).toStartWith("plugin csv (/p/csv.ts) failed to start: ");
      expect(error.message).toContain(detail);
      expect(error.message).not.toContain("\n");
      expect(error).toMatchObject({ code: "config", exitCode: 3, hint: "Fix it, or run without it." });
    });
  }

  test("that never ends fails after 30 s", async () => {
    await using opened = openHost();
    jest.useFakeTimers();
    const applied = failure(opened.apply(loaded("csv", () => new Promise(() => {}))));
    jest.advanceTimersByTime(30_000);
    expect((await applied).message).toBe("plugin csv (/p/csv.ts) failed to start: it did not finish within 30 s");
  });

  test("that fails stops the ones after it", async () => {
    await using opened = openHost();
    let applied = false;
    const second = loaded("second", () => {
      applied = true;
    });
    await failure(
      opened.apply(
        loaded("first", () => Promise.reject(new Error("no"))),
        second,
      ),
    );
    expect(applied).toBe(false);
  });

  test("of two that have the same name is refused, and both are named", async () => {
    await using opened = openHost();
    const error = await failure(
      opened.apply(
        loaded("budget", () => {}, null),
        loaded("budget", () => {}, "/p/mine.ts"),
      ),
    );
    expect(error.message).toBe("two plugins are named budget: built in and /p/mine.ts");
    expect(error.hint).toContain("Rename");
  });
});

describe("cleanups", () => {
  test("run in reverse, each awaited, all of them though one throws and one rejects; the failures are warnings", async () => {
    await using opened = openHost();
    const order: string[] = [];
    const cleanup = (name: string, work: () => void | Promise<void>) =>
      loaded(name, () => async () => {
        await Bun.sleep(0);
        order.push(name);
        await work();
      });
    await opened.apply(
      cleanup("one", () => {}),
      cleanup("two", () => {
        throw new Error("boom");
      }),
      loaded("none", () => {}),
      cleanup("three", () => Promise.reject(new Error("no disk"))),
      loaded("plain", () => () => void order.push("plain")),
    );
    await opened.host.close();
    expect(order).toEqual(["plain", "three", "two", "one"]);
    expect(opened.warnings.map(({ message }) => message)).toEqual([
      "plugin three (/p/three.ts), cleanup: no disk",
      "plugin two (/p/two.ts), cleanup: boom",
    ]);
  });

  test("of the plugins before run although a later one failed to start", async () => {
    await using opened = openHost();
    let cleaned = 0;
    const first = loaded("first", () => () => void cleaned++);
    await failure(
      opened.apply(
        first,
        loaded("second", () => Promise.reject(new Error("no"))),
      ),
    );
    await opened.host.close();
    expect(cleaned).toBe(1);
  });

  test("run once, however often the host is closed", async () => {
    await using opened = openHost();
    let cleaned = 0;
    await opened.apply(loaded("first", () => () => void cleaned++));
    await Promise.all([opened.host.close(), opened.host.close()]);
    await opened.host.close();
    expect(cleaned).toBe(1);
  });

  test("that never end are given up after 30 s, and the rest run", async () => {
    await using opened = openHost();
    let cleaned = false;
    await opened.apply(
      loaded("first", () => () => {
        cleaned = true;
      }),
      loaded("stuck", () => () => new Promise(() => {})),
    );
    jest.useFakeTimers();
    const closed = opened.host.close();
    jest.advanceTimersByTime(30_000);
    await closed;
    expect(cleaned).toBe(true);
    expect(opened.warnings.map(({ message }) => message)).toEqual(["plugin stuck (/p/stuck.ts), cleanup: it did not finish within 30 s"]);
  });

  test("that call process.exit are refused too", async () => {
    await using opened = openHost();
    await opened.apply(loaded("first", () => () => process.exit(97)));
    await opened.host.close();
    expect(opened.warnings[0]?.message).toContain("it called process.exit(97)");
  });

  test("only functions are cleanups: anything else that apply returns is ignored", async () => {
    await using opened = openHost();
    await opened.apply(loaded("odd", (() => ({ close: true })) as never));
    await opened.host.close();
    expect(opened.warnings).toEqual([]);
  });
});

describe("process.exit", () => {
  test("throws while plugins are at work, also in a tap, and works again after", async () => {
    const opened = openHost();
    expect(() => process.exit(97)).toThrow("it called process.exit(97)");
    await opened.apply(loaded("csv", (team) => team.hooks.onAction.tap("csv", () => process.exit(97))));
    await expect(opened.hooks.onAction.promise(sampleValue("onAction") as never)).rejects.toThrow(
      "plugin csv (/p/csv.ts), onAction: it called process.exit(97)",
    );
    await opened.host.close();
    expect(process.exit).toBe(exit);
  });

  test("stays refused until the last of several hosts is closed, in any order, closed twice or not", async () => {
    const [one, two] = [openHost(), openHost()];
    await one.host.close();
    await one.host.close();
    expect(process.exit).not.toBe(exit);
    await two.host.close();
    expect(process.exit).toBe(exit);
    const release = refuseExit();
    expect(process.exit).not.toBe(exit);
    release();
    release();
    expect(process.exit).toBe(exit);
  });
});

test("definePlugin gives back what it was given", () => {
  const plugin = { name: "csv", apply() {} };
  expect(definePlugin(plugin)).toBe(plugin as never);
});
