"""Functions that return query plans of PostgreSQL as text."""

from contextlib import contextmanager

import sqlalchemy as sa

from app.core.database.session import db
from tests.helpers.factories import in_a_transaction


def plan_of(statement, **values):
    """Return the query plan of a statement. `values` are its parameters. Undo what the statement changes."""
    plans = []

    def explain(_connection, cursor, text, parameters, *_):
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


def analyse(*tables):
    """Run VACUUM ANALYZE, so that the planner uses current statistics and the visibility map."""
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text(f"VACUUM ANALYZE {', '.join(tables)}"))


@contextmanager
def plans_of_all():
    """Yield a list. After the block, the list contains the plans of all SELECTs in the block, in order."""
    ran = []

    def note(_connection, _cursor, statement, parameters, *_):
        if statement.startswith("SELECT"):
            ran.append((statement, parameters))

    plans = []
    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield plans
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    connection = db.session.connection()
    plans += ["\n".join(connection.exec_driver_sql(f"EXPLAIN {text}", values).scalars()) for text, values in ran]
