"""Generator of the two fonts for PDF exports. It reads a published package and writes to `app/core/exports/data/`.

    pip download --no-deps --dest packages fontpkg-noto-sans==2.15
    python -m dev.generators.fonts packages

The generator removes data that PDF files do not need: screen hints, layout tables and glyph names.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import unicodedata
import zipfile
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont, sfnt
from fontTools.varLib import instancer

from app.core.exports import fonts

PACKAGE = "fontpkg_noto_sans-2.15-py3-none-any.whl"
SHA256 = "54016cb4dfbfdd8f0cae3d71a9401a73e786a473debd12f1d79067e349c9a4a3"
FILE = "NotoSans[wdth,wght].ttf"

WEIGHTS = {fonts.NOTO_SANS: 400, fonts.NOTO_SANS_BOLD: 700}

#: Width of the glyphs, in percent of the normal width.
WIDTH = 87.5

#: Devanagari letters, which are dropped. They need text shaping, and the PDF exports have no text shaping.
DEVANAGARI = range(0x0900, 0x0980)

#: Entries of the font's `name` table to keep: copyright notices, font names and the licence.
NAMES = [0, 1, 2, 3, 4, 5, 6, 13, 14]

#: Font tables to drop. They are for editors, screen hints, vertical text and shaping.
NEEDLESS = ["BASE", "DSIG", "FFTM", "STAT", "gasp", "vhea", "vmtx", "GSUB", "GPOS", "GDEF"]


def make(data: bytes, weight: int) -> bytes:
    font = TTFont(io.BytesIO(data), recalcTimestamp=False)
    characters = {
        character
        for character in font.getBestCmap()
        if unicodedata.category(chr(character)) != "Cc" and character not in DEVANAGARI
    }
    font = instancer.instantiateVariableFont(font, {"wdth": WIDTH, "wght": weight})
    options = subset.Options(layout_features=[], notdef_outline=True, hinting=False, glyph_names=False, name_IDs=NAMES)
    options.drop_tables += NEEDLESS
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    font.flavor = "woff"
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path, help="the folder of the downloaded package")
    package = (parser.parse_args().packages / PACKAGE).read_bytes()
    if hashlib.sha256(package).hexdigest() != SHA256:
        raise ValueError(f"{PACKAGE} has another SHA-256 than the one named here")
    with zipfile.ZipFile(io.BytesIO(package)) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(FILE))
        source = wheel.read(name)
    sfnt.ZLIB_COMPRESSION_LEVEL = 9
    sums = []
    for path, weight in WEIGHTS.items():
        data = make(source, weight)
        path.write_bytes(data)
        sums.append(f"{hashlib.sha256(data).hexdigest()}  {path.name}\n")
        print(f"{path.name:30} {len(data):>9,}")
    (fonts.FOLDER / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
