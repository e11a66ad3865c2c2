"""Alembic's entry: online migrations of the application's database. `flask db upgrade` runs this."""

from __future__ import annotations

from alembic import context
from alembic.util import CommandError
from flask import current_app
from sqlalchemy.exc import OperationalError

from app.core.database.engines import UNLIMITED, direct

extension = current_app.extensions["migrate"]
# Past a pooler. Waiting for a lock in front of everybody else would stop the service; failing is safe to repeat.
engine = direct(UNLIMITED)

if context.is_offline_mode():
    context.configure(url=engine.url, target_metadata=extension.db.metadata, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()
else:
    try:
        connection = engine.connect()
    except OperationalError as error:
        raise CommandError(f"The database: {str(error.orig).strip().splitlines()[0]}") from None
    with connection:
        context.configure(
            connection=connection,
            target_metadata=extension.db.metadata,
            compare_type=True,
            compare_server_default=False,
            transaction_per_migration=True,
        )
        with context.begin_transaction():
            context.run_migrations()
