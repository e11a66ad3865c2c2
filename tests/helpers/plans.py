"""Functions that return query plans of PostgreSQL as text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from tests.helpers.factories import in_a_transaction


def plan_of(statement: Any, **values: Any) -> str:
    """Return the query plan of a statement. `values` are its parameters. Undo what the statement changes."""
    plans: list[str] = []

    def explain(_connection: Any, cursor: Any, text: str, parameters: Any, *_: Any) -> None:
        cursor.execute(f"EXPLAIN {text}", parameters)
        plans.extend(line for (line,) in cursor.fetchall())

    with in_a_transaction(), (connection := db.session.connection()).begin_nested() as savepoint:
        sa.event.listen(connection, "before_cursor_execute", explain)
        try:
            connection.execute(statement, values).close()
        finally:
            sa.event.remove(connection, "before_cursor_execute", explain)
        savepoint.rollback()
    return "\n".join(plans)


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

    plans: list[str] = []
    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield plans
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    connection = db.session.connection()
    plans += ["\n".join(connection.exec_driver_sql(f"EXPLAIN {text}", values).scalars()) for text, values in ran]
