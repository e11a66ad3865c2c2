"""Functions that create applications for tests, and functions that delete their data."""

import pytest
import sqlalchemy as sa
from flask_migrate import upgrade
from psycopg2 import errors as pg

from app import create_app
from app.core.database import engines
from app.core.database.session import db
from app.core.jobs import redis
from app.core.media import storage
from config import Config
from dev.stack.waiting import PATIENCE_S, wait_until


def config_for_tests(**overrides):
    """Return a configuration for tests. `overrides` are additional environment variables."""
    return Config.from_env({"ENVIRONMENT": "testing", "RATE_LIMITS": "off", **overrides})


def create_patient_app(config):
    """Return an application with long timeouts for Redis and SQL statements.

    Tests then also pass on a busy machine.
    """
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("socket_timeout", "socket_connect_timeout"):
            patch.setitem(redis.WEB, limit, PATIENCE_S)
        for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
            patch.setitem(engines.REQUEST, limit, f"{PATIENCE_S * 1000:.0f}")
        return create_app(config)


def migrate(database_url):
    app = create_patient_app(config_for_tests(DATABASE_URL=database_url))
    with app.app_context():
        upgrade()
        dispose(app)


def dispose(app):
    with app.app_context():
        db.engine.dispose()
    app.extensions["redis"].close()


#: If no table has more rows than this number, all tables are emptied with DELETE. For small tables TRUNCATE is slower,
#: because it creates new files for the table and its indexes.
FEW_ROWS = 500


def empty():
    """Reset the database to its state after migrations and seed data, including the sequences of ids."""
    from app.cli import seed_all

    db.session.remove()
    wait_until(_empty_tables)
    seed_all()


def _empty_tables():
    """Empty the tables. Return False after a deadlock with a process that still runs during the test."""
    names = [f'"{table.name}"' for table in reversed(db.metadata.sorted_tables)]
    sizes = ", ".join(f"(SELECT count(*) FROM (SELECT FROM {name} LIMIT {FEW_ROWS + 1}) AS few)" for name in names)
    try:
        with db.engine.begin() as connection:
            rows = dict(zip(names, connection.execute(sa.text(f"SELECT {sizes}")).one(), strict=True))
            # Disable a trigger that prevents deletions from the audit log. Only the table's owner may disable it.
            connection.execute(sa.text("ALTER TABLE audit_entries DISABLE TRIGGER append_only"))
            if max(rows.values()) > FEW_ROWS:
                connection.execute(sa.text(f"TRUNCATE {', '.join(names)}"))
            else:
                for name in (name for name, count in rows.items() if count):
                    connection.execute(sa.text(f"DELETE FROM {name}"))
            connection.execute(sa.text("ALTER TABLE audit_entries ENABLE TRIGGER append_only"))
            connection.execute(sa.text("SELECT setval(seqrelid, seqstart, false) FROM pg_sequence"))
    except sa.exc.OperationalError as error:
        if isinstance(error.orig, pg.DeadlockDetected):
            return False
        raise
    return True


def empty_rooms():
    """Delete all stored files."""
    for room in map(storage.area, storage.Area):
        for name, _ in list(room.names()):
            room.remove(name)
