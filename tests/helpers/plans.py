"""Functions that return query plans of PostgreSQL as text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ClauseElement, Executable

from app.core.database.prepared import PreparedStatement
from app.core.database.session import db


class Explain(Executable, ClauseElement):
    inherit_cache = False

    def __init__(self, statement: Any) -> None:
        self.statement = statement


@compiles(Explain)
def _explain(element: Explain, compiler: Any, **options: Any) -> str:
    return f"EXPLAIN {compiler.process(element.statement, **options)}"


def plan_of(statement: Any, **values: Any) -> str:
    """Return the query plan of a statement. `values` are its parameters."""
    return "\n".join(db.session.connection().execute(Explain(statement), values).scalars())


def analyse(*tables: str) -> None:
    """Run VACUUM ANALYZE, so that the planner uses current statistics and the visibility map."""
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text(f"VACUUM ANALYZE {', '.join(tables)}"))


@contextmanager
def plans_of_all() -> Iterator[list[str]]:
    """Yield a list. After the block, the list contains the plans of all SELECTs in the block, in order."""
    ran: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            ran.append((statement, parameters))

    rows = PreparedStatement.rows

    def noted_rows(statement: PreparedStatement, connection: sa.Connection, values: Any = None) -> Any:
        ran.append((statement._text, values))
        return rows(statement, connection, values)

    plans: list[str] = []
    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        with mock.patch.object(PreparedStatement, "rows", noted_rows):
            yield plans
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    connection = db.session.connection()
    plans += ["\n".join(connection.exec_driver_sql(f"EXPLAIN {text}", values).scalars()) for text, values in ran]
