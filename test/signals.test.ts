import { describe, expect, test } from "bun:test";
import { ignoredSignals, installSignals, type SignalHost, type SignalName, type StopSignal } from "../src/signals.ts";

function fakeHost(status: string | null = null) {
  const handlers = new Map<SignalName, () => void>();
  const exits: number[] = [];
  const host: SignalHost = {
    on: (name, handler) => handlers.set(name, handler),
    off: (name, handler) => handlers.get(name) === handler && handlers.delete(name),
    exit: (code) => exits.push(code),
    status: () => status,
  };
  return { host, handlers, exits, send: (name: SignalName) => handlers.get(name)?.() };
}

describe("who listens gets each signal, with its exit code", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s is %p", (name, exitCode) => {
    const { host, exits, send } = fakeHost();
    const signals = installSignals(host);
    const seen: StopSignal[] = [];
    signals.onSignal((signal) => seen.push(signal));
    expect(signals.first).toBeNull();
    send(name);
    send("SIGINT");
    expect(seen).toEqual([
      { name, exitCode, again: false },
      { name: "SIGINT", exitCode: 130, again: true },
    ]);
    expect(signals.first).toEqual({ name, exitCode, again: false });
    expect(exits).toEqual([]);
  });
});

test("while nobody listens a signal ends the program", () => {
  const { host, exits, send } = fakeHost();
  const signals = installSignals(host);
  const stop = signals.onSignal(() => {});
  stop();
  send("SIGTERM");
  expect(exits).toEqual([143]);
});

test("a listener may end its own listening", () => {
  const { host, send } = fakeHost();
  const signals = installSignals(host);
  let calls = 0;
  const stop = signals.onSignal(() => {
    calls += 1;
    stop();
  });
  signals.onSignal(() => {});
  send("SIGINT");
  send("SIGINT");
  expect(calls).toBe(1);
});

test("what our parent ignores stays ignored, so that nohup works", () => {
  const { host, handlers } = fakeHost("Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000004002\n");
  installSignals(host);
  expect([...handlers.keys()]).toEqual(["SIGINT", "SIGTERM"]);
});

test.each([
  ["", []],
  ["SigIgn:\t0000000000000000\n", []],
  ["SigIgn:\t0000000000004003\n", ["SIGINT", "SIGTERM", "SIGHUP"]],
  ["SigIgn:\t8000000000000002\n", ["SIGINT"]],
])("%j ignores %p", (status, names) => {
  expect<unknown[]>([...ignoredSignals(status)]).toEqual(names);
});

test("disposed of, it leaves no handler", () => {
  const { host, handlers } = fakeHost();
  installSignals(host).dispose();
  expect(handlers.size).toBe(0);
});
