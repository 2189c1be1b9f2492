import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { temporaryDirectory, until } from "./temp.ts";

/** A real terminal to look at: one window of a tmux server of its own, which ends with the `using` block. */
export interface Tmux extends AsyncDisposable {
  /** Types a line into the shell and presses Enter. */
  type(line: string): void;
  /** Presses a key: `C-c`, `C-z`, `Enter`. */
  press(key: string): void;
  /** Resolves when programs in it see the new size: tmux takes its time to tell them. */
  resize(columns: number, rows: number): Promise<void>;
  /** What one sees, line by line, without spaces at the ends of lines. */
  screen(): string[];
  /** What one sees, with the codes of its colours. */
  colors(): string;
  /** What one sees and everything that has scrolled away, lines that the terminal had to wrap in one piece. */
  history(): string;
  /** Resolves with the screen once it fulfils the condition. Rejects after `seconds` (default 20) with the last screen. */
  until(condition: (screen: string) => boolean, seconds?: number): Promise<string>;
  /** Whether the cursor is to be seen. */
  cursor(): boolean;
  /** Every byte that programs have written so far. */
  output(): string;
}

export interface TmuxOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Opens a terminal with an interactive shell in it, its prompt is `$ `. The CLI is there as `mg-team`. */
export async function openTmux({ columns, rows, cwd, env }: TmuxOptions): Promise<Tmux> {
  const temp = temporaryDirectory();
  const server = `mg-team-test-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const bytes = temp.join("output");
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const program = [process.execPath, "--no-env-file", "--config=/dev/null", cliPath].map(quote).join(" ");
  const lines = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`);
  writeFileSync(bytes, "");
  temp.write("rc", [...lines, "PS1='$ '", `mg-team() { ${program} "$@"; }`, `cd ${quote(cwd)}`, ""].join("\n"));

  const tmux = (...args: string[]): string => {
    const done = Bun.spawnSync(["tmux", "-u", "-L", server, "-f", "/dev/null", ...args], {
      env: { PATH: "/usr/bin:/bin", HOME: temp.path, TMUX_TMPDIR: temp.path, LANG: "C.UTF-8", TERM: "xterm-256color" },
      stderr: "pipe",
    });
    if (!done.success) throw new Error(`tmux ${args[0]}: ${done.stderr.toString().trim()}`);
    return done.stdout.toString();
  };
  const shell = `exec bash --noprofile --rcfile ${quote(temp.join("rc"))} -i`;
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "-e", "TERM=tmux-256color", shell);
  tmux("pipe-pane", `cat >> ${quote(bytes)}`);
  const tty = tmux("display-message", "-p", "#{pane_tty}").trim();
  const screen = () =>
    tmux("capture-pane", "-p")
      .replace(/\n+$/, "")
      .split("\n")
      .map((line) => line.trimEnd());
  const terminal: Tmux = {
    type(line) {
      tmux("send-keys", "-l", line);
      tmux("send-keys", "Enter");
    },
    press: (key) => void tmux("send-keys", key),
    async resize(newColumns, newRows) {
      tmux("resize-window", "-x", String(newColumns), "-y", String(newRows));
      const size = () => Bun.spawnSync(["stty", "-F", tty, "size"]).stdout.toString().trim();
      await until(() => size() === `${newRows} ${newColumns}`, "the terminal's new size");
    },
    screen,
    colors: () => tmux("capture-pane", "-p", "-e").replace(/\n+$/, ""),
    history: () => tmux("capture-pane", "-p", "-J", "-S", "-").replace(/ +$/gm, ""),
    async until(condition, seconds = 20) {
      const deadline = performance.now() + seconds * 1000;
      for (;;) {
        const text = screen().join("\n");
        if (condition(text)) return text;
        if (performance.now() > deadline) throw new Error(`the terminal still shows after ${seconds} s:\n${text}`);
        await Bun.sleep(50);
      }
    },
    cursor: () => tmux("display-message", "-p", "#{cursor_flag}").trim() === "1",
    output: () => (existsSync(bytes) ? readFileSync(bytes, "utf8") : ""),
    async [Symbol.asyncDispose]() {
      tmux("kill-server");
      await temp[Symbol.asyncDispose]();
    },
  };
  await terminal.until((text) => text.endsWith("$"));
  return terminal;
}

// --- internal ---

const cliPath = resolve(import.meta.dir, "../../src/cli.ts");
