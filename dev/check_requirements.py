"""Every line of every requirements file names one exact version, and no two files disagree. Part of `make
lint`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from config import ROOT

FILES = ("requirements.txt", "dev/requirements.txt", "requirements-dev.txt")
PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[a-z0-9,_-]+\])?==([A-Za-z0-9.!+]+)")


def problems(root: Path, files: tuple[str, ...] = FILES) -> Iterator[str]:
    versions: dict[str, tuple[str, str]] = {}
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
            name, version = re.sub(r"[-_.]+", "-", match[1]).lower(), match[2]
            known, known_where = versions.setdefault(name, (version, where))
            if known_where != where:
                as_what = "" if known == version else f", as {known}"
                yield f"{where}: {name} stands in {known_where} already{as_what}"


if __name__ == "__main__":
    found = list(problems(ROOT))
    print("\n".join(found) or f"Requirements pinned: {', '.join(FILES)}")
    sys.exit(bool(found))
