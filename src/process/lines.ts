/** Longest line that is delivered whole, in bytes; the rest of a longer one is left out and counted. */
export const lineCapBytes = 1024 * 1024;

/**
 * Cuts bytes into lines at byte 10 and nothing else (U+2028 does not end a line, a lone CR neither), takes one CR off the end, and
 * decodes each line as a whole, so that a character split between two chunks survives. Bytes that are not UTF-8 become U+FFFD.
 */
export class LineSplitter {
  private parts: Uint8Array[] = [];
  private held = 0;
  private dropped = 0;

  constructor(private readonly deliver: (line: string) => void) {}

  /** Takes the next bytes; `chunk` may be reused afterwards. */
  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      if (this.held === 0 && end - start <= lineCapBytes) this.deliver(decode(chunk.subarray(start, end)));
      else {
        this.hold(chunk.subarray(start, end));
        this.flush();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.hold(chunk.subarray(start));
  }

  /** Delivers a last line that has no newline. */
  flush(): void {
    if (this.held === 0 && this.dropped === 0 && this.parts.length === 0) return;
    const line = decode(Buffer.concat(this.parts), this.dropped);
    this.reset();
    this.deliver(line);
  }

  /** Forgets a line that has begun. */
  reset(): void {
    this.parts = [];
    this.held = 0;
    this.dropped = 0;
  }

  private hold(bytes: Uint8Array): void {
    const room = Math.min(bytes.length, lineCapBytes - this.held);
    this.parts.push(Uint8Array.from(bytes.subarray(0, room)));
    this.held += room;
    this.dropped += bytes.length - room;
  }
}

// --- internal ---

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function decode(line: Uint8Array, dropped = 0): string {
  if (dropped > 0) {
    const kept = wholeCharacters(line);
    return `${decoder.decode(kept)}… (${dropped + line.length - kept.length} bytes more)`;
  }
  return decoder.decode(line.at(-1) === 13 ? line.subarray(0, -1) : line);
}

// Takes off the beginning of a character that the cap has cut.
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 4 && back <= bytes.length; back++) {
    const byte = bytes.at(-back) ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back < length ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}
