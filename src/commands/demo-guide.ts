import type { Plugin } from "../plugin/plugin.ts";
import { definePlugin } from "../plugin/plugin.ts";
import type { TeamEvent } from "../session/events.ts";
import { listOf } from "../text.ts";

/** Says, while the demonstration runs, what is to be seen. A plugin like anybody's. */
export const demoGuide: Plugin = definePlugin({
  name: "guide",
  apply(team) {
    team.hooks.onEvent.tap("guide", (event) => {
      for (const line of wordsFor(event)) team.log.info(line);
    });
  },
});

// --- internal ---

function wordsFor(event: TeamEvent): readonly string[] {
  switch (event.type) {
    case "round.started":
      return rounds[event.round] ?? [];
    case "ballots": {
      const stale = event.ballots.filter(({ standing }) => standing === "stale").map(({ voter }) => voter);
      if (stale.length === 0) return [];
      return [
        `${listOf(stale)} voted while a new answer was on its way. A vote by somebody who has not seen the newest answers is stale: it does not count, and its voter is launched again.`,
      ];
    }
    case "synthesis.started":
      return event.kind === "agent"
        ? ["the winner's model gets one more step: verify, clean up, and merge what the others had and it missed."]
        : [];
    default:
      return [];
  }
}

const rounds: Readonly<Record<number, readonly string[]>> = {
  1: ["nobody has answered yet, so all three answer, each in a process of its own, without seeing the others."],
  2: ["each one sees all answers, shuffled and without names, and either votes or does better."],
  3: ["the same again, with the new answer on the table."],
};
