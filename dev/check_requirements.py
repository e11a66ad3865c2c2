"""Every requirement names one exact version, and what the requirements bring along is among them.

Part of `make lint`: a build of tomorrow installs what today's did.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from config import ROOT

FILES = ("requirements.txt", "dev/requirements.txt", "requirements-dev.txt")
PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+]+)")


def problems(root: Path, files: tuple[str, ...] = FILES) -> Iterator[str]:
    """What is wrong, one sentence each."""
    pinned: dict[str, str] = {}
    for file in files:
        for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
            text = line.partition("#")[0].strip()
            if not text or text.startswith("-r "):
                continue
            where = f"{file}:{number}"
            match = PINNED.fullmatch(text)
            if not match:
                yield f"{where}: `{text}` is not pinned as name==version"
                continue
            name = canonicalize_name(match[1])
            if name in pinned:
                yield f"{where}: {name} stands in {pinned[name]} already"
            pinned[name] = where
    for name, where in pinned.items():
        for needed in brought_along(name):
            if needed not in pinned:
                yield f"{where}: {name} brings {needed} along, which is not pinned"


def brought_along(name: str) -> Iterator[str]:
    """Names of the packages that an installed one needs on this machine."""
    try:
        needs = distribution(name).requires or []
    except PackageNotFoundError:
        return  # not for this machine, or not installed yet
    for text in needs:
        need = Requirement(text)
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield canonicalize_name(need.name)


if __name__ == "__main__":
    found = list(problems(ROOT))
    print("\n".join(found) or f"Requirements are pinned: {', '.join(FILES)}")
    sys.exit(bool(found))
