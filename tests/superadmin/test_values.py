"""JSON values of PostgreSQL types."""

import json

from tests.helpers.offenders import assert_none

#: SQL expressions and their JSON values.
VALUES = (
    ("NULL", None),
    ("true", True),
    ("false", False),
    ("1::smallint", 1),
    ("9007199254740992::bigint", 9007199254740992),
    ("9007199254740993::bigint", "9007199254740993"),
    ("1.5::float8", 1.5),
    ("0.1::float8 + 0.2::float8", "0.30000000000000004"),
    ("'NaN'::float8", "NaN"),
    ("12.50::numeric", 12.5),
    ("1e400::numeric", "1" + "0" * 400),
    ("1e-400::numeric", "0." + "0" * 399 + "1"),
    ("1234567890.12345678901::numeric", "1234567890.12345678901"),
    ("'{\"a\": [1, 2.5, null]}'::jsonb", {"a": [1, 2.5, None]}),
    ("'1e400'::json", "1e400"),
    ("'18446744073709551615'::jsonb", 18446744073709551615),
    ("(repeat('[', 500) || repeat(']', 500))::json", json.loads("[" * 500 + "]" * 500)),
    ("'\"\\ud83d\\ude00\"'::json", "😀"),
    ("'\"\\ud83d\"'::json", '"\\ud83d"'),
    ("'teks \"dan\" ü 😀'", 'teks "dan" ü 😀'),
    ("'\\xDEADBEEF'::bytea", "\\xdeadbeef"),
    ("'2026-03-02 07:00:00+07'::timestamptz", "2026-03-02 00:00:00+00"),
    ("'0044-03-15 BC'::date", "0044-03-15 BC"),
    ("ARRAY[1, NULL, 3]", "{1,NULL,3}"),
)


def test_postgresql_values_are_converted_to_json(boss):
    columns = ", ".join(f"{sql} AS v{number}" for number, (sql, _) in enumerate(VALUES))
    (row,) = boss.post("/superadmin/query", {"query": f"SELECT {columns}"}).ok()["rows"]
    found = [(sql, value, row[f"v{number}"]) for number, (sql, value) in enumerate(VALUES)]
    assert_none((f"{sql}: {shown!r}" for sql, value, shown in found if shown != value), "Shown otherwise:")
