"""Drives the real massgen.step_mode on a session directory: reads a list of calls as JSON from stdin, prints their results as JSON."""

import dataclasses
import json
import sys

from massgen import step_mode

DONE = []
for name, arguments in json.load(sys.stdin):
    result = getattr(step_mode, name)(**arguments)
    DONE.append(dataclasses.asdict(result) if dataclasses.is_dataclass(result) else str(result) if not isinstance(result, bool) else result)
print("RESULT " + json.dumps(DONE))
