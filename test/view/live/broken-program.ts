import { createScreen } from "../../../src/view/screen.ts";
import { openTerminal } from "../../../src/view/terminal.ts";

/** Draws a frame and dies of a fault that nobody expected. Started by terminal.test.ts. */
const screen = createScreen(openTerminal(process.stderr, 2), () => {});
screen.draw(["the first frame"]);
screen.draw(["the last frame"]);
setTimeout(() => {
  throw new Error("nobody expected this");
}, 100);
