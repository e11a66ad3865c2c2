"""One row of the registry of routes."""

from collections.abc import Callable
from dataclasses import dataclass, field

#: Who sends the good request, by `callers`. They are clients of the world.
SENDERS = {
    "public": "nobody", "optional": "siti", "anybody": "siti", "pasien": "siti", "pendamping": "budi", "admin": "rina",
    "superadmin": "dewi",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    #: `public` ignores a token, `optional` needs none, `anybody` needs one. Else the role that is needed.
    callers: str
    #: The JSON body of the good request, or a function of the world that returns it.
    body: dict | Callable | bytes | None = None
    status: int = 200
    #: Maximum number of SQL statements of the good request.
    sql: int = 0
    #: Query string of the good request. `{name}` is a value of the world.
    query: str = ""
    #: The client of the world that sends the good request, if it is not that of `SENDERS`.
    who: str = ""
    #: Values of the world for path parameters, if they do not have the name of the parameter.
    at: dict = field(default_factory=dict)
    #: Status for other people who have the role: the record of the good request is not theirs.
    other: int | None = None
    #: Actions that the good request adds to the access log of the person whom it shows.
    logs: str = ""
    #: Why nobody may cache this public read.
    uncached: str = ""

    @property
    def sender(self):
        return self.who or SENDERS[self.callers]
