"""Makes the fonts of the PDF exports, in `app/core/exports/data/`, from published packages.

    mkdir packages && cd packages
    apt-get download fonts-noto-core=20201225-1 fonts-wqy-microhei=0.2.0-beta-3.1
    pip download --no-deps fontpkg-noto-sans==2.15 fontpkg-noto-sans-arabic==2.12
    npm pack @expo-google-fonts/noto-emoji@0.4.7
    cd .. && python -m dev.generators.fonts packages

The first line is for Debian 12, whose tools unpack the files. The service's folder keeps of each font one weight, what
shaping needs where letters join or move, and no hints, which paper has no use for. None of the packages is needed to
run the service.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import subprocess
import tarfile
import unicodedata
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont, sfnt
from fontTools.varLib import instancer

from app.core.exports import fonts

NOTO_CORE = "fonts-noto-core_20201225-1_all.deb"
WQY = "fonts-wqy-microhei_0.2.0-beta-3.1_all.deb"
NOTO_SANS = "fontpkg_noto_sans-2.15-py3-none-any.whl"
ARABIC = "fontpkg_noto_sans_arabic-2.12-py3-none-any.whl"
EMOJI = "expo-google-fonts-noto-emoji-0.4.7.tgz"

SHA256 = {
    NOTO_CORE: "58f4f0bb6720f919f92096b3508e1412a0f1544424ade6c5b5bf1eb694dd64ba",
    WQY: "239163df984eea5c9da3b551aee374936222cdbd67f1a1be3cdcf3d76143ad66",
    NOTO_SANS: "54016cb4dfbfdd8f0cae3d71a9401a73e786a473debd12f1d79067e349c9a4a3",
    ARABIC: "eeca37a7ad6854bf1b6aa42bbce1908a6a6dcd2252ed56d021c20b613f6d16fc",
    EMOJI: "6a25fd5a4da5bb34bbc2d300531bbf32de86afd866e119314d7e358f61a6104d",
}

#: Scripts that Noto has a font for, the last six of them of Indonesia.
SCRIPTS = (
    *("Armenian", "Bengali", "Devanagari", "Ethiopic", "Georgian", "Gujarati", "Gurmukhi", "Hebrew", "Kannada"),
    *("Khmer", "Lao", "Malayalam", "Myanmar", "Oriya", "Sinhala", "Tamil", "Telugu", "Thai"),
    *("Balinese", "Batak", "Buginese", "Javanese", "Rejang", "Sundanese"),
)

#: Slightly narrow, for tables.
WIDTH = 87.5

#: Notices and names; what else a font says about itself stays behind.
NAMES = [0, 1, 2, 3, 4, 5, 6, 13, 14]

#: Tables of editors, of hints for screens and of vertical text.
NEEDLESS = ["BASE", "DSIG", "FFTM", "STAT", "gasp", "vhea", "vmtx"]


@dataclass(frozen=True)
class Source:
    """A font in a package, what it becomes, and at which point of its axes."""

    name: str
    package: str
    file: str
    axes: dict[str, float] = field(default_factory=dict)


SOURCES = [
    Source("NotoSans", NOTO_SANS, "NotoSans[wdth,wght].ttf", {"wdth": WIDTH, "wght": 400}),
    Source("NotoSans-Bold", NOTO_SANS, "NotoSans[wdth,wght].ttf", {"wdth": WIDTH, "wght": 700}),
    Source("NotoSansArabic", ARABIC, "NotoSansArabic[wdth,wght].ttf", {"wdth": 100, "wght": 400}),
    *(Source(f"NotoSans{script}", NOTO_CORE, f"NotoSans{script}-Regular.ttf") for script in SCRIPTS),
    Source("NotoSansSymbols", NOTO_CORE, "NotoSansSymbols-Regular.ttf"),
    Source("NotoEmoji", EMOJI, "NotoEmoji_400Regular.ttf"),
    Source("WenQuanYiMicroHei", WQY, "wqy-microhei.ttc"),
]


def make(source: Source, data: bytes) -> bytes:
    """The font as it lies in the service's folder: a WOFF file, whose tables are compressed one by one."""
    font = TTFont(io.BytesIO(data), fontNumber=0, recalcTimestamp=False)
    characters = {character for character in font.getBestCmap() if unicodedata.category(chr(character)) != "Cc"}
    if source.package == NOTO_SANS:  # its Devanagari is the same as that of the font for Devanagari
        characters = {character for character in characters if not fonts.is_complex(chr(character))}
    if source.axes:
        font = instancer.instantiateVariableFont(font, source.axes)
    shaped = fonts.is_complex("".join(map(chr, characters)))
    options = subset.Options(
        layout_features=["*"] if shaped else [], notdef_outline=True, hinting=False, glyph_names=False, name_IDs=NAMES
    )
    options.drop_tables += NEEDLESS if shaped else NEEDLESS + fonts.FOR_SHAPING
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    font.flavor = "woff"
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()


def unpacked(package: Path) -> dict[str, bytes]:
    """The fonts in a package by the names of their files; it must be the very package that is named above."""
    data = package.read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256[package.name]:
        raise ValueError(f"{package.name} is not the one that the fonts were made from")
    if package.suffix == ".whl":
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            return {Path(name).name: wheel.read(name) for name in wheel.namelist() if name.endswith(".ttf")}
    if package.suffix == ".deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = [member for member in archive if member.isfile() and member.name.endswith((".ttf", ".ttc"))]
        return {Path(member.name).name: archive.extractfile(member).read() for member in members}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path, help="the folder that they were downloaded into")
    folder: Path = parser.parse_args().packages
    sfnt.ZLIB_COMPRESSION_LEVEL = 9
    files = {name: unpacked(folder / name) for name in SHA256}
    sums = []
    for source in SOURCES:
        file = fonts.FOLDER / f"{source.name}.woff"
        data = make(source, files[source.package][source.file])
        file.write_bytes(data)
        sums.append(f"{hashlib.sha256(data).hexdigest()}  {file.name}\n")
        print(f"{file.name:30} {len(data):>9,}")
    (fonts.FOLDER / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
