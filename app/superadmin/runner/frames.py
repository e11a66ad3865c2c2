"""Protocol between the service and the runner.

The service writes one `Request` as JSON. The runner writes frames: a letter, a length in bytes, and the body.
"""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import Any, NotRequired, TypedDict

HEAD = struct.Struct(">cI")


class FrameKind(StrEnum):
    #: The `Backend` (server process) that runs the statements, as JSON. The service uses this data to cancel the
    #: statements.
    BACKEND = "B"
    #: A chunk of CSV.
    CHUNK = "C"
    #: A `QueryResult` as JSON, sent after the commit.
    RESULT = "R"
    #: A `QueryFailure` as JSON, sent after the rollback.
    ERROR = "E"


class Request(TypedDict):
    query: str
    csv: bool
    read_only: bool
    #: Parameters of libpq. The type is `Any`, because `psycopg2.connect` has no narrower types.
    connection: dict[str, Any]


class Backend(TypedDict):
    pid: int
    #: `backend_start` of `pg_stat_activity` as text. It distinguishes this backend from a later one with the same pid.
    started: str


class QueryResult(TypedDict):
    """Result of the last statement. For a write, `row_count` is the number of affected rows."""

    columns: list[str]
    rows: list[dict[str, object]]
    row_count: int
    truncated: bool
    command: str


class QueryFailure(TypedDict):
    """The reason of a failure: a database error, a result too large for the memory, or a role with too many rights."""

    message: NotRequired[str]
    sqlstate: NotRequired[str]
    too_large: NotRequired[bool]
    too_powerful: NotRequired[bool]


def packed(kind: FrameKind, body: bytes) -> bytes:
    return HEAD.pack(kind.encode(), len(body)) + body
