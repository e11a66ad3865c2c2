"""A real `rq worker` process, as production starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from config import ROOT
from dev.stack.waiting import PATIENCE_S, wait_until


class RunningWorker:
    """One worker process with its log."""

    def __init__(self, env: dict[str, str], log: Path, module: str, *queues: str) -> None:
        self.log = log
        self._file: IO[bytes] = log.open("wb")
        rq = Path(sys.executable).parent / "rq"
        self.process = subprocess.Popen(
            [str(rq), "worker", "-c", module, "-w", f"{module}.Worker", *queues],
            cwd=ROOT,
            env={**os.environ, **env},
            stderr=self._file,
            stdout=self._file,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def children(self) -> list[int]:
        return [pid for pid, parent in processes().items() if parent == self.pid]

    def clock(self) -> int:
        """The clock's process id; waits for it. It is a fork of the worker, other than what a library may call."""
        found: list[int] = []

        def is_there() -> bool:
            ours = _command_line(self.pid)  # empty for a moment, as the worker starts
            found[:] = [pid for pid in self.children() if _command_line(pid) == ours]
            return bool(found)

        wait_until(is_there)
        return found[0]

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self._file.close()

    def kill(self) -> None:
        """End it, its clock and its job at once: a job is a group of its own, which outlives its worker."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)  # it forks no more
            for child in self.children():
                os.kill(child, signal.SIGKILL)
        self.end(signal.SIGKILL)
        with suppress(ProcessLookupError):  # its clock would see at its next tick that it is alone
            os.killpg(self.pid, signal.SIGKILL)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def processes() -> dict[int, int]:
    """Every living process and its parent."""
    found: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                found[int(entry.name)] = int(fields[1])
    return found
