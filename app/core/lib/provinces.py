"""The 38 provinces of Indonesia: official spelling, accepted spellings, time zones.

Until 2022 there were 34 provinces. Four new ones were then split off from Papua and Papua Barat.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

#: Official spelling and order, as in the API contract. Responses contain only this spelling.
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

#: Other accepted spellings. `_key` and `_spellings` also accept `Provinsi ...`, `Sumatra ...` and `West Java`.
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

#: Words that mean "province". They are ignored in the input.
_FILLERS = frozenset({"provinsi", "propinsi", "prov", "prop", "province"})


def _key(text: str) -> str:
    """Return the text without case, accents, spaces, punctuation and the word for province.

    `Sumatra` and `Sumatera` give the same result. Return "" for a text with letters that are not Latin.
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    if _FOREIGN.search(plain):
        return ""
    words = "".join(word for word in _WORD.findall(plain) if word not in _FILLERS)
    return _GLUED.sub("", words).replace("sumatra", "sumatera")


def _spellings() -> Iterator[tuple[str, str]]:
    """Yield all accepted spellings, each with its province."""
    for province in PROVINCES:
        yield province, province
        yield from ((alias, province) for alias in _ALIASES.get(province, ()))
        for direction, english in _ENGLISH.items():
            island = province.removesuffix(f" {direction}")
            if island != province:
                yield f"{english} {island.replace('Jawa', 'Java')}", province


def _index() -> dict[str, str]:
    index: dict[str, str] = {}
    for spelling, province in _spellings():
        if index.setdefault(_key(spelling), province) != province:
            raise ValueError(f"{spelling} would name two provinces")
    return index


_BY_KEY = _index()

#: Maximum characters of the input. A longer text is no province.
_LONGEST = 100


def canonical(text: str) -> str | None:
    """Return the province in its official spelling, or None if the text is no province.

    Reject a text with a NUL character, because PostgreSQL cannot store it.
    """
    return _BY_KEY.get(_key(text)) if len(text) <= _LONGEST and "\0" not in text else None


WIB, WITA, WIT = "Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura"

_EASTERN = frozenset(p for p in PROVINCES if p.startswith(("Maluku", "Papua")))
_CENTRAL = frozenset(p for p in PROVINCES if p.startswith(("Sulawesi", "Nusa Tenggara"))) | {
    *("Bali", "Gorontalo", "Kalimantan Selatan", "Kalimantan Timur", "Kalimantan Utara"),
}


def timezone(province: str) -> str:
    """Return the IANA time zone of a province in official spelling.

    For any other text, return the time zone of Jakarta.
    """
    if province in _EASTERN:
        return WIT
    return WITA if province in _CENTRAL else WIB
