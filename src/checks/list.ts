import type { Check } from "./check.ts";
import { htmlLinksCheck, htmlScriptsCheck } from "./html.ts";
import { javascriptCheck } from "./javascript.ts";
import { jsonCheck } from "./json.ts";
import { markdownLinksCheck } from "./markdown-links.ts";
import { placeholderCheck } from "./placeholder.ts";
import { pythonCheck } from "./python.ts";
import { secretCheck } from "./secret.ts";
import { shellCheck } from "./shell.ts";
import { charactersCheck, conflictCheck, emptyCheck } from "./text.ts";
import { yamlCheck } from "./yaml.ts";

/**
 * All checks of a deliverable, in the order in which their findings are shown for one line. To add one, write a {@link Check} in a file of its
 * own (`json.ts` is short) and name it here: reading files, limits, crashes and order are taken care of. Measure it on many correct files
 * first: a false alarm costs more than a miss.
 */
export const checks: readonly Check[] = [
  emptyCheck,
  charactersCheck,
  conflictCheck,
  jsonCheck,
  yamlCheck,
  javascriptCheck,
  pythonCheck,
  shellCheck,
  htmlScriptsCheck,
  htmlLinksCheck,
  markdownLinksCheck,
  placeholderCheck,
  secretCheck,
];
