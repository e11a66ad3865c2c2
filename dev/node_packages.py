"""The linters of the OpenAPI document and TypeScript, pinned in `dev/client`: `python -m dev.node_packages`.

`make` runs this once, before the first test; nothing else installs packages. Where npm is not at hand it prints what is
skipped for it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from config import ROOT

CLIENT = ROOT / "dev" / "client"

SKIPPED = "{reason}, so redocly, spectral and a strict TypeScript client are not tried on the OpenAPI document."


def are_installed(client: Path = CLIENT) -> bool:
    """Whether `node_modules` holds what the lock file names."""
    lock, stamp = client / "package-lock.json", _stamp(client)
    return stamp.exists() and stamp.read_bytes() == lock.read_bytes()


def install(client: Path = CLIENT) -> str | None:
    """Install what the lock file names, scripts of the packages left out; gives the reason when that cannot be."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not here"
    print(f"Installing the packages of {client.relative_to(client.parents[1])}", flush=True)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=client, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"npm failed ({next(iter(done.stderr.splitlines()), 'it said nothing')})"
    # Written last: an installation that was broken off is done again.
    _stamp(client).write_bytes((client / "package-lock.json").read_bytes())
    return None


def main() -> None:
    if not are_installed() and (reason := install()):
        print(SKIPPED.format(reason=reason))


def _stamp(client: Path) -> Path:
    return client / "node_modules" / ".installed.json"


if __name__ == "__main__":
    main()
