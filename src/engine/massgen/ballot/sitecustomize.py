"""Repairs the ballot of MassGen's step mode from outside; mg-team wrote this file and put it on PYTHONPATH for one step.

While it starts the conversation, MassGen initialises its coordination tracker a second time, with the one agent that runs,
and so forgets the peers that it has loaded: the vote tool then offers the voter only itself, and peers are shown under
their real ids. Here the peers stay, and the vote tool offers the agents that have answers: the anonymous ballot that
MassGen's own multi-agent mode shows. What any agent thinks of an answer is not touched.

Python reads this file at the start of every program that inherits the environment, so it keeps to words that every
Python knows, steps aside for the sitecustomize that would have been read without it, and waits for MassGen's import.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Unexpected(Exception):
    """The code of MassGen is not what this repair was made for."""


def say(verdict):
    """Tells mg-team on one line of the real stderr what was done. Once: the first verdict of a process is its verdict."""
    if said:
        return
    said.append(verdict)
    try:
        line = "mg-team ballot: " + " ".join(verdict.split())
        os.write(2, (line[:400] + "\n").encode("utf-8", "replace"))
    except Exception:
        pass


said = []


def refuse(error):
    say("unexpected code: %s" % error if isinstance(error, Unexpected) else "unexpected code: %s: %s" % (type(error).__name__, error))


class Finder(object):
    """Waits for two imports. All others cost two comparisons of strings."""

    def find_spec(self, name, path=None, target=None):
        if name == "massgen":
            leave_environment()
        if name != "massgen.orchestrator":
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                follow(spec)
                return spec
        return None


def leave_environment():
    """What MassGen starts, such as its MCP servers, gets the PYTHONPATH that there was before."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    kept = [entry for entry in entries if not is_here(entry)]
    if len(kept) == len(entries):
        return
    if kept:
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)
    else:
        del os.environ["PYTHONPATH"]


def is_here(entry):
    return isinstance(entry, str) and entry != "" and os.path.abspath(entry) == HERE


def follow(spec):
    """Repairs the module as soon as its own code has run. The loader stays the real one, for all who ask it for more."""
    try:
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            try:
                repair(module)
            except Exception as error:
                refuse(error)

        spec.loader.exec_module = exec_module
    except Exception as error:
        refuse(error)


def repair(module):
    """Watches over every orchestrator that is made for a step."""
    import functools  # not above: other programs start with the modules that they always had

    orchestrator = getattr(module, "Orchestrator", None)
    if not isinstance(orchestrator, type) or "__init__" not in vars(orchestrator):
        raise Unexpected("%s has no class Orchestrator" % module.__name__)
    begin = orchestrator.__init__

    @functools.wraps(begin)
    def __init__(self, *args, **named):
        begin(self, *args, **named)
        try:
            watch(self)
        except Exception as error:
            refuse(error)

    orchestrator.__init__ = __init__


def watch(orchestrator):
    """Mends the ballot when the tracker is initialised again. Looks at all it needs before it changes anything."""
    step = orchestrator._step_mode
    if not (step and step.enabled):
        return
    tracker = orchestrator.coordination_tracker
    initialize = tracker.initialize_session
    loaded = dict((agent, list(tracker.answers_by_agent[agent])) for agent in tracker.agent_ids)
    answers = orchestrator._get_current_answers_snapshot()
    choices = vote_choices(orchestrator.workflow_tools)
    choices += vote_choices(getattr(orchestrator, "_checkpoint_workflow_tools", []))
    offered = [list(choice["enum"]) for choice in choices]
    for name in ("get_agents_with_answers_anon", "get_anonymous_agent_mapping", "get_latest_answer_label"):
        getattr(tracker, name)
    if not isinstance(tracker.events, list):
        raise Unexpected("the tracker's events are no list")

    def initialize_session(*args, **named):
        mark = len(tracker.events)
        result = initialize(*args, **named)
        try:
            kept = keep_peers(tracker, initialize, loaded, mark, args, named)
            rebuilt = offer(tracker, choices, answers)
            if kept or rebuilt:
                check(tracker, choices, answers)
            if all(agent in orchestrator.agents for agent in answers):
                say("ready")  # without a peer's answer, a healthy MassGen looks the same
            else:
                say("applied" if kept or rebuilt else "not needed")
        except Exception as error:
            for choice, enum in zip(choices, offered):
                choice["enum"] = enum
            result = initialize(*args, **named)  # as MassGen just did itself
            refuse(error)
        return result

    tracker.initialize_session = initialize_session


def vote_choices(tools):
    """The places of tool definitions that list whom to vote for."""
    votes = [tool for tool in tools if tool.get("function", {}).get("name") == "vote"]
    if tools and not votes:
        raise Unexpected("there is no vote tool")
    choices = [vote["function"]["parameters"]["properties"]["agent_id"] for vote in votes]
    return [choice for choice in choices if "enum" in choice]


def keep_peers(tracker, initialize, loaded, mark, args, named):
    """Initialises again with everybody when somebody was lost; tells whether that was so."""
    if all(agent in tracker.agent_ids for agent in loaded):
        return False
    if "agent_ids" in named:
        named = dict(named, agent_ids=sorted(loaded))
    else:
        args = (sorted(loaded),) + args[1:]
    again(tracker, initialize, mark, args, named)
    for agent in loaded:
        tracker.answers_by_agent[agent] = list(loaded[agent])
    return True


def again(tracker, initialize, mark, args, named):
    """Takes back the traces of an initialisation and makes another one."""
    del tracker.events[mark:]
    close = getattr(tracker, "_close_session_span", None)
    if close is not None:
        close()
    return initialize(*args, **named)


def offer(tracker, choices, answers):
    """Lets the vote tool list exactly the agents that have answers; tells whether it did not."""
    names = list(tracker.get_agents_with_answers_anon(answers))
    wrong = [choice for choice in choices if list(choice["enum"]) != names]
    if not names or not wrong:
        return False
    for choice in wrong:
        choice["enum"] = list(names)
    return True


def check(tracker, choices, answers):
    """Nobody votes with a ballot on which a name stands for somebody else."""
    real = tracker.get_anonymous_agent_mapping()
    for choice in choices:
        if answers and sorted(real[name] for name in choice["enum"]) != sorted(answers):
            raise Unexpected("the names on the ballot are not the agents that have answers")
    for name in real:
        label = tracker.get_latest_answer_label(real[name])
        if label is not None and label.split(".")[0] != name:
            raise Unexpected("%s is shown as %s" % (name, label))


def start():
    """Gets out of the way of other programs and, in a step of MassGen, waits for the orchestrator."""
    sys.path[:] = [entry for entry in sys.path if not is_here(entry)]
    if "--step" in getattr(sys, "argv", [])[1:]:
        sys.meta_path.insert(0, Finder())


if "mg_team_ballot" not in sys.modules:
    sys.modules["mg_team_ballot"] = sys.modules.pop("sitecustomize")
    try:
        start()
    except Exception:
        pass
    # The one that Python would have read without this file, if any; its errors are Python's to report, as always.
    import sitecustomize
