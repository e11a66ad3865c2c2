"""Helpers that run the `flask` command in its own process, like an operator."""

import os
import subprocess
import sys

from app.core.jobs.redis import WEB, connect
from config import ROOT

#: A valid database address where no server listens.
DEAD_DATABASE = "postgresql://health@127.0.0.1:1/health"


def dead_redis():
    """Return a client like those of web processes. No server listens at its address."""
    return connect("redis://127.0.0.1:1/0", **WEB)


def flask(*words, **settings):
    """Run a `flask` command. Its environment contains only these settings."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **settings}
    command = [sys.executable, "-m", "flask", *words]
    return subprocess.run(command, cwd=ROOT, env=env, check=False, capture_output=True, text=True)
