/** What a busy step prints with `--stream-events`, for a minute: thoughts, words and tools, four a second. Started by live.ts. */
import { writeSync } from "node:fs";

const words = [
  "I read the brief again, and look at what the others wrote.",
  "The page needs a picture 🎉.",
  "Now I write the file.",
  "你好, one more test.",
];

for (let count = 0; count < 240; count++) {
  const tool = ["write_file", "read_file", "run_command"][count % 3];
  const [type, data] = (
    [
      ["thinking", { content: `${words[count % words.length]} ` }],
      ["tool_start", { tool_name: tool }],
      ["tool_complete", { tool_name: tool, result: "x".repeat(2000) }],
      ["text", { content: `Step ${count}. ${words[(count + 1) % words.length]} ` }],
    ] as const
  )[count % 4] ?? ["text", {}];
  const event = { timestamp: new Date().toISOString(), event_type: type, agent_id: "agent", round_number: 0, data };
  writeSync(1, `${JSON.stringify(event)}\n`);
  await Bun.sleep(250);
}
