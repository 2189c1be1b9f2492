import { describe, expect, test } from "bun:test";
import { notification } from "../../src/view/notify.ts";
import { wantsLiveView } from "../../src/view/open.ts";

const bell = "\u0007";

describe("at the end", () => {
  test.each([
    ["an unknown terminal rings", {}, bell],
    ["xterm rings", { TERM: "xterm-256color" }, bell],
    ["iTerm2 notifies", { TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, "\u001b]9;mg-team: it, is over\u0007"],
    ["kitty notifies", { TERM: "xterm-kitty" }, "\u001b]9;mg-team: it, is over\u0007"],
    ["foot notifies in its own way", { TERM: "foot" }, "\u001b]777;notify;mg-team;it, is over\u0007"],
    ["inside tmux only a bell gets through", { TERM: "tmux-256color", TMUX: "/tmp/x", TERM_PROGRAM: "iTerm.app" }, bell],
    ["Windows Terminal rings: its OSC 9 is a progress bar", { WT_SESSION: "1" }, bell],
  ])("%s", (_what, environment, expected) => {
    expect(notification("it; is over", environment)).toBe(expected);
  });

  test("what is said cannot end the sequence early", () => {
    const said = notification("a\u0007b\u001b\\c\nd", { TERM: "xterm-kitty" });
    expect(said.slice(2, -1)).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe("the live view is for", () => {
  const output = { mode: "text", quiet: false, verbose: false, color: true, notify: true } as const;
  const environment = { TERM: "xterm" };
  const both = { stderr: true, stdout: true };

  test.each([
    ["a terminal", output, environment, both, true],
    ["a terminal whose stdout is a pipe", output, environment, { stderr: true, stdout: false }, true],
    ["no pipe", output, environment, { stderr: false, stdout: true }, false],
    ["no dumb terminal", output, { TERM: "dumb" }, both, false],
    ["no terminal without a name", output, {}, both, false],
    ["no CI", output, { ...environment, CI: "true" }, both, false],
    ["a shell that says CI=false", output, { ...environment, CI: "false" }, both, true],
    ["nobody who wants quiet", { ...output, quiet: true }, environment, both, false],
    ["nobody who wants every line", { ...output, verbose: true }, environment, both, false],
    ["no events on the same terminal", { ...output, mode: "events" as const }, environment, both, false],
    ["events that go elsewhere", { ...output, mode: "events" as const }, environment, { stderr: true, stdout: false }, true],
    ["a terminal without colours", { ...output, color: false }, environment, both, true],
  ])("%s", (_what, settings, variables, terminals, expected) => {
    expect(wantsLiveView(settings, variables, terminals)).toBe(expected);
  });
});
