"""Functions that return query plans of PostgreSQL as text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db


def plan_of(statement: Any, **values: Any) -> str:
    """Return the query plan of a statement. `values` are its parameters."""
    connection = db.session.connection()
    compiled = statement.compile(connection, compile_kwargs={"render_postcompile": True})
    rows = connection.exec_driver_sql(f"EXPLAIN {compiled}", compiled.construct_params(values))
    return "\n".join(rows.scalars())


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
