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

#: Seconds without any use of a processor after which a child that starts is taken for hung.
PATIENCE_S = 60.0
#: Seconds between two lines that say what is waited for.
TELL_EVERY_S = 15.0

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
        super().__init__(f"{child.name} {what}. Its last lines, from {short(child.log)}:{quoted}")


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
    starter be killed. `pause` sleeps for some seconds; it may raise to break off any waiting. `tell` takes a
    sentence when waiting takes long. `afterwards` takes what is to be cleaned up when all have ended.
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

    def complete(self, child: Child, *, patience: float = PATIENCE_S) -> None:
        """Wait for a child that ends by itself. Raise `CrashError` when it fails or hangs."""
        self._wait(lambda: child.ended() is not None, child, patience)
        self.children.remove(child)
        if child.process.returncode != 0:
            raise CrashError(child, f"{child.ended()}")

    def wait_until(self, ready: Callable[[], bool], child: Child, *, patience: float = PATIENCE_S) -> None:
        """Wait until `ready()`. Raise `CrashError` when the child ends before or hangs."""

        def is_done() -> bool:
            if ready():
                return True
            if ended := child.ended():
                raise CrashError(child, f"{ended} while it started")
            return False

        self._wait(is_done, child, patience)

    def _wait(self, is_done: Callable[[], bool], child: Child, patience: float) -> None:
        """Wait as long as the child works, which may be long on a busy machine."""
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


def _processor_seconds(child: Child) -> float:
    """Return the processor time that a child and its descendants have used."""
    used = 0.0
    with contextlib.suppress(psutil.Error):
        leader = psutil.Process(child.process.pid)
        for process in (leader, *leader.children(recursive=True)):
            used += sum(process.cpu_times())
    return used


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


def short(path: Path) -> Path:
    """Return a path as a person in this folder would write it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def kill_session(leader: int) -> None:
    """Kill every process of the session that `leader` leads or led."""
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(process.pid) == leader:
                process.kill()
