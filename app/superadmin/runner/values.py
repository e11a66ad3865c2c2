"""Converts PostgreSQL's texts of values to JSON values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TypeAlias

from psycopg2.extensions import STRINGARRAY

#: Largest integer that JavaScript does not round. Larger ones stay text.
SAFE_INTEGER = 2**53

MAX_DEPTH = 60

MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?")


#: An array as psycopg2 returns it: texts in nested lists.
Texts: TypeAlias = "str | list[Texts] | None"


def to_json(text: str | None, oid: int) -> object:
    """Convert the text of a value of the type `oid` to JSON. Return the text itself if JSON has no such type."""
    if text is None:
        return None
    if element := ARRAYS.get(oid):
        try:
            return _each(STRINGARRAY(text, None), element)
        except Exception:  # noqa: BLE001  # an array format that psycopg2 cannot parse
            return text
    convert = SCALARS.get(oid)
    return convert(text) if convert else text


def unique(names: Iterable[str]) -> list[str]:
    """Return the column names, with `_2`, `_3` added to duplicates."""
    uniques: dict[str, None] = {}  # a dict, because it keeps the order of the names
    numbers: dict[str, int] = {}
    for name in names:
        n, candidate = numbers.get(name, 1), name
        while candidate in uniques:
            n += 1
            candidate = f"{name}_{n}"
        numbers[name] = n
        uniques[candidate] = None
    return list(uniques)


def _each(texts: Texts, oid: int) -> object:
    return [_each(text, oid) for text in texts] if isinstance(texts, list) else to_json(texts, oid)


def _integer(text: str) -> int | str:
    number = int(text)
    return number if abs(number) <= SAFE_INTEGER else text


def _float(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def _numeric(text: str) -> int | float | str:
    """Return the text as a number if the number keeps all digits. Otherwise return the text unchanged."""
    number = Decimal(text)
    if not number.is_finite() or len(number.as_tuple().digits) > 15:
        return text
    return _integer(text) if number == number.to_integral_value() and "." not in text else _float(text)


def _moment(text: str) -> str:
    match = MOMENT.fullmatch(text)
    return f"{match[1]}T{match[2]}{'Z' if match[3] else ''}" if match else text


def _document(text: str) -> object:
    try:
        document = json.loads(text, parse_float=_float, parse_int=_integer)
        if "\\u" in text:  # find a lone surrogate, which JSON allows but UTF-8 does not
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return text
    return document if _is_shallow(document) else text


def _is_shallow(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for node in level
            if isinstance(node, (dict, list))
            for item in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return True
    return False


#: Converters by oid of `pg_type`. The oids of built-in types never change.
SCALARS: dict[int, Callable[[str], object]] = {
    16: lambda text: text in ("t", "true"),
    **dict.fromkeys((20, 21, 23, 26), _integer),
    **dict.fromkeys((700, 701), _float),
    1700: _numeric,
    **dict.fromkeys((114, 3802), _document),
    **dict.fromkeys((1114, 1184), _moment),
}

#: Element type by array type, as oids. Other arrays stay text.
ARRAYS = {
    1000: 16, 1016: 20, 1005: 21, 1007: 23, 1028: 26, 1021: 700, 1022: 701, 1231: 1700, 199: 114, 3807: 3802,
    1115: 1114, 1185: 1184, 1182: 1082, 1009: 25, 1015: 1043, 1014: 1042, 1003: 19, 2951: 2950,
}  # fmt: skip
