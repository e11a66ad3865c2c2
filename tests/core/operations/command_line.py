"""The `flask` command as an operator runs it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from config import ROOT

#: A real address at which nobody listens.
DEAD_DATABASE = "postgresql://health@127.0.0.1:1/health"


def flask(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A `flask` command of somebody whose environment holds these settings and nothing else of ours."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **settings}
    command = [sys.executable, "-m", "flask", *words]
    return subprocess.run(command, cwd=ROOT, env=env, check=False, capture_output=True, text=True)
