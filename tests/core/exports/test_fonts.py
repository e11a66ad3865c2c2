"""The fonts in the repository are those that `dev.generators.fonts` made, and they are licensed and small."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from app.core.exports import fonts
from dev.generators.fonts import SOURCES

FILES = sorted(fonts.FOLDER.glob("*.woff"))

#: Which text lies beside the fonts whose own notice names this address.
LICENCES = {
    "scripts.sil.org/OFL": "OFL-1.1.txt",
    "openfontlicense.org": "OFL-1.1.txt",
    "www.apache.org/licenses/LICENSE-2.0": "Apache-2.0.txt",
}


def test_each_file_has_the_sum_that_is_written_down() -> None:
    sums = dict(line.split()[::-1] for line in (fonts.FOLDER / "SHA256SUMS").read_text().splitlines())
    assert sums == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}
    assert {Path(name).stem for name in sums} == {source.name for source in SOURCES}


def test_all_of_it_takes_less_than_four_megabytes() -> None:
    assert sum(path.stat().st_size for path in fonts.FOLDER.iterdir()) < 4_000_000


def test_a_font_says_whose_it_is_and_its_licence_lies_beside_it(subtests: pytest.Subtests) -> None:
    for path in FILES:
        with subtests.test(path.stem), TTFont(BytesIO(path.read_bytes())) as font:
            names = font["name"]
            assert "copyright" in names.getDebugName(0).lower()
            _, _, address = names.getDebugName(14).partition("://")
            assert "Version" in (fonts.FOLDER / LICENCES[address]).read_text(encoding="utf-8")


def test_no_font_shows_a_control_character() -> None:
    assert [character for character in (*range(0x20), *range(0x7F, 0xA0)) if fonts.font_of(character)] == []
