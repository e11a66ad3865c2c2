"""Values of every PostgreSQL type as JSON can hold them, from the text that PostgreSQL writes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TypeAlias

from psycopg2.extensions import STRINGARRAY

#: Beyond this a reader in JavaScript would round an integer.
SAFE_INTEGER = 2**53

MAX_DEPTH = 60

MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?")


#: An array as psycopg2 reads it: texts, in lists as deep as its dimensions.
Texts: TypeAlias = "str | list[Texts] | None"


def to_json(text: str | None, oid: int) -> object:
    """A value of the type with this oid; one that JSON has no form for stays the text that PostgreSQL writes."""
    if text is None:
        return None
    if element := ARRAYS.get(oid):
        try:
            return _each(STRINGARRAY(text, None), element)
        except Exception:  # noqa: BLE001  # a form that psycopg2 does not know
            return text
    convert = SCALARS.get(oid)
    return convert(text) if convert else text


def unique(names: Iterable[str]) -> list[str]:
    """The names of columns, equal ones with `_2`, `_3` behind them."""
    uniques: dict[str, None] = {}  # in their order
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
    """A number where that loses nothing, the text otherwise."""
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
        if "\\u" in text:  # half of a surrogate pair is JSON, and no text
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


#: By the oids of `pg_type`, which never change for the built-in types.
SCALARS: dict[int, Callable[[str], object]] = {
    16: lambda text: text in ("t", "true"),
    **dict.fromkeys((20, 21, 23, 26), _integer),
    **dict.fromkeys((700, 701), _float),
    1700: _numeric,
    **dict.fromkeys((114, 3802), _document),
    **dict.fromkeys((1114, 1184), _moment),
}

#: Arrays and what is in them; others stay text.
ARRAYS = {
    1000: 16, 1016: 20, 1005: 21, 1007: 23, 1028: 26, 1021: 700, 1022: 701, 1231: 1700, 199: 114, 3807: 3802,
    1115: 1114, 1185: 1184, 1182: 1082, 1009: 25, 1015: 1043, 1014: 1042, 1003: 19, 2951: 2950,
}  # fmt: skip
