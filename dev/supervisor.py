"""Child processes that end when their parent ends, even if the parent is killed.

Each child has its own session, so a Ctrl-C at the terminal reaches only the parent. The parent then ends the children
in order. Processes that a child has started are in the child's session. So the parent finds these processes even if the
child has died.
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

#: Seconds without processor time after which a starting child counts as hung.
PATIENCE_S = 60.0
#: Seconds between two messages about a child for which the supervisor still waits.
TELL_EVERY_S = 15.0

#: Path of the program setpriv of util-linux, or None. Linux has this program, macOS does not.
SETPRIV = shutil.which("setpriv")

#: Options of setpriv that let the user `nobody` enter root's folders, because a checkout may be in root's home.
ENTER_FOLDERS = ("--securebits=+no_setuid_fixup", "--inh-caps=-all,+dac_override", "--ambient-caps=-all,+dac_override")

NO_SETPRIV = "Root needs `setpriv` of util-linux for this. Work as an ordinary user, or set DATABASE_URL."


class ToolError(Exception):
    """A problem that the developer can solve. The message is printed without a traceback."""


class CrashError(ToolError):
    """A child process failed or hangs. The message contains the last lines of its log."""

    def __init__(self, child: Child, what: str) -> None:
        self.child = child
        lines = child.log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        quoted = "".join(f"\n  | {line}" for line in lines) or "\n  | (it wrote nothing)"
        super().__init__(f"{child.name} {what}. Its last lines, from {short(child.log)}:{quoted}")


@dataclass(frozen=True)
class Child:
    name: str
    process: subprocess.Popen[bytes]
    log: Path
    stop_with: signal.Signals
    patience: float

    def ended(self) -> str | None:
        """Return a text about how the child ended, or None while the child runs."""
        code = self.process.poll()
        if code is None:
            return None
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"


class Supervisor:
    """Context manager that starts child processes, checks that they run, and ends them all on exit.

    `register` is a file with a list of the children. If the parent is killed, `end_orphans` later reads this file.
    `pause` sleeps for some seconds, and may raise an exception to stop a wait. `tell` prints a sentence during a long
    wait. `afterwards` contains callbacks to run after the last child has ended.
    """

    def __init__(
        self,
        logs: Path,
        *,
        register: Path | None = None,
        pause: Callable[[float], None] = time.sleep,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.logs = logs
        self.pause = pause
        self.tell = tell
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
        """Start a child that writes to `<logs>/<name>.log`. The log of the previous run becomes `<name>.log.1`.

        Only our user can read the logs, because a server's log may contain personal data. To end the child, the
        supervisor sends the signal `stop_with`, and SIGKILL after `patience` more seconds. With `never_root`, root
        starts the child as the user `nobody`.
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

    def complete(self, child: Child, *, patience: float = PATIENCE_S) -> None:
        """Wait for the end of a child that ends by itself. Raise `CrashError` if the child fails or hangs."""
        self._wait(lambda: child.ended() is not None, child, patience)
        self.children.remove(child)
        if child.process.returncode != 0:
            raise CrashError(child, f"{child.ended()}")

    def wait_until(self, ready: Callable[[], bool], child: Child, *, patience: float = PATIENCE_S) -> None:
        """Wait until `ready()` is true. Raise `CrashError` if the child ends before `ready()` is true, or hangs."""

        def is_done() -> bool:
            if ready():
                return True
            if ended := child.ended():
                raise CrashError(child, f"{ended} while it started")
            return False

        self._wait(is_done, child, patience)

    def _wait(self, is_done: Callable[[], bool], child: Child, patience: float) -> None:
        """Wait until `is_done()`. Raise `CrashError` if the child uses no processor time for `patience` seconds.

        There is no limit for the total time, because a start can take minutes on a busy machine.
        """
        start = told = looked = worked = time.monotonic()
        used = 0.0
        while not is_done():
            now = time.monotonic()
            if now - looked >= min(1, patience / 4):
                looked, before, used = now, used, _processor_seconds(child)
                worked = now if used != before else worked
            if now - worked > patience:
                raise CrashError(child, f"did nothing for {patience:.0f} s")
            if now - told >= TELL_EVERY_S:
                told = now
                self.tell(f"waiting for {child.name}, {now - start:.0f} s so far ({short(child.log)})")
            self.pause(0.03)

    def check(self) -> None:
        for child in self.children:
            if ended := child.ended():
                raise CrashError(child, f"{ended}, unexpectedly")

    def end(self) -> None:
        """End every child and all processes that a child started. First send the child's signal, then SIGKILL."""
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
            # A child that has already ended gets no entry in the file.
            with contextlib.suppress(psutil.NoSuchProcess), self._register.open("a") as file:
                started = psutil.Process(child.process.pid).create_time()
                file.write(json.dumps([child.process.pid, started, child.stop_with.value]) + "\n")


def end_orphans(register: Path, *, patience: float = 10) -> None:
    """End the children of a supervisor that was killed."""
    if not register.exists():
        return
    for line in register.read_text().splitlines():
        try:
            pid, started, stop_with = json.loads(line)
        except ValueError:  # The supervisor was killed before the line was complete.
            continue
        with contextlib.suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
            leader = psutil.Process(pid)
            if abs(leader.create_time() - started) > 1:
                continue  # The process id belongs to another process now.
            leader.send_signal(stop_with)
            leader.wait(patience)
        kill_session(pid)
    register.unlink()


def _processor_seconds(child: Child) -> float:
    """Return the processor time that a child and its descendants have used."""
    used = 0.0
    with contextlib.suppress(psutil.Error):
        leader = psutil.Process(child.process.pid)
        for process in (leader, *leader.children(recursive=True)):
            used += sum(process.cpu_times())
    return used


def _setpriv(stop_with: signal.Signals, *, as_nobody: bool) -> list[str]:
    """Return the beginning of a command that makes the kernel end the child when its parent dies.

    This works even if the parent dies by SIGKILL.
    """
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


def short(path: Path) -> Path:
    """Return the path relative to the current folder if the path is inside that folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def kill_session(leader: int) -> None:
    """Kill every process in the session of the process `leader`, even if `leader` has ended."""
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(process.pid) == leader:
                process.kill()
