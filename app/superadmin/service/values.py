"""JSON values for PostgreSQL's texts. Types without a JSON type stay the text that PostgreSQL writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal

import orjson

#: Largest whole number that JavaScript does not round, and the digits that it never rounds.
SAFE_INTEGER = 2**53
SAFE_DIGITS = 15

Convert = Callable[[str], object]


def boolean(text: str) -> bool:
    return text in ("t", "true")


def number(text: str) -> int | float | str:
    """Return the number if JSON keeps all its digits. Otherwise return the text."""
    value = Decimal(text)
    if not value.is_finite():
        return text
    if not set(text) & set(".e"):
        return int(value) if abs(value) <= SAFE_INTEGER else text
    kept = float(text)
    return kept if len(value.as_tuple().digits) <= SAFE_DIGITS and Decimal(str(kept)) == value else text


def document(text: str) -> object:
    """Return JSON as PostgreSQL wrote it. Return the text if a strict reader refuses it, such as the number 1e400."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return orjson.Fragment(text)


#: OIDs of the number types in `pg_type`. The OIDs of built-in types never change.
NUMBERS = (20, 21, 23, 26, 700, 701, 1700)

#: Converters by OID.
BY_OID: dict[int, Convert] = {16: boolean, **dict.fromkeys(NUMBERS, number), 114: document, 3802: document}


def unique(names: Iterable[str]) -> list[str]:
    """Return the column names, with `_2`, `_3` added to equal ones."""
    uniques: list[str] = []
    for name in names:
        n, candidate = 1, name
        while candidate in uniques:
            n += 1
            candidate = f"{name}_{n}"
        uniques.append(candidate)
    return uniques
