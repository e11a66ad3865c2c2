"""Every requirement names one exact version, and what the requirements bring along is among them.

Part of `make lint`: a build of tomorrow installs what today's did. Each file has to be complete by itself, together
with the files that it includes, on every Python that the service runs on, whichever of them runs this check.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import cast

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from config import ROOT

FILES = ("requirements.txt", "requirements-s3.txt", "dev/requirements.txt", "requirements-dev.txt")

#: Python 3.11 to 3.14, with both sides of 3.11.3, which packages' markers name. Debian 12 has 3.11.2.
PYTHONS = ("3.11.0", "3.11.2", "3.11.3", "3.12.0", "3.13.0", "3.14.0")

PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+]+)(?:\s*;\s*(.+))?")

#: What stands below this comment stands there for another package.
BROUGHT_ALONG = "# what those bring along"


@dataclass(frozen=True)
class Pin:
    """One line of a requirements file."""

    where: str
    name: str
    version: str
    marker: Marker | None
    brought_along: bool

    def applies(self, python: str) -> bool:
        return holds(self.marker, python)


@dataclass(frozen=True)
class Need:
    """A package that a pinned one brings along: the versions that serve it, and the Pythons on which it does."""

    name: str
    versions: SpecifierSet
    pythons: list[str]


def problems(root: Path, files: Sequence[str] = FILES) -> Iterator[str]:
    """What is wrong, one sentence each."""
    root = root.resolve()
    sentences = (sentence for file in files for sentence in problems_of(root / file, root))
    yield from dict.fromkeys(sentences)  # once, although several files include the same one


def problems_of(file: Path, root: Path) -> Iterator[str]:
    """What is wrong with one file and those that it includes."""
    pins: dict[str, Pin] = {}
    for where, text, brought_along in lines(file, root):
        match = PINNED.fullmatch(text)
        if not match:
            yield f"{where}: `{text}` is not pinned as name==version"
            continue
        name = canonicalize_name(match[1])
        if name in pins and pins[name].where != where:
            yield f"{where}: {name} stands in {pins[name].where} already"
        pins[name] = Pin(where, name, match[2], Marker(match[3]) if match[3] else None, brought_along)
    needed: set[str] = set()
    for pin in pins.values():
        if installed := installed_as(pin.name):
            needs = list(brought_along_by(pin, installed))
            needed |= {need.name for need in needs}
            yield from refusals(pin, installed)
            for need in needs:
                yield from gaps(pin, need, pins.get(need.name))
    for pin in pins.values():
        if pin.brought_along and pin.name not in needed:
            yield f"{pin.where}: nothing brings {pin.name} along"


def lines(file: Path, root: Path) -> Iterator[tuple[str, str, bool]]:
    """Of each requirement where it stands, its text, and whether it stands among those that others bring along."""
    brought_along = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        brought_along = brought_along or line.startswith(BROUGHT_ALONG)
        text = line.partition("#")[0].strip()
        if text.startswith("-r "):
            yield from lines((file.parent / text[3:].strip()).resolve(), root)
        elif text:
            yield f"{file.relative_to(root)}:{number}", text, brought_along


def installed_as(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None  # not for this machine and this Python, or not installed yet


def brought_along_by(pin: Pin, installed: Distribution) -> Iterator[Need]:
    for need in map(Requirement, installed.requires or ()):
        if pythons := [python for python in PYTHONS if pin.applies(python) and holds(need.marker, python)]:
            yield Need(canonicalize_name(need.name), need.specifier, pythons)


def refusals(pin: Pin, installed: Distribution) -> Iterator[str]:
    metadata = cast(Message, installed.metadata)  # which is one, and whose type says less of it
    supported = SpecifierSet(metadata.get("Requires-Python", ""))
    if refused := [python for python in PYTHONS if pin.applies(python) and python not in supported]:
        yield f"{pin.where}: {pin.name} does not run on Python {', '.join(refused)}"


def gaps(pin: Pin, need: Need, pinned: Pin | None) -> Iterator[str]:
    missing = [python for python in need.pythons if not pinned or not pinned.applies(python)]
    if missing:
        where = "" if missing == list(PYTHONS) else f" for Python {', '.join(missing)}"
        yield f"{pin.where}: {pin.name} brings {need.name} along, which is not pinned{where}"
    elif pinned and not need.versions.contains(pinned.version, prereleases=True):
        yield f"{pinned.where}: {pinned.name} is {pinned.version}, but {pin.name} needs {need.versions}"


def holds(marker: Marker | None, python: str) -> bool:
    """Whether a marker is true under a Python such as 3.11.2 on this machine, without extras."""
    minor = python.rpartition(".")[0]
    versions = {"python_version": minor, "python_full_version": python, "implementation_version": python}
    return marker is None or marker.evaluate({**versions, "extra": ""})


if __name__ == "__main__":
    faults = list(problems(ROOT))
    print("\n".join(faults) or f"Requirements are pinned for Python 3.11 to 3.14: {', '.join(FILES)}")
    sys.exit(bool(faults))
