"""Asks MassGen's own classes whether step mode's ballot needs mg-team's repair.

One agent without an answer, two peers with one: its model obeys the vote tool and takes the last name offered. Prints one line,
`mg-team ballot: needed`, `not needed`, or `unknown: WHY`. Works in the current directory, needs no key and no network.
"""

import asyncio
import json
import os
import sys


async def main():
    os.environ["MASSGEN_LOG_BASE_DIR"] = os.getcwd()
    from massgen.agent_config import StepModeConfig
    from massgen.backend.base import LLMBackend, StreamChunk
    from massgen.chat_agent import SingleAgent
    from massgen.orchestrator import Orchestrator

    session = os.path.join(os.getcwd(), "session")
    for peer in ("agent_b", "agent_c"):
        step = os.path.join(session, "agents", peer, "001")
        os.makedirs(step)
        with open(os.path.join(step, "answer.json"), "w", encoding="utf-8") as file:
            json.dump({"agent_id": peer, "answer": "42", "timestamp": "2026-01-01T00:00:00+00:00"}, file)

    class Obedient(LLMBackend):
        def get_provider_name(self):
            return "probe"

        async def stream_with_tools(self, messages, tools, **kwargs):
            vote = next(tool["function"] for tool in tools if tool["function"]["name"] == "vote")
            choices = vote["parameters"]["properties"]["agent_id"].get("enum", ["agent_c"])
            arguments = {"agent_id": choices[-1], "reason": "last"}
            shown.append(json.dumps(messages))
            yield StreamChunk(type="tool_calls", tool_calls=[{"id": "1", "type": "function", "function": {"name": "vote", "arguments": arguments}}])
            yield StreamChunk(type="done")

    shown = []
    agents = {"agent_a": SingleAgent(backend=Obedient(), agent_id="agent_a")}
    orchestrator = Orchestrator(agents=agents, step_mode=StepModeConfig(enabled=True, session_dir=session))
    async for _ in orchestrator.chat([{"role": "user", "content": "What is 6 times 7?"}]):
        pass
    if not shown:
        return "unknown: the agent was not asked"
    target = (orchestrator._step_action_data or {}).get("vote_target")
    anonymous = not any("<" + peer in shown[0] for peer in ("agent_b", "agent_c"))
    return "not needed" if target == "agent_c" and anonymous else "needed"


try:
    verdict = asyncio.run(main())
except BaseException as error:
    verdict = "unknown: %s: %s" % (type(error).__name__, error)
sys.stdout.write("\nmg-team ballot: " + " ".join(verdict.split())[:400] + "\n")
sys.stdout.flush()
os._exit(0)
