"""Drives MassGen's real classes through many single steps in one process: drive.py --step CASES.json RESULTS.json [OLD=NEW ...]

Each case is one agent's step on a session of its own; the model votes as told. `OLD=NEW` renames a word in MassGen's orchestrator and
tracker while they are imported, as a later MassGen might.
"""

import asyncio
import contextlib
import importlib.machinery
import json
import os
import pathlib
import re
import sys
import tempfile

_, _, cases_path, results_path, *renames = sys.argv
os.environ["MASSGEN_LOG_BASE_DIR"] = os.getcwd()


class Renaming(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        source = self.get_data(self.path).decode("utf-8")
        for old, new in (rename.split("=") for rename in renames):
            source = re.sub(r"\b%s\b" % old, new, source)
        return compile(source, self.path, "exec")


class RenamingFinder:
    def find_spec(self, name, path=None, target=None):
        if name not in ("massgen.orchestrator", "massgen.coordination_tracker"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        spec.loader = Renaming(name, spec.origin)
        return spec


if renames:
    sys.meta_path.insert(1, RenamingFinder())  # after the repair's own

from massgen import orchestrator as orchestrator_module  # noqa: E402
from massgen.agent_config import AgentConfig, StepModeConfig  # noqa: E402
from massgen.backend import base  # noqa: E402
from massgen.backend.base import LLMBackend, StreamChunk  # noqa: E402
from massgen.chat_agent import SingleAgent  # noqa: E402
from massgen.coordination_tracker import CoordinationTracker  # noqa: E402

Orchestrator = orchestrator_module.Orchestrator
ballot = sys.modules.get("mg_team_ballot")
repaired = Orchestrator.__init__


class Model(LLMBackend):
    """Votes for each name in turn; `first`, `last` and numbers mean places of the enum it was offered."""

    def __init__(self, votes):
        super().__init__()
        self.votes, self.seen = list(votes), []

    def get_provider_name(self):
        return "scripted"

    async def stream_with_tools(self, messages, tools, **kwargs):
        self.seen.append((messages, tools))
        enum = vote_enum(tools)
        name = self.votes[min(len(self.seen), len(self.votes)) - 1]
        chosen = enum[name] if isinstance(name, int) else name
        call = {"id": "1", "type": "function", "function": {"name": "vote", "arguments": {"agent_id": chosen, "reason": "so"}}}
        yield StreamChunk(type="tool_calls", tool_calls=[call])
        yield StreamChunk(type="done")


@contextlib.contextmanager
def mended(where):
    """MassGen as it would be with the fault mended upstream: in the tracker, or by an orchestrator that tells it all again."""
    if where is None:
        yield
        return
    plain = CoordinationTracker.initialize_session

    def initialize_session(self, agent_ids, *rest, **named):
        kept = self.answers_by_agent
        plain(self, sorted(set(self.agent_ids) | set(agent_ids)), *rest, **named)
        if where != "orchestrator":
            self.answers_by_agent = dict(self.answers_by_agent, **kept)
            return
        for agent, answers in kept.items():
            for answer in answers:
                self.add_agent_answer(agent, answer.content)

    CoordinationTracker.initialize_session = initialize_session
    try:
        yield
    finally:
        CoordinationTracker.initialize_session = plain


class RebuildsTools(Orchestrator):
    """MassGen as it would be if it offered the agents that have answers."""

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        names = self.coordination_tracker.get_agents_with_answers_anon(self._get_current_answers_snapshot())
        for tool in self.workflow_tools + self._checkpoint_workflow_tools:
            if tool["function"]["name"] == "vote":
                tool["function"]["parameters"]["properties"]["agent_id"]["enum"] = names


def vote_enum(tools):
    vote = next(tool["function"] for tool in tools if tool["function"]["name"] == "vote")
    return vote["parameters"]["properties"]["agent_id"]["enum"]


def command_line_ballots(tools, directory):
    """What codex and claude_code are offered: in a file for their tool server, and in words, in two ways."""
    base.build_workflow_mcp_server_config(tools, directory)
    with open(os.path.join(directory, "workflow_tool_specs.json"), encoding="utf-8") as file:
        specs = json.load(file)
    ballots = [vote_enum(specs["tools"] if isinstance(specs, dict) else specs)]
    for text in (base.build_workflow_mcp_instructions(tools), base.build_workflow_instructions(tools)):
        ballots.append(re.search(r"(?:Valid agent_id values|Choose agent_id from): (.*)", text)[1].split(", "))
    return ballots


async def run(case):
    with tempfile.TemporaryDirectory() as session:
        for agent, answer in case["answers"].items():
            step = os.path.join(session, "agents", agent, "001")
            os.makedirs(step)
            with open(os.path.join(step, "answer.json"), "w", encoding="utf-8") as file:
                file.write(answer if answer.startswith("{") else json.dumps({"agent_id": agent, "answer": answer}))
        if ballot:
            ballot.said[:] = []
        Orchestrator.__init__ = repaired if case.get("repair", True) else repaired.__wrapped__
        model = Model(case["votes"])
        upstream = case.get("upstream")
        made = RebuildsTools if upstream in ("tracker", "orchestrator") else Orchestrator
        config = AgentConfig()
        config.max_new_answers_per_agent = case.get("limit")
        agents = {case["voter"]: SingleAgent(backend=model, agent_id=case["voter"])}
        step = StepModeConfig(enabled=True, session_dir=session)
        with mended(upstream):
            orchestrator = made(agents=agents, step_mode=step, config=config)
            async for _ in orchestrator.chat([{"role": "user", "content": "What is 6 times 7?"}]):
                pass
        tracker = orchestrator.coordination_tracker
        status = os.path.join(session, "status")
        os.makedirs(status)
        tracker.save_status_file(pathlib.Path(status), orchestrator)
        messages, tools = model.seen[0]
        text = messages[-1]["content"]
        with open(os.path.join(status, "status.json"), encoding="utf-8") as file:
            costs = json.load(file)["costs"]
        return {
            "enum": vote_enum(tools),
            "tools": [tool["function"]["name"] for tool in tools],
            "shown": {found[0]: found[1] for found in re.findall(r"<([\w.]+)> (\S+) <end of \1>", text)},
            "mapping": tracker.get_anonymous_agent_mapping(),
            "target": (orchestrator._step_action_data or {}).get("vote_target"),
            "asked": len(model.seen),
            "starts": sum(event.event_type.value == "session_start" for event in tracker.events),
            "prompt": tracker.user_prompt,
            "verdict": ballot.said[0] if ballot and ballot.said else None,
            "cli": command_line_ballots(tools, session),
            "costs": sorted(costs),
        }


async def main():
    results = []
    with open(cases_path, encoding="utf-8") as file:
        for case in json.load(file):
            try:
                results.append(await run(case))
            except Exception as error:
                results.append({"error": "%s: %s" % (type(error).__name__, error)})
    with open(results_path, "w", encoding="utf-8") as file:
        json.dump(results, file)


asyncio.run(main())
os._exit(0)
