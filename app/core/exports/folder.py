"""Temporary folders for exports, and the cleanup after killed processes."""

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

#: A process that is killed early leaves a folder without a lock file. After this many seconds, such a folder counts as
#: abandoned.
UNLOCKED_S = 3600


@contextmanager
def export_folder() -> Iterator[Path]:
    """Remove abandoned folders, then create an empty temporary folder. Remove the new folder after the block."""
    sweep()
    with TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with (folder / "new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / LOCK)  # rename the lock file only after it is locked
            yield folder


def sweep() -> None:
    """Remove the folders whose lock is free. The kernel releases a lock when the process ends for any reason."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # the folder belongs to another user, or is already removed
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
