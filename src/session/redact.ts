/** What stands in place of a secret. */
export const redacted = "[redacted]";

/**
 * Makes a function that takes secrets out of text: the given ones (also as they look inside JSON and URLs), and whatever has the shape
 * of a common key. For logs, errors and the journal; answers are never edited.
 * @param secrets values to hide; those shorter than 6 characters are ignored, they would hit ordinary words
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const literals = [...new Set(secrets.flatMap(variants))].sort((a, b) => b.length - a.length).map(escapePattern);
  const exact = literals.length > 0 ? new RegExp(literals.join("|"), "g") : null;
  return (text) => {
    let result = exact ? text.replace(exact, redacted) : text;
    for (const [shape, replacement] of shapes) result = result.replace(shape, replacement);
    return result;
  };
}

// --- internal ---

const shortest = 6;

// A secret of several lines (a private key) is met line by line in logs; short lines of it say nothing.
function variants(secret: string): string[] {
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= 16) : [];
  return [secret.trim(), ...lines]
    .filter((value) => value.length >= shortest)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// Extend with a pattern and what replaces it. Keep them linear: one class and one quantifier after a fixed start.
const shapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, redacted],
  [/\bsk-[A-Za-z0-9_-]{16,}/g, redacted], // OpenAI, Anthropic, OpenRouter, DeepSeek
  [/\bAIza[A-Za-z0-9_-]{30,}/g, redacted], // Google
  [/\bxai-[A-Za-z0-9]{20,}/g, redacted],
  [/\bgsk_[A-Za-z0-9]{20,}/g, redacted], // Groq
  [/\bhf_[A-Za-z0-9]{20,}/g, redacted],
  [/\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}/g, redacted],
  [/\bglpat-[A-Za-z0-9_-]{16,}/g, redacted],
  [/\bxox[a-z]-[A-Za-z0-9-]{10,}/g, redacted], // Slack
  [/\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g, redacted], // AWS
  [/\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g, redacted], // JSON web token
  [/\b(Bearer|Basic) [A-Za-z0-9._~+/=-]{16,}/gi, `$1 ${redacted}`],
  [/\b([A-Z][A-Z0-9_]*_(?:API_KEY|KEY|TOKEN|SECRET|PASSWORD)["']?\s?[=:]\s?["']?)[A-Za-z0-9_+/=-]{16,}/g, `$1${redacted}`],
  [/(\/\/[^\s/:@]{1,64}:)[^\s/@]{6,}@/g, `$1${redacted}@`], // password in a URL
];
