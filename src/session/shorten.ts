/**
 * Shortens the longest strings inside a value until its JSON fits, each with a mark "… (N bytes more)"; shorter strings stay whole, and
 * no character is cut in two.
 * @param limit largest size of the JSON in bytes
 * @returns the JSON; null when it cannot be made to fit
 */
export function fitJson(value: unknown, limit: number): string | null {
  let json = JSON.stringify(value);
  for (let cap = limit / 2; Buffer.byteLength(json) > limit; cap /= 2) {
    if (cap < shortestCap) return null;
    const most = cap;
    json = JSON.stringify(value, (_key, part: unknown) => (typeof part === "string" ? shortened(part, most) : part));
  }
  return json;
}

// --- internal ---

const shortestCap = 16;

// The cap is for bytes of JSON: a quote or a control character takes two to six of them.
function shortened(text: string, cap: number): string {
  if (text.length <= cap / 6 || jsonBytes(text) <= cap) return text;
  let kept = "";
  let size = 0;
  for (const character of text) {
    size += jsonBytes(character);
    if (size > cap) break;
    kept += character;
  }
  return `${kept}… (${Buffer.byteLength(text) - Buffer.byteLength(kept)} bytes more)`;
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
