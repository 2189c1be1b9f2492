import type { Plugin } from "mg-team";
import agentSynthesis from "./agent-synthesis/index.ts";
import budget from "./budget.ts";
import checks from "./checks.ts";
import majority from "./majority.ts";
import markdownSynthesis from "./markdown-synthesis/index.ts";
import staleVotes from "./stale-votes.ts";
import timeout from "./timeout.ts";

/** The built-in plugins, in the order in which they are applied. To add one, write it like anyone's plugin and list it here. */
export const builtIns: readonly Plugin[] = [staleVotes, majority, budget, timeout, agentSynthesis, checks, markdownSynthesis];
