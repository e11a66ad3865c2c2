"""Program that runs another program with only the system calls that a systemd unit allows.

Usage: `python -m tests.e2e.confined UNIT PROGRAM ...`. As with systemd, a forbidden call ends the process with SIGSYS.
Child processes have the same restrictions.
"""

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

from dev.system_packages import require

ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000


def allowed_calls(unit, groups):
    """Return the system calls that the `SystemCallFilter=` lines of a unit allow.

    Lines with `~` remove calls, and other lines add calls.
    """
    calls = _calls("@default", groups)
    for taken_away, names in re.findall(r"^SystemCallFilter=(~?)(.+)$", unit.read_text(), re.MULTILINE):
        named = {call for name in names.split() for call in _calls(name, groups)}
        calls = calls - named if taken_away else calls | named
    return calls


def _calls(name, groups):
    return {call for part in groups[name] for call in _calls(part, groups)} if name.startswith("@") else {name}


def groups_of_systemd():
    """Return the system calls of each group of systemd, such as `@chown`. A group may contain other groups."""
    command = [require("systemd"), "--no-pager", "syscall-filter"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    groups = {}
    for line in printed.splitlines():
        if line.startswith("@"):
            members = groups.setdefault(line, [])
        elif re.fullmatch(r" +@?\w[\w-]*", line):
            members.append(line.strip())
    return groups


def confine(calls):
    """Forbid these system calls for the current process and its children."""
    library = ctypes.CDLL("libseccomp.so.2")  # libseccomp, which systemd also uses
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ALLOW)))
    for call in sorted(calls):
        number = library.seccomp_syscall_resolve_name(call.encode())
        if number >= 0:  # calls of other processor architectures have no number here
            failed = library.seccomp_rule_add(context, ctypes.c_uint32(KILL_PROCESS), number, 0)
            assert not failed, call
    assert library.seccomp_load(context) == 0


if __name__ == "__main__":
    groups = groups_of_systemd()
    confine(_calls("@known", groups) - allowed_calls(Path(sys.argv[1]), groups))
    os.execv(sys.argv[2], sys.argv[2:])
