"""Counter of SQL statements, for tests that limit the queries of a request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg2.extensions

#: Statements that are not counted. Tests use savepoints where the service commits. PREPARE is not counted, because each
#: connection prepares a statement only once.
FRAME = ("SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT", "PREPARE")


class Statements:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def record(self, statement: str) -> None:
        if not statement.startswith(FRAME):
            self.seen.append(statement)

    def cursor(self, *args: Any, **options: Any) -> psycopg2.extensions.cursor:
        """Return a psycopg2 cursor that records its statements. SQLAlchemy and direct reads call this method."""
        return _Recorded(self, *args, **options)

    @contextmanager
    def at_most(self, limit: int) -> Iterator[None]:
        before = len(self.seen)
        yield
        statements = self.seen[before:]
        assert len(statements) <= limit, f"{len(statements)} statements, {limit} allowed:\n" + "\n---\n".join(
            statements
        )


class _Recorded(psycopg2.extensions.cursor):
    def __init__(self, recorder: Statements, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._recorder = recorder

    def execute(self, query: str, vars: Any = None) -> None:  # noqa: A002  # psycopg2's name
        self._recorder.record(query)
        super().execute(query, vars)
