"""What the runner and the service say to one another: a letter, a length, and so many bytes."""

from __future__ import annotations

import struct
from enum import StrEnum

HEAD = struct.Struct(">cI")


class Kind(StrEnum):
    #: The backend that works, as JSON, so that it can be cancelled from outside.
    BACKEND = "B"
    #: A piece of CSV.
    CHUNK = "C"
    #: The result, as JSON: the transaction has been committed.
    RESULT = "R"
    #: The error, as JSON: nothing has been left behind.
    ERROR = "E"


def packed(kind: Kind, body: bytes) -> bytes:
    return HEAD.pack(kind.encode(), len(body)) + body
