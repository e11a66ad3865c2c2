"""Fonts of the PDF exports. The files match their checksums and are small."""

import hashlib

from app.core.exports import fonts

FILES = sorted(fonts.FOLDER.glob("*.woff"))


def test_each_font_file_matches_its_recorded_checksum():
    sums = dict(line.split()[::-1] for line in (fonts.FOLDER / "SHA256SUMS").read_text().splitlines())
    assert sums == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}
    assert set(FILES) == {fonts.NOTO_SANS, fonts.NOTO_SANS_BOLD}
    assert sum(path.stat().st_size for path in fonts.FOLDER.iterdir()) < 400_000


def test_regular_and_bold_have_the_same_characters_and_the_replacement_sign():
    assert fonts.widths(fonts.NOTO_SANS).keys() == fonts.widths(fonts.NOTO_SANS_BOLD).keys()
    assert ord(fonts.REPLACEMENT) in fonts.widths(fonts.NOTO_SANS)


def test_only_unsupported_characters_become_a_replacement_sign():
    for name in ("Siti Nur'aini", "André Müller", "Nguyễn Văn Đức", "Αλέξης", "Дмитрий"):
        assert fonts.replace_missing_glyphs(name) == name
    assert fonts.replace_missing_glyphs("Budi 陳 محمد") == "Budi \ufffd \ufffd\ufffd\ufffd\ufffd"
    assert fonts.replace_missing_glyphs("a\nb é") == "a\nb é"
    assert {fonts.replace_missing_glyphs(chr(c)) for c in range(0x80, 0xA0)} == {fonts.REPLACEMENT}
