"""The 38 provinces of Indonesia: the service's own spelling, every other that it understands, time zones.

The law of 2022 split Papua into six; there were 34 before.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

#: The contract's spelling and order. Output never shows another.
PROVINCES: tuple[str, ...] = (
    "Aceh",
    "Sumatera Utara",
    "Sumatera Barat",
    "Riau",
    "Jambi",
    "Sumatera Selatan",
    "Bengkulu",
    "Lampung",
    "Kepulauan Bangka Belitung",
    "Kepulauan Riau",
    "DKI Jakarta",
    "Jawa Barat",
    "Jawa Tengah",
    "DI Yogyakarta",
    "Jawa Timur",
    "Banten",
    "Bali",
    "Nusa Tenggara Barat",
    "Nusa Tenggara Timur",
    "Kalimantan Barat",
    "Kalimantan Tengah",
    "Kalimantan Selatan",
    "Kalimantan Timur",
    "Kalimantan Utara",
    "Sulawesi Utara",
    "Sulawesi Tengah",
    "Sulawesi Selatan",
    "Sulawesi Tenggara",
    "Gorontalo",
    "Sulawesi Barat",
    "Maluku",
    "Maluku Utara",
    "Papua",
    "Papua Barat",
    "Papua Selatan",
    "Papua Tengah",
    "Papua Pegunungan",
    "Papua Barat Daya",
)

#: ISO 3166-2:ID, as Nominatim gives it beside the name.
ISO_CODES: dict[str, str] = dict(
    zip(
        (
            *(
                "AC",
                "SU",
                "SB",
                "RI",
                "JA",
                "SS",
                "BE",
                "LA",
                "BB",
                "KR",
                "JK",
                "JB",
                "JT",
                "YO",
                "JI",
                "BT",
                "BA",
            ),
            *("NB", "NT", "KB", "KT", "KS", "KI", "KU", "SA", "ST", "SN", "SG", "GO", "SR", "MA", "MU"),
            *("PA", "PB", "PS", "PT", "PE", "PD"),
        ),
        PROVINCES,
        strict=True,
    )
)

#: What people and maps write besides. `Provinsi ...`, `Sumatra ...` and `West Java` are rules, not listed.
_ALIASES: dict[str, tuple[str, ...]] = {
    "Aceh": ("Nanggroe Aceh Darussalam", "NAD", "Daerah Istimewa Aceh", "DI Aceh", "Atjeh", "Acheh"),
    "Sumatera Utara": ("Sumut",),
    "Sumatera Barat": ("Sumbar",),
    "Sumatera Selatan": ("Sumsel",),
    "Kepulauan Bangka Belitung": (
        *("Bangka Belitung", "Babel", "Kep Bangka Belitung", "Bangka Belitung Islands"),
        *("Bangka Belitung Archipelago", "Bangka dan Belitung", "Bangka and Belitung"),
    ),
    "Kepulauan Riau": ("Kepri", "Kep Riau", "Riau Islands", "Riau Archipelago"),
    "DKI Jakarta": (
        *("Jakarta", "DKI", "DKJ", "DK Jakarta", "Jakarta Raya", "Daerah Khusus Jakarta"),
        *("Daerah Khusus Ibukota Jakarta", "Daerah Khusus Ibu Kota Jakarta", "Jakarta Special Region"),
        *("Special Region of Jakarta", "Jakarta Special Capital Region", "Special Capital Region of Jakarta"),
    ),
    "Jawa Barat": ("Jabar",),
    "Jawa Tengah": ("Jateng",),
    "DI Yogyakarta": (
        *("Yogyakarta", "DIY", "DIY Yogyakarta", "Jogjakarta", "DI Jogjakarta", "Jogja", "Yogya"),
        *("Daerah Istimewa Yogyakarta", "Special Region of Yogyakarta", "Yogyakarta Special Region"),
    ),
    "Jawa Timur": ("Jatim",),
    "Nusa Tenggara Barat": ("NTB",),
    "Nusa Tenggara Timur": ("NTT",),
    "Kalimantan Barat": ("Kalbar",),
    "Kalimantan Tengah": ("Kalteng",),
    "Kalimantan Selatan": ("Kalsel",),
    "Kalimantan Timur": ("Kaltim",),
    "Kalimantan Utara": ("Kaltara",),
    "Sulawesi Utara": ("Sulut",),
    "Sulawesi Tengah": ("Sulteng",),
    "Sulawesi Selatan": ("Sulsel",),
    "Sulawesi Tenggara": ("Sultra",),
    "Sulawesi Barat": ("Sulbar",),
    "Maluku": ("Moluccas",),
    "Maluku Utara": ("Malut", "North Moluccas"),
    "Papua": ("Irian Jaya",),
    "Papua Barat": ("Irian Jaya Barat", "West Irian Jaya"),
    "Papua Pegunungan": ("Highland Papua", "Highlands Papua", "Papua Highlands", "Papua Highland"),
}

_ENGLISH = {
    "Utara": "North",
    "Selatan": "South",
    "Barat": "West",
    "Timur": "East",
    "Tengah": "Central",
    "Tenggara": "Southeast",
    "Barat Daya": "Southwest",
}

_WORD = re.compile(r"[a-z0-9]+")
_FOREIGN = re.compile(r"[^\W\d_a-z]")
_GLUED = re.compile(r"^pro[pv]insi")

#: Say only that a province is meant.
_FILLERS = frozenset({"provinsi", "propinsi", "prov", "prop", "province"})


def _key(text: str) -> str:
    """The text without case, accents, blanks, punctuation and the word for province; Sumatera in one way.

    Empty where it has other letters than Latin ones: they are no punctuation.
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    if _FOREIGN.search(plain):
        return ""
    words = "".join(word for word in _WORD.findall(plain) if word not in _FILLERS)
    return _GLUED.sub("", words).replace("sumatra", "sumatera")


def _spellings() -> Iterator[tuple[str, str]]:
    """Every spelling with its province."""
    for province in PROVINCES:
        yield province, province
        yield from ((alias, province) for alias in _ALIASES.get(province, ()))
        for direction, english in _ENGLISH.items():
            island = province.removesuffix(f" {direction}")
            if island != province:
                yield f"{english} {island.replace('Jawa', 'Java')}", province
    for code, province in ISO_CODES.items():
        yield f"ID-{code}", province


def _index() -> dict[str, str]:
    index: dict[str, str] = {}
    for spelling, province in _spellings():
        if index.setdefault(_key(spelling), province) != province:
            raise ValueError(f"{spelling} would name two provinces")
    return index


_BY_KEY = _index()

#: Longer input cannot be a province; it is not worth the reading.
_LONGEST = 100


def canonical(text: str) -> str | None:
    """The province that a text names, in the contract's spelling; `None` when it names none.

    A NUL is no punctuation: an address may hold one, and no column does.
    """
    return _BY_KEY.get(_key(text)) if len(text) <= _LONGEST and "\0" not in text else None


WIB, WITA, WIT = "Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura"

_EASTERN = frozenset(p for p in PROVINCES if p.startswith(("Maluku", "Papua")))
_CENTRAL = frozenset(p for p in PROVINCES if p.startswith(("Sulawesi", "Nusa Tenggara"))) | {
    *("Bali", "Gorontalo", "Kalimantan Selatan", "Kalimantan Timur", "Kalimantan Utara"),
}


def timezone(province: str) -> str:
    """IANA name of a canonical province's time zone; that of the capital for anything else."""
    if province in _EASTERN:
        return WIT
    return WITA if province in _CENTRAL else WIB
