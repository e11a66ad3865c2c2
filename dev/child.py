"""The first moments of a child: gives up root if asked to, ties its life to its starter's, becomes the program.

`python -I -S dev/child.py '{"starter": 1, "stop_with": 15, "account": null}' program words...`

A process between a fork and an exec must not run Python when its starter has threads; this one is past its exec and
may. It uses the standard library alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from typing import NoReturn

# linux/prctl.h, linux/securebits.h, linux/capability.h
PR_SET_PDEATHSIG = 1
PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP = 28, 1 << 2
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2
CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522

REFUSAL = """\
It cannot run as root, and its stand-in may not enter the folder of the checkout ({error}).
Move the checkout to a folder that everybody may enter, or work as an ordinary user, or set DATABASE_URL."""


def main(starter: int, stop_with: int, account: dict[str, int] | None, command: list[str]) -> NoReturn:
    if account:
        try:
            become(**account)
        except OSError as error:
            sys.exit(REFUSAL.format(error=error))
    if sys.platform == "linux":
        # The kernel ends us when our starter dies, even by SIGKILL. A change of account would undo this.
        prctl(PR_SET_PDEATHSIG, stop_with)
    if os.getppid() != starter:
        os.kill(os.getpid(), signal.SIGKILL)
    os.execv(command[0], command)


def become(uid: int, gid: int, behind_closed_doors: int) -> None:
    """Be somebody else, who can still enter folders that only root may, if `behind_closed_doors`."""
    if behind_closed_doors:
        # A change of account then takes no capabilities away, nor does access(2), by which PostgreSQL finds its parts.
        prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if behind_closed_doors:
        keep_only(CAP_DAC_OVERRIDE)


def keep_only(capability: int) -> None:
    """Keep one of root's capabilities, over exec too.

    Widening the permissions of root's folders instead would outlive us; this ends with the process.
    """
    bit = 1 << capability
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "capset failed")
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


def prctl(option: int, first: int, second: int = 0) -> None:
    if sys.platform != "linux":
        raise OSError(0, "this takes Linux")
    if ctypes.CDLL(None, use_errno=True).prctl(option, first, second, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]), command=sys.argv[2:])
