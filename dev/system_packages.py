"""System programs that some `make` targets need.

`python -m dev.system_packages test-all` exits with 1 if packages for `make test-all` are missing. It prints the names
of the missing packages and the command that installs them.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """A Debian package.

    The package counts as installed if one of `programs` exists. A program is a name on the PATH or an absolute glob
    pattern.
    """

    programs: tuple[str, ...]
    purpose: str
    #: The `make` targets that need the package.
    targets: tuple[str, ...] = ("test-all",)


PACKAGES = {
    "nginx": Package(("nginx",), "the service behind deploy/nginx.conf", ("test-all", "bench", "load")),
    "pgbouncer": Package(("pgbouncer",), "the service behind a pooler"),
    "postgresql": Package(("/usr/lib/postgresql/*/bin/postgres",), "the service on Debian's own PostgreSQL"),
    "redis-server": Package(("redis-server",), "the service on Debian's own Redis"),
    "libfaketime": Package(("/usr/lib/*/faketime/libfaketime.so.1",), "wrong clocks"),
    "curl": Package(("curl",), "deploy/rolling-restart"),
    "prometheus": Package(("promtool",), "the alert rules of deploy/prometheus"),
    "systemd": Package(("systemd-analyze",), "the check of deploy/systemd"),
    "npm": Package(("npm",), "linters of the OpenAPI document and a TypeScript client", ("test-all", "client")),
    "chromium": Package(("chromium", "chromium-browser", "google-chrome"), "the pages in a browser", ("test-browser",)),
    "wrk": Package(("wrk",), "the load of the benchmarks", ("bench",)),
}

INSTALL = "apt-get install --no-install-recommends"


def find(package: str) -> Path | None:
    """Return the path of a package's program, or None. If there are several versions, return the newest."""
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    for program in PACKAGES[package].programs:
        if program.startswith("/"):
            match = max(Path("/").glob(program[1:]), default=None)
        else:
            match = shutil.which(program, path=path)
        if match:
            return Path(match)
    return None


def require(package: str) -> Path:
    path = find(package)
    if path is None:
        program = Path(PACKAGES[package].programs[0]).name
        raise LookupError(f"{program} is missing. Debian and Ubuntu: {INSTALL} {package}")
    return path


def missing(targets: list[str]) -> list[str]:
    needed = [name for name, package in PACKAGES.items() if set(targets) & set(package.targets)]
    return [name for name in needed if find(name) is None]


def report(target: str) -> str | None:
    """Return a text with the missing packages of a `make` target and the command that installs them.

    Return None if no package is missing.
    """
    names = missing([target])
    if not names:
        return None
    lines = [f"  {name:12} {PACKAGES[name].purpose}" for name in names]
    sudo = "" if os.geteuid() == 0 else "sudo "
    command = f"  {sudo}apt-get update && {sudo}{INSTALL} {' '.join(names)}"
    return "\n".join([f"`make {target}` needs these packages:", *lines, "On Debian and Ubuntu:", command])


if __name__ == "__main__":
    if sys.argv[1] == "--names":  # used by continuous integration
        print(*missing(sys.argv[2:]))
    else:
        sys.exit(report(sys.argv[1]))
