"""Counter of SQL statements, for tests that limit the queries of a request."""

from contextlib import contextmanager

import psycopg2.extensions

#: Statements that are not counted. Tests use savepoints where the service commits. PREPARE is not counted, because each
#: connection prepares a statement only once.
FRAME = ("SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT", "PREPARE")


class Statements:
    def __init__(self):
        self.seen = []

    def record(self, statement):
        if not statement.startswith(FRAME):
            self.seen.append(statement)

    def cursor(self, *args, **options):
        """Return a psycopg2 cursor that records its statements. SQLAlchemy and direct reads call this method."""
        return _Recorded(self, *args, **options)

    @contextmanager
    def at_most(self, limit):
        before = len(self.seen)
        yield
        statements = self.seen[before:]
        assert len(statements) <= limit, f"{len(statements)} statements, {limit} allowed:\n" + "\n---\n".join(
            statements
        )


class _Recorded(psycopg2.extensions.cursor):
    def __init__(self, recorder, *args, **options):
        super().__init__(*args, **options)
        self._recorder = recorder

    def execute(self, query, vars=None):  # noqa: A002  # psycopg2's name
        self._recorder.record(query)
        super().execute(query, vars)
