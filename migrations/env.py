"""Alembic's environment: online migrations of the application's database, run by `flask db upgrade`."""

from __future__ import annotations

import random
from time import sleep

import click
import sqlalchemy as sa
from alembic import context
from alembic.migration import MigrationContext
from alembic.util import CommandError
from flask import current_app
from psycopg2.errors import LockNotAvailable
from sqlalchemy.exc import OperationalError

from app.core.database.engines import MIGRATE, direct
from app.core.database.migrations import too_old
from app.core.settings import settings

#: Key of the advisory lock that a migrating process holds. The number has no meaning.
MIGRATION_LOCK = 7_263_545
#: Seconds between attempts to get the advisory lock.
ASK_AGAIN_S = 0.5
#: Attempts to get the table locks of a migration. Each attempt waits for the `lock_timeout` of `MIGRATE`.
LOCK_TRIES = 60

extension = current_app.extensions["migrate"]
# Bypass the pooler. Use short lock timeouts, because a migration that waits for a lock blocks the service. A failed
# migration is repeated below.
engine = direct(MIGRATE)

if context.is_offline_mode():
    context.configure(url=engine.url, target_metadata=extension.db.metadata, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()
else:
    command = getattr(click.get_current_context(silent=True), "info_name", None)
    if command == "downgrade" and settings.is_production and "yes" not in context.get_x_argument():
        raise CommandError("A downgrade removes data. In production it needs `-x yes`. Run `deploy/backup` first.")
    try:
        connection = engine.connect()
    except OperationalError as error:
        raise CommandError(f"The database: {str(error.orig).strip().splitlines()[0]}") from None
    with connection:
        # Several machines may start a new version at once. Poll for the lock without a time limit. A blocking wait
        # would hold a snapshot, and a CREATE INDEX CONCURRENTLY of another machine would wait for this snapshot.
        connection.execution_options(isolation_level="AUTOCOMMIT")
        while not connection.scalar(sa.text("SELECT pg_try_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK}):
            sleep(ASK_AGAIN_S)
        connection.rollback()  # nothing to roll back, but SQLAlchemy must end its transaction
        connection.execution_options(isolation_level="READ COMMITTED")
        revision = MigrationContext.configure(connection).get_current_revision()
        connection.rollback()
        if sentence := too_old(revision):
            raise CommandError(sentence)
        for tries_left in reversed(range(LOCK_TRIES)):
            context.configure(
                connection=connection,
                target_metadata=extension.db.metadata,
                compare_type=True,
                compare_server_default=False,
                transaction_per_migration=True,
            )
            try:
                with context.begin_transaction():
                    context.run_migrations()
                break
            except OperationalError as error:
                if not (tries_left and isinstance(error.orig, LockNotAvailable)):
                    raise
                # Release the locks for a while, so that the transactions waiting behind this migration can continue.
                connection.rollback()
                sleep(random.uniform(1, 3))  # noqa: S311  # random only to spread the load
