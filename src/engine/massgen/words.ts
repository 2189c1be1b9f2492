/** Text of other programs made fit for one line of ours. */

/** Without colours, control characters and anything that turns the order of text around; white space becomes single spaces. */
export function plainLine(text: string, longest = 300): string {
  // Cut first: what comes may be a line of a megabyte. Four times the room, since colours take some.
  const plain = Bun.stripANSI(text.slice(0, longest * 4))
    .replace(unseen, " ")
    .replace(/\s+/g, " ")
    .trim();
  return plain.length > longest ? `${wholeCharacters(plain.slice(0, longest - 1))}…` : plain;
}

/** The last words of a text, on one line of at most `longest` characters. */
export function lastWords(text: string, longest = 200): string {
  const plain = plainLine(text.slice(-4 * longest), 4 * longest);
  if (plain.length <= longest) return plain;
  const tail = plain.slice(1 - longest);
  const space = tail.indexOf(" ");
  return `…${space >= 0 && space < longest / 4 ? tail.slice(space + 1) : tail.toWellFormed()}`;
}

// --- internal ---

const unseen = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+/gu;

function wholeCharacters(text: string): string {
  return text.isWellFormed() ? text : text.slice(0, -1).toWellFormed();
}
