"""Counts SQL statements, so that a list that grows a query a row fails its test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Not work of the code under test: savepoints stand in for its commits.
FRAME = ("SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT")


class Statements:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def record(self, _conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith(FRAME):
            self.seen.append(statement)

    @contextmanager
    def at_most(self, limit: int) -> Iterator[None]:
        before = len(self.seen)
        yield
        made = self.seen[before:]
        assert len(made) <= limit, f"{len(made)} statements, {limit} allowed:\n" + "\n---\n".join(made)
