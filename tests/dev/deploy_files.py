"""Files of `deploy/`, and a way to run its scripts."""

import os
import re
import subprocess

from config import ROOT

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*@.service"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def run_with(folder, name, program, script, *arguments, **env):
    """Run a shell script of `deploy/` with a fake program called `name`. Return the finished process.

    The script finds its files in `folder`, instead of the folders of an installation.
    """
    (folder / name).write_text(f"#!/bin/sh\n{program}\n")
    (folder / name).chmod(0o755)
    text = re.sub("/opt/health|/etc/health|/run/health|/run/secrets", str(folder), (DEPLOY / script).read_text())
    env = {"PATH": f"{folder}:{os.environ['PATH']}", **env}
    return subprocess.run(["sh", "-c", text, script, *arguments], env=env, check=False, capture_output=True, text=True)
