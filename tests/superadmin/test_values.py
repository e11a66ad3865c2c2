"""JSON values of PostgreSQL types."""

from __future__ import annotations

import time
from typing import Any

from app.superadmin.runner.values import unique
from tests.helpers.client import Client
from tests.helpers.offenders import assert_none

#: SQL expressions and their JSON values.
VALUES: tuple[tuple[str, Any], ...] = (
    ("NULL", None),
    ("1::smallint", 1),
    ("9007199254740992::bigint", 9007199254740992),
    ("9223372036854775807", "9223372036854775807"),
    ("1.5::float8", 1.5),
    ("'NaN'::float8", "NaN"),
    ("'-Infinity'::float4", "-Infinity"),
    ("12.50::numeric", 12.5),
    ("7::numeric", 7),
    ("1234567890.12345678901::numeric", "1234567890.12345678901"),
    ("'NaN'::numeric", "NaN"),
    ("true", True),
    ("'teks \"dan\" ü 😀'", 'teks "dan" ü 😀'),
    ("'\\xDEADBEEF'::bytea", "\\xdeadbeef"),
    ("'{\"a\": [1, 2.5, null]}'::jsonb", {"a": [1, 2.5, None]}),
    ("'1e400'::json", "1e400"),
    ("'123456789012345678901234567890'::jsonb", "123456789012345678901234567890"),
    ("(repeat('[', 500) || repeat(']', 500))::json", "[" * 500 + "]" * 500),
    ("'\"\\u0000\"'::json", "\0"),
    ("'\"\\ud83d\\ude00\"'::json", "😀"),
    ("'\"\\ud83d\"'::json", '"\\ud83d"'),
    ("'{\"\\ude00\": 1}'::json", '{"\\ude00": 1}'),
    ("ARRAY['\"\\ud83d\"'::json]", ['"\\ud83d"']),
    ("'2026-03-02 07:00:00+07'::timestamptz", "2026-03-02T00:00:00Z"),
    ("'2026-03-02 00:00:00.25'::timestamp", "2026-03-02T00:00:00.25"),
    ("'infinity'::timestamptz", "infinity"),
    ("'0044-03-15 BC'::date", "0044-03-15 BC"),
    ("'2026-03-02'::date", "2026-03-02"),
    ("'25:00:00'::interval", "25:00:00"),
    ("'10.0.0.1'::inet", "10.0.0.1"),
    ("ARRAY[1, NULL, 3]", [1, None, 3]),
    ("ARRAY[['a', 'b'], ['c', NULL]]", [["a", "b"], ["c", None]]),
    ("'[2:3]={1,2}'::int[]", [1, 2]),
    ("ARRAY[true, false]", [True, False]),
    ("point(1, 2)", "(1,2)"),
    ("ROW(1, 'a')", "(1,a)"),
    ("'[1,5)'::int4range", "[1,5)"),
    ("'users'::regclass", "users"),
    ("'a b'::tsvector", "'a' 'b'"),
    ("B'101'", "101"),
    ("12.5::money", "$12.50"),
)


def test_postgresql_values_are_converted_to_json(boss: Client) -> None:
    columns = ", ".join(f"{sql} AS v{number}" for number, (sql, _) in enumerate(VALUES))
    response = boss.post("/superadmin/query", {"query": f"SELECT {columns}"})
    assert response.status_code == 200, response.json
    (row,) = response.json["rows"]
    found = [(sql, value, row[f"v{number}"]) for number, (sql, value) in enumerate(VALUES)]
    assert_none((f"{sql}: {shown!r}" for sql, value, shown in found if shown != value), "Shown otherwise:")


def test_duplicate_column_names_are_made_unique() -> None:
    assert unique(["a", "a", "b", "a", "a_2"]) == ["a", "a_2", "b", "a_3", "a_2_2"]


def test_making_thousands_of_equal_names_unique_is_fast() -> None:
    """The search for a free suffix must not begin at 2 again for each equal name."""
    names = ["a"] * 30_000 + ["a_2", "b", "a_29999", "b"]
    started = time.process_time()
    result = unique(names)
    assert time.process_time() - started < 5
    assert len(set(result)) == len(names)
    assert result[:3] == ["a", "a_2", "a_3"]
    assert result[-4:] == ["a_2_2", "b", "a_29999_2", "b_2"]
