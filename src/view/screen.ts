import { createLogUpdate } from "log-update";
import { widthOf } from "./fit.ts";
import type { Terminal } from "./terminal.ts";

/** A frame of lines at the lower end of a terminal that is drawn over and over; everything else stays above it. */
export interface Screen {
  /** How wide a line may be, and how many lines there may be: a column and a row less than the terminal has (see `draw`). */
  readonly width: number;
  readonly height: number;
  /**
   * Replaces the frame. Does nothing while the terminal takes nothing. The last column stays free because log-update erases what is right of
   * a line, which at the edge is its last character; the last row because a frame ends with a line feed.
   */
  draw(lines: readonly string[]): void;
  /**
   * Lines that stay, above the frame.
   * @param text ends with a line feed
   * @param next the frame below them; without it there is none until the next `draw`
   */
  print(text: string, next?: readonly string[]): void;
  /** Takes the frame away and restores the cursor. Idempotent. */
  close(): void;
}

/** @param redraw called when what is on the terminal was lost or has another size now */
export function createScreen(terminal: Terminal, redraw: () => void): Screen {
  // What is to be written: first what goes and what stays, then the frame.
  let head = "";
  let body = "";
  let frame: readonly string[] = [];
  let width = terminal.columns;
  let hidden = false;
  let closed = false;
  const collector = {
    // log-update must break no line: the frame fits, and a line that a terminal takes for wider is cut by it, not wrapped.
    columns: Number.MAX_SAFE_INTEGER,
    get rows() {
      return terminal.rows + 1;
    },
    isTTY: false,
    write(text: string) {
      body += text;
      return true;
    },
  };
  const update = createLogUpdate(collector as unknown as NodeJS.WritableStream, { showCursor: true });

  /** In one piece, which terminals that know synchronized updates also show in one piece. */
  const flush = () => {
    if (head + body !== "") terminal.write(`${syncBegin}${head}${wrapOff}${body}${wrapOn}${syncEnd}`);
    [head, body] = ["", ""];
  };
  const erase = () => {
    if (frame.length === 0) return;
    head += `\r\u001b[${rowsOf(frame, width, terminal.columns)}A\u001b[J`;
    update.done();
    frame = [];
  };
  const place = (lines: readonly string[]) => {
    if (terminal.stuck || !terminal.foreground) return;
    if (width !== terminal.columns || lines.length === 0) erase();
    width = terminal.columns;
    if (!hidden) head += cursorHide;
    hidden = true;
    if (lines.length > 0) update(lines.join("\n"));
    frame = lines;
  };
  const showCursor = () => {
    if (hidden) head += cursorShow;
    hidden = false;
  };
  const leave = () => {
    erase();
    showCursor();
    flush();
  };

  const stops = [
    terminal.onResize(() => {
      if (closed || terminal.stuck) return;
      erase();
      flush();
      redraw();
    }),
    terminal.onPause(leave, redraw),
    // The last frame stays, for whoever wants to know what was going on.
    terminal.onExit(() => {
      showCursor();
      flush();
    }),
  ];
  return {
    get width() {
      return terminal.columns - 1;
    },
    get height() {
      return terminal.rows - 1;
    },
    draw(lines) {
      if (closed) return;
      place(lines);
      flush();
    },
    print(text, next = []) {
      if (closed) return;
      erase();
      head += text;
      if (next.length > 0) place(next);
      flush();
    },
    close() {
      if (closed) return;
      leave();
      closed = true;
      for (const stop of stops) stop();
      terminal.close();
    },
  };
}

// --- internal ---

const [syncBegin, syncEnd] = ["\u001b[?2026h", "\u001b[?2026l"];
const [wrapOff, wrapOn] = ["\u001b[?7l", "\u001b[?7h"];
const [cursorHide, cursorShow] = ["\u001b[?25l", "\u001b[?25h"];

/** How many rows the frame takes after a change of width: most terminals wrap the lines of a frame that has become too wide for them. */
function rowsOf(frame: readonly string[], before: number, now: number): number {
  if (now >= before) return frame.length;
  return frame.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / now)), 0);
}
