"""The protocol between the service and the runner.

The service writes one `Request` as JSON; the runner writes frames, each a letter, a length and so many bytes.
"""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import Any, NotRequired, TypedDict

HEAD = struct.Struct(">cI")


class Kind(StrEnum):
    #: A `Backend` as JSON: the one that runs the statements, so that it can be cancelled from outside.
    BACKEND = "B"
    #: A piece of CSV.
    CHUNK = "C"
    #: A `Result` as JSON: the transaction is committed.
    RESULT = "R"
    #: A `Failure` as JSON: the transaction is rolled back.
    ERROR = "E"


class Request(TypedDict):
    query: str
    csv: bool
    read_only: bool
    #: Parameters of libpq; `psycopg2.connect` is typed for nothing narrower.
    connection: dict[str, Any]


class Backend(TypedDict):
    pid: int
    #: `backend_start` of `pg_stat_activity`, as text: with it a pid that is used again is not taken for this one.
    started: str


class Result(TypedDict):
    """Of the last statement. For writes `row_count` is the rows touched."""

    columns: list[str]
    rows: list[dict[str, object]]
    row_count: int
    truncated: bool
    command: str


class Failure(TypedDict):
    """An error of the database, a result that does not fit into the runner's memory, or a role with too many rights."""

    message: NotRequired[str]
    sqlstate: NotRequired[str]
    too_large: NotRequired[bool]
    too_powerful: NotRequired[bool]


def packed(kind: Kind, body: bytes) -> bytes:
    return HEAD.pack(kind.encode(), len(body)) + body
