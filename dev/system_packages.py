"""Programs of the system that tests and benchmarks use: `python -m dev.system_packages test`.

`make` runs this once, before the first test or benchmark; nothing else installs packages. As root on Debian it installs
what is missing, in one call of apt-get. Anywhere else it prints what is missing, why it is not installed, and what is
skipped for it. It looks for the programs, not into the package database: milliseconds when all of them are there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """A Debian package that is there when one of its programs is: a name on the PATH, or an absolute pattern."""

    programs: tuple[str, ...]
    purpose: str
    #: The `make` targets that use it.
    targets: tuple[str, ...] = ("test",)
    #: What Debian would start at every boot.
    service: str | None = None


PACKAGES = {
    "nginx": Package(("nginx",), "the service behind deploy/nginx.conf", ("test", "bench", "load"), "nginx"),
    "pgbouncer": Package(("pgbouncer",), "the service behind a pooler", service="pgbouncer"),
    "postgresql": Package(
        ("/usr/lib/postgresql/*/bin/postgres",), "the service on Debian's own PostgreSQL", service="postgresql"
    ),
    "redis-server": Package(("redis-server",), "the service on Debian's own Redis", service="redis-server"),
    "libfaketime": Package(("/usr/lib/*/faketime/libfaketime.so.1",), "clocks that jump", ("test", "chaos")),
    "curl": Package(("curl",), "deploy/rolling-restart"),
    "prometheus": Package(("promtool",), "the alert rules of deploy/prometheus", service="prometheus"),
    "systemd": Package(("systemd-analyze",), "the check of deploy/systemd"),
    "chromium": Package(("chromium", "chromium-browser", "google-chrome"), "the pages in a browser", ("test-browser",)),
    "wrk": Package(("wrk",), "the load of the benchmarks", ("bench",)),
}

#: `Lock::Timeout`: how long to wait for somebody else who installs packages. The others: for a mirror that is silent.
APT_OPTIONS = ("DPkg::Lock::Timeout=600", "Acquire::http::Timeout=20", "Acquire::Retries=1",
               "APT::Update::Error-Mode=any")  # fmt: skip

PACKAGE_LISTS = Path("/var/lib/apt/lists")

#: Asked by Debian's packages before they start a service; 101 forbids it.
POLICY = Path("/usr/sbin/policy-rc.d")
NO_SERVICE = "#!/bin/sh\n# Here only while the tests of the health-support service install packages.\nexit 101\n"


def find(package: str) -> Path | None:
    """Where the program of a package is; of several versions the newest."""
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
        raise LookupError(f"{program} is not here; the package {package} of Debian has it")
    return path


def missing(packages: Iterable[str]) -> list[str]:
    return [package for package in packages if find(package) is None]


def main(target: str) -> None:
    wanted = missing(name for name, package in PACKAGES.items() if target in package.targets)
    if not wanted:
        return
    reason = _obstacle() or _install(wanted)
    if absent := missing(wanted):
        print(f"Missing packages ({reason}), and what is skipped without them:")
        for name in absent:
            print(f"  {name:12} {PACKAGES[name].purpose}")


def _obstacle() -> str | None:
    """Why nothing can be installed here."""
    try:
        debian = platform.freedesktop_os_release()["ID"] == "debian"
    except OSError:
        debian = False
    if not debian or shutil.which("apt-get") is None:
        return "this is not Debian"
    return None if os.geteuid() == 0 else "only root can install them"


def _install(packages: Sequence[str]) -> str:
    """Install the packages; gives apt-get's own words on why some may still be missing."""
    print(f"Installing packages of Debian: {', '.join(packages)}", flush=True)
    with _one_at_a_time(), _no_service_starts():
        reasons = []
        # A second time with fresh lists: the mirror drops what its old lists name.
        for update in (False, True) if any(PACKAGE_LISTS.glob("*_Packages*")) else (True,):
            if not missing(packages):
                break
            if update:
                reasons.append(_apt_get("update"))
            reasons.append(_apt_get("install", "--no-install-recommends", *packages))
    services = [service for name in packages if (service := PACKAGES[name].service) and find(name)]
    if services and shutil.which("systemctl"):
        subprocess.run(["systemctl", "disable", "--quiet", *services], check=False, capture_output=True)
    return next(filter(None, reasons), "apt-get saw no fault")


def _apt_get(*words: str) -> str | None:
    """Run apt-get; gives the line that says why it failed."""
    command = ["apt-get", "--quiet", "--yes", *(word for option in APT_OPTIONS for word in ("-o", option)), *words]
    done = subprocess.run(
        command,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    lines = done.stdout.splitlines() or ["apt-get said nothing"]
    return next((line for line in lines if line.startswith("E: ")), lines[-1])


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Several checkouts wait for one another: apt-get's own waiting covers its installations, not its updates."""
    folder = os.open(PACKAGE_LISTS, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextlib.contextmanager
def _no_service_starts() -> Iterator[None]:
    """A package that brings a server would start it, on a port that may be somebody's."""
    if POLICY.exists() and POLICY.read_text() != NO_SERVICE:  # it is ours where an earlier run was killed
        yield
        return
    POLICY.write_text(NO_SERVICE)
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


if __name__ == "__main__":
    main(sys.argv[1])
