"""What a launcher of MassGen does, then a look around: launch.py [--step] [ANSWERS…]"""

import json
import os
import subprocess
import sys

at_start = os.environ.get("PYTHONPATH")
from massgen import orchestrator as module  # noqa: E402

answers = [word for word in sys.argv[1:] if not word.startswith("-")]
orchestrator = module.Orchestrator("agent_b", answers)
offered = orchestrator.chat()
child = "import os, sys; print(repr((os.environ.get('PYTHONPATH'), 'mg_team_ballot' in sys.modules)))"
tracker = orchestrator.coordination_tracker
other = sys.modules.get("sitecustomize")
print(
    json.dumps(
        {
            "offered": offered,
            "agents": tracker.agent_ids,
            "labels": [tracker.answers_by_agent[agent][-1].label for agent in tracker.agent_ids if tracker.answers_by_agent[agent]],
            "starts": len(tracker.events),
            "pythonpath": [at_start, os.environ.get("PYTHONPATH")],
            "child": subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout.strip(),
            "sitecustomize": getattr(other, "__file__", None),
            "marks": getattr(other, "marks", None),
            "path": [entry for entry in sys.path if "ballot" in os.path.basename(entry)],
            "source": type(module.__loader__).__name__,
            "docstring": type(orchestrator).__init__.__doc__,
        }
    )
)
