/** What stands in place of a secret. */
export const redacted = "[redacted]";

/**
 * Makes a function that takes secrets out of text: the given ones (also as they look inside JSON, URLs and Latin-1), and whatever has the shape
 * of a common key. For logs, errors and the journal; answers are never edited.
 * @param secrets values to hide; those shorter than 8 characters are ignored, they would hit ordinary words
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const literals = [...new Set(secrets.flatMap(variants))].sort((a, b) => b.length - a.length).map(escapePattern);
  const exact = literals.length > 0 ? new RegExp(literals.join("|"), "g") : null;
  return (text) => {
    let result = exact ? text.replace(exact, redacted) : text;
    for (const [hints, shape, replacement = redacted] of shapes) {
      if (hints.some((hint) => result.includes(hint))) result = result.replace(shape, replacement);
    }
    return result;
  };
}

// --- internal ---

const shortest = 8;

// A secret of several lines (a private key) is met line by line in logs; short lines of it say nothing.
function variants(secret: string): string[] {
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= 16) : [];
  return [secret.trim(), ...lines]
    .filter((value) => value.length >= shortest)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), asLatin1(value)]);
}

// As it looks in a log that is no UTF-8 and is read as Latin-1.
function asLatin1(value: string): string {
  return Buffer.from(value).toString("latin1");
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// Extend with fixed text that every such key holds (a quick look before the pattern: logs are long), a pattern, and what replaces it if not
// all of it is secret. Keep patterns linear: one class and one quantifier after a fixed start.
const shapes: readonly (readonly [hints: readonly string[], shape: RegExp, replacement?: string])[] = [
  [["PRIVATE KEY-----"], /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g],
  [["sk-"], /\bsk-[A-Za-z0-9_-]{16,}/g], // OpenAI, Anthropic, OpenRouter, DeepSeek
  [["AIza"], /\bAIza[A-Za-z0-9_-]{30,}/g], // Google
  [["xai-"], /\bxai-[A-Za-z0-9]{20,}/g],
  [["gsk_"], /\bgsk_[A-Za-z0-9]{20,}/g], // Groq
  [["hf_"], /\bhf_[A-Za-z0-9]{20,}/g],
  [["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"], /\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}/g],
  [["glpat-"], /\bglpat-[A-Za-z0-9_-]{16,}/g],
  [["xox"], /\bxox[a-z]-[A-Za-z0-9-]{10,}/g], // Slack
  [["AKIA", "ASIA"], /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g], // AWS
  [["eyJ"], /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g], // JSON web token
  [["earer ", "asic "], /\b([Bb]earer|[Bb]asic) [A-Za-z0-9._~+/=-]{16,}/g, `$1 ${redacted}`],
  [
    ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"],
    /(_(?:KEY|TOKEN|SECRET|PASSWORD)["']?\s?[=:]\s?["']?)[A-Za-z0-9_+/=-]{16,}/g,
    `$1${redacted}`,
  ],
  [["://"], /(:\/\/[^\s/:@]{1,64}:)[^\s/@]{6,}@/g, `$1${redacted}@`], // password in a URL
];
