"""Run a `flask` command on the database of this checkout: `python -m dev.command flask ...`.

The program starts PostgreSQL and Valkey, unless `make run` already runs them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from config import ROOT, ConfigError
from dev.run import LOGS, SERVERS, SERVICE, RunsAlreadyError, only_one_here, read_settings, start_servers
from dev.supervisor import Supervisor, ToolError, end_orphans
from dev.terminal import say, stop_signals, waiting


def main(words: Sequence[str]) -> int:
    command = [sys.executable, "-m", *words]
    try:
        with stop_signals() as pause, only_one_here():
            _, env = read_settings()
            end_orphans(SERVICE)
            end_orphans(SERVERS)
            with Supervisor(LOGS, register=SERVERS, pause=pause, tell=waiting) as servers:
                env |= start_servers(servers, env)
                return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode
    except RunsAlreadyError:
        # `make run` already runs the servers, so the command reads their addresses from the settings file.
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    except (ToolError, ConfigError) as error:
        say(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
