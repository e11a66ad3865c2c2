"""Folders for the files of one export, and the end of those whose processes were killed."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

PREFIX = "health-export-"
LOCK = "lock"

#: Seconds after which a folder without a lock belongs to a process that was killed before it made one.
UNLOCKED_S = 3600


@contextmanager
def export_folder() -> Iterator[Path]:
    """An empty folder of one's own, removed at the end; those that killed processes left are removed first."""
    sweep()
    with TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with (folder / "new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / LOCK)  # nobody sees it before it is held
            yield folder


def sweep() -> None:
    """Remove the folders whose lock nobody holds: the kernel gives it back when a process ends, however it does."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or gone meanwhile
            if _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        with (folder / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except BlockingIOError:
        return False
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime > UNLOCKED_S
