"""SQLAlchemy engines of the service: one with the pool of connections, and engines without a pool.

Migrations and long reads, such as exports, use the engines without a pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import psycopg2
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, migrate
from app.core.settings import settings
from config import Config

#: PostgreSQL session settings; timeouts are in milliseconds. A request ends within seconds, but an export lasts until
#: its client has read everything.
REQUEST = {"timezone": "UTC", "statement_timeout": "15000", "idle_in_transaction_session_timeout": "30000"}
STREAM = {
    "timezone": "UTC", "statement_timeout": "0", "default_transaction_read_only": "on",
    "idle_in_transaction_session_timeout": "300000",
}  # fmt: skip
UNLIMITED = {"timezone": "UTC", "statement_timeout": "0", "lock_timeout": "5000"}
#: A short lock timeout for migrations. While a migration waits for a lock, all other users of the table wait too.
MIGRATE = {**UNLIMITED, "lock_timeout": "1000"}

#: Connections in the pool of a process: one for each of gunicorn's 8 threads. Under load, the pool may open
#: `MAX_OVERFLOW` more, because a worker sends from more threads.
POOL_SIZE = 8
MAX_OVERFLOW = 24


def direct(options: Mapping[str, str], address: str | None = None) -> sa.Engine:
    """Return an engine without a pool and with the session settings `options`. It bypasses the database pooler."""
    arguments = _arguments(options)
    engine = sa.create_engine(address or settings.database_url, poolclass=sa.NullPool, **arguments)
    sa.event.listen(engine, "handle_error", _keep_values_out)
    return engine


def _arguments(options: Mapping[str, str]) -> dict[str, object]:
    connect = {
        "connect_timeout": 3,
        # These settings detect a dead database host within 20 s. They do not detect a hanging process on a live host,
        # because the host's kernel still acknowledges packets. If the process hangs, nginx answers after
        # `proxy_read_timeout`. Up to 8 threads of a web process wait until the database responds or its connections
        # close.
        "keepalives_idle": 10, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 10000,
        "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
    }  # fmt: skip
    return {
        "connect_args": connect,
        # PostgreSQL returns the JSON number 1e20 as an integer of 21 digits. orjson parses it into a float. The default
        # parser returns an int, which orjson cannot write.
        "json_deserializer": orjson.loads,
        "hide_parameters": True,
    }


def _keep_values_out(context: sa.ExceptionContext) -> None:
    """Remove the DETAIL and the statement from a database error. Otherwise the logs would contain personal data.

    Keep only the first line of the message, because the lines DETAIL and CONTEXT quote values. The name of a violated
    constraint is still available in `diag`.
    """
    original, error = context.original_exception, context.sqlalchemy_exception
    if isinstance(original, psycopg2.Error) and original.args:
        original.args = (str(original.args[0]).partition("\n")[0],)
    if isinstance(error, sa.exc.StatementError):
        error.statement = None
    if isinstance(error, sa.exc.DBAPIError):
        error.args = (f"({type(original).__name__}) {original}",)


def init_app(app: Flask, config: Config) -> None:
    app.config["SQLALCHEMY_DATABASE_URI"] = config.database_pooler_url or config.database_url
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = {
        **_arguments(REQUEST),
        "pool_size": POOL_SIZE,
        "max_overflow": MAX_OVERFLOW,
        "pool_timeout": 3,
        "pool_recycle": 1800,
        "pool_use_lifo": True,
    }
    db.init_app(app)
    migrate.init_app(app, db)
    app.extensions["streams"] = direct(STREAM, config.database_url)
    with app.app_context():
        sa.event.listen(db.engine, "handle_error", _keep_values_out)
        app.extensions["autocommit"] = autocommit = db.engine.execution_options()
        sa.event.listen(autocommit, "engine_connect", _begin_autocommit)
        sa.event.listen(db.engine, "checkin", _end_autocommit)


def _begin_autocommit(connection: sa.Connection) -> None:
    """Set the attribute of psycopg2. SQLAlchemy's option for the isolation level costs a call of PostgreSQL."""
    connection.connection.dbapi_connection.autocommit = True  # type: ignore[union-attr]


def _end_autocommit(connection: Any, _: object) -> None:
    if connection is not None:  # a broken connection is gone
        connection.autocommit = False
