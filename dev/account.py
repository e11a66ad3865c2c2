"""The account that PostgreSQL, which refuses root, runs under when a developer is root, as in containers."""

from __future__ import annotations

import ctypes
import os
import pwd
import sys
from dataclasses import dataclass
from pathlib import Path

STAND_IN = "nobody"

# linux/prctl.h, linux/capability.h
PR_SET_KEEPCAPS = 8
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2
CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522


@dataclass(frozen=True)
class Account:
    """Whom to become, and whether the way to the files leads through a folder that only root may enter."""

    uid: int
    gid: int
    behind_closed_doors: bool
    place: Path

    @property
    def refusal(self) -> str:
        return (
            f"PostgreSQL refuses to run as root, and `{STAND_IN}` may not enter {self.place}. "
            "Move the checkout to a folder that everybody may enter, or work as an ordinary user, "
            "or set DATABASE_URL."
        )

    def become(self) -> None:
        """Runs in the child, before exec."""
        if self.behind_closed_doors:
            _prctl(PR_SET_KEEPCAPS, 1)
        os.setgroups([])
        os.setgid(self.gid)
        os.setuid(self.uid)
        if self.behind_closed_doors:
            _keep_only(CAP_DAC_OVERRIDE)


def stand_in(*places: Path) -> Account | None:
    """Whom to run as so that all `places` can be used; `None` when we are not root and stay who we are."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam(STAND_IN)
    return Account(entry.pw_uid, entry.pw_gid, not all(map(_open_to_all, places)), places[0])


def _open_to_all(place: Path) -> bool:
    """Whether every folder above `place` may be entered by everybody."""
    return all(folder.stat().st_mode & 0o001 for folder in place.absolute().parents)


def _keep_only(capability: int) -> None:
    """Keep one of root's capabilities, over exec too.

    Widening the permissions of root's folders instead would outlive us; this ends with the process.
    """
    if sys.platform != "linux":
        raise OSError("capabilities are a Linux matter")
    bit = 1 << capability
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


def _prctl(option: int, first: int, second: int = 0) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, first, second, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
