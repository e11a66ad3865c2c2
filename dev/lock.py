"""`make lock`: write the requirements files with versions and hashes, from the dependencies in `pyproject.toml`.

`make lint` runs `python -m dev.lock --check`. The check needs no network. The check does not fail when a newer release
of a dependency appears.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from config import ROOT

#: Requirements files: name, uv's options for the file, and the files that it includes.
FILES: dict[str, tuple[list[str], list[str]]] = {
    "requirements.txt": ([], []),
    "requirements-s3.txt": (["--group", "s3"], ["requirements.txt"]),
    "requirements-run.txt": (["--group", "run"], ["requirements.txt"]),
    "requirements-dev.txt": (["--group", "dev"], ["requirements-s3.txt", "requirements-run.txt"]),
}

UV = "-m uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras"

ENTRY = re.compile(r"^\w.*(?:\n .*)*\n", re.MULTILINE)
LOCKED = re.compile(r"[\w.-]+(?:\[[\w,.-]+\])?==\S+(?: ; .+)? \\\n(?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+")


def lock(options: list[str]) -> None:
    """Write every requirements file. Versions change only if `pyproject.toml` or an option of uv requires a change."""
    for name, (selection, includes) in FILES.items():
        included = [entry for file in _all_included(includes) for entry in entries(file)]
        with TemporaryDirectory() as folder:
            output = Path(folder) / name
            # uv keeps the versions in an existing output file, so start with the current requirements.
            output.write_text("".join(included + entries(name)))
            command = [sys.executable, *UV.split(), *selection, *options, "--output-file", str(output)]
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            compiled = ENTRY.findall(output.read_text())
        known = {_without_comments(entry) for entry in included}
        own = [entry for entry in compiled if _without_comments(entry) not in known]
        head = [f"# Written by `make lock` from pyproject.toml, {_digest()}\n", *(f"-r {file}\n" for file in includes)]
        (ROOT / name).write_text("".join(head + own))


def faults() -> Iterator[str]:
    """Yield an error message for each outdated file, and for each requirement without a version or without a hash."""
    for name in FILES:
        if _digest() not in (ROOT / name).read_text():
            yield f"{name} is not up to date with pyproject.toml. Run: make lock"
        for entry in entries(name):
            if not LOCKED.match(entry):
                yield f"{name}: no version or hash: {entry.splitlines()[0]}"


def entries(name: str) -> list[str]:
    """Return the requirements in a file, each with its hashes and comments."""
    file = ROOT / name
    return ENTRY.findall(file.read_text()) if file.exists() else []


def _all_included(files: list[str]) -> list[str]:
    return list(dict.fromkeys(each for file in files for each in [*_all_included(FILES[file][1]), file]))


def _without_comments(entry: str) -> str:
    """Return the requirement without its comments, because comments differ from file to file."""
    return entry.partition("    #")[0]


def _digest() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    direct = json.dumps([project["project"]["dependencies"], project["dependency-groups"]], sort_keys=True)
    return f"sha256 {hashlib.sha256(direct.encode()).hexdigest()}"


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        lock(sys.argv[1:])
    elif found := list(faults()):
        sys.exit("\n".join(found))
