"""Processes that are started together and end together, whatever happens to the one who started them.

Each child leads a session of its own, so that a Ctrl-C at the terminal reaches its starter alone, who then
ends the children in order; and all that a child started can be found by that session, even after its death.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

TAIL_LINES = 15
LOG_MODE = 0o600

#: A program of util-linux, which every Linux has and macOS lacks.
SETPRIV = shutil.which("setpriv")

#: Lets a child of root that is no longer root enter the folders of root, for example a checkout in root's home.
ENTER_FOLDERS = ("--securebits=+no_setuid_fixup", "--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override")

NO_SETPRIV = "Root needs `setpriv` of util-linux for this. Work as an ordinary user, or set DATABASE_URL."


class ToolError(Exception):
    """What a person must know, in words that need no traceback."""


class CrashError(ToolError):
    """A child ended, or did not get ready; the message shows its last lines."""

    def __init__(self, child: Child, what: str) -> None:
        self.child = child
        lines = child.log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        quoted = "".join(f"\n  | {line}" for line in lines) or "\n  | (it wrote nothing)"
        super().__init__(f"{child.name} {what}. Its last lines, from {_short(child.log)}:{quoted}")


@dataclass(frozen=True)
class Child:
    name: str
    process: subprocess.Popen[bytes]
    log: Path
    stop_with: signal.Signals
    patience: float

    def ended(self) -> str | None:
        """How it ended, in words; `None` while it runs."""
        code = self.process.poll()
        if code is None:
            return None
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"


class Supervisor:
    """Starts children, watches them, and ends them all when its `with` block is left, however it is left.

    `register` is a file that remembers the children, so that `end_orphans` finds them should even their
    starter be killed. `pause` sleeps for some seconds; it may raise to break off any waiting. `afterwards`
    takes what is to be cleaned up when all have ended.
    """

    def __init__(
        self, logs: Path, *, register: Path | None = None, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.logs = logs
        self.pause = pause
        self.children: list[Child] = []
        self.afterwards = contextlib.ExitStack()
        self._register = register

    def __enter__(self) -> Self:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        with self.afterwards:
            self.end()

    def spawn(
        self,
        name: str,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        never_root: bool = False,
        stop_with: signal.Signals = signal.SIGTERM,
        patience: float = 20,
    ) -> Child:
        """Start a child whose output goes to `<logs>/<name>.log`; that of the run before stays as `.log.1`.

        Nobody but the starter reads either: a server's log may quote what people wrote.

        `stop_with` is the signal that ends it orderly, `patience` the seconds that it gets for that. `never_root` is
        for a program that refuses to run as root: nobody runs it then.
        """
        log = self.logs / f"{name}.log"
        if log.exists():
            log.chmod(LOG_MODE)
            log.replace(log.with_suffix(".log.1"))
        with open(log, "wb", opener=_with_log_mode) as output:
            process = subprocess.Popen(
                [*_setpriv(stop_with, as_nobody=never_root and os.geteuid() == 0), *map(str, argv)],
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        child = Child(name, process, log, stop_with, patience)
        self.children.append(child)
        self._remember(child)
        return child

    def complete(self, child: Child, *, patience: float = 600) -> None:
        """Wait for the end of a child that has one of its own; raise `CrashError` when it was a bad one."""
        deadline = time.monotonic() + patience
        while child.process.poll() is None:
            if time.monotonic() > deadline:
                raise CrashError(child, f"was not done after {patience:.0f} s")
            self.pause(0.02)
        self.children.remove(child)
        if child.process.returncode != 0:
            raise CrashError(child, f"{child.ended()}")

    def wait_until(self, ready: Callable[[], bool], child: Child, *, patience: float = 60) -> None:
        """Wait until `ready()`; raise `CrashError` when the child ends before, or takes too long."""
        deadline = time.monotonic() + patience
        while not ready():
            if ended := child.ended():
                raise CrashError(child, f"{ended} while it started")
            if time.monotonic() > deadline:
                raise CrashError(child, f"was not ready after {patience:.0f} s")
            self.pause(0.03)

    def check(self) -> None:
        """Raise `CrashError` when a child ended on its own."""
        for child in self.children:
            if ended := child.ended():
                raise CrashError(child, f"{ended}, unexpectedly")

    def end(self) -> None:
        """End every child: asked first, all at once, then forced; and whatever they had started with them."""
        for child in self.children:
            if child.process.poll() is None:
                child.process.send_signal(child.stop_with)
        for child in reversed(self.children):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(child.patience)
            kill_session(child.process.pid)
            child.process.wait()
        self.children.clear()
        if self._register:
            self._register.unlink(missing_ok=True)

    def _remember(self, child: Child) -> None:
        if self._register:
            # A child that is gone already needs no remembering.
            with contextlib.suppress(psutil.NoSuchProcess), self._register.open("a") as file:
                started = psutil.Process(child.process.pid).create_time()
                file.write(json.dumps([child.process.pid, started, child.stop_with.value]) + "\n")


def end_orphans(register: Path, *, patience: float = 10) -> None:
    """End what is left of a supervisor whose starter was killed."""
    if not register.exists():
        return
    for line in register.read_text().splitlines():
        try:
            pid, started, stop_with = json.loads(line)
        except ValueError:  # cut short by the kill
            continue
        with contextlib.suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
            leader = psutil.Process(pid)
            if abs(leader.create_time() - started) > 1:
                continue  # the number belongs to somebody else now, so the session is long gone
            leader.send_signal(stop_with)
            leader.wait(patience)
        kill_session(pid)
    register.unlink()


def _setpriv(stop_with: signal.Signals, *, as_nobody: bool) -> list[str]:
    """Return the words before a command that let the kernel end it when its starter dies, even by SIGKILL."""
    if SETPRIV is None:
        if as_nobody:
            raise ToolError(NO_SETPRIV)
        return []
    words = [SETPRIV, f"--pdeathsig={stop_with.name}"]
    if as_nobody:
        nobody = pwd.getpwnam("nobody")
        words += [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", *ENTER_FOLDERS]
    return words


def _with_log_mode(path: str, flags: int) -> int:
    return os.open(path, flags, LOG_MODE)


def _short(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def kill_session(leader: int) -> None:
    """Kill every process of the session that `leader` leads or led."""
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(process.pid) == leader:
                process.kill()
