"""SQLAlchemy engines of the service.

Two engines have a connection pool: one is for transactions, the other is in autocommit mode. All further engines have
no pool. Migrations and long reads, such as exports, use the engines without a pool.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson
import sqlalchemy as sa
from flask import Flask

from app.core.database.prepared import without_detail
from app.core.database.session import db, migrate
from app.core.settings import settings
from config import Config

#: PostgreSQL session settings; timeouts are in milliseconds. A request ends within seconds, but an export lasts until
#: its client has read everything. STREAM therefore overrides the settings that `keep_request_settings` stores in the
#: database role.
REQUEST = {"timezone": "UTC", "statement_timeout": "15000", "idle_in_transaction_session_timeout": "30000"}
STREAM = {
    "timezone": "UTC", "statement_timeout": "0", "default_transaction_read_only": "on",
    "idle_in_transaction_session_timeout": "300000",
}  # fmt: skip
UNLIMITED = {"timezone": "UTC", "statement_timeout": "0", "lock_timeout": "5000"}
#: A short lock timeout for migrations. While a migration waits for a lock, all other users of the table wait too.
MIGRATE = {**UNLIMITED, "lock_timeout": "1000"}

#: Connections in each of the two pools of a process: one for each of gunicorn's 8 threads. Under load, a pool may open
#: twice as many connections. A worker needs more than 8 connections, because it sends from up to 16 threads.
POOL_SIZE = 8


def direct(options: Mapping[str, str]) -> sa.Engine:
    """Return an engine without a pool and with the session settings `options`.

    The connections of this engine bypass the database pooler.
    """
    engine = sa.create_engine(
        settings.database_url, poolclass=sa.NullPool, connect_args=_options(options), hide_parameters=True
    )
    _keep_values_out_of_errors(engine)
    return engine


def keep_request_settings() -> None:
    """Store the session settings of requests in the database role.

    This is needed because a database pooler ignores the settings of a session.
    """
    with direct(UNLIMITED).begin() as connection:
        for name, value in REQUEST.items():
            connection.exec_driver_sql(f"ALTER ROLE CURRENT_USER SET {name} = '{value}'")


def _options(options: Mapping[str, str]) -> dict[str, str]:
    return {"options": " ".join(f"-c {name}={value}" for name, value in options.items())}


def _keep_values_out_of_errors(*engines: sa.Engine) -> None:
    """Remove the DETAIL and the statement from database errors. Otherwise the logs would contain personal data."""

    def cut(context: sa.ExceptionContext) -> None:
        without_detail(context.original_exception)
        if isinstance(context.sqlalchemy_exception, sa.exc.StatementError):
            context.sqlalchemy_exception.statement = None
        if isinstance(context.sqlalchemy_exception, sa.exc.DBAPIError):
            text = f"({type(context.original_exception).__name__}) {context.original_exception}"
            context.sqlalchemy_exception.args = (text,)

    for engine in engines:
        sa.event.listen(engine, "handle_error", cut)


def _forget_together(*engines: sa.Engine) -> None:
    """Empty all pools when a connection of one pool breaks.

    Otherwise each broken connection would cause one 503 response.
    """

    def forget(context: sa.ExceptionContext) -> None:
        if context.is_disconnect:
            for engine in engines:
                if engine is not context.engine:
                    engine.dispose()

    for engine in engines:
        sa.event.listen(engine, "handle_error", forget)


def init_app(app: Flask, config: Config) -> None:
    connect = {
        "connect_timeout": 3,
        # These settings detect a dead database host within 20 s. They do not detect a hanging process on a live host,
        # because the host's kernel still acknowledges packets. If the process hangs, nginx answers after
        # `proxy_read_timeout`. Up to 8 threads of a web process wait until the database responds or its connections
        # close.
        "keepalives_idle": 10, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 10000,
    }  # fmt: skip
    pooled = connect if config.database_pooler_url else {**connect, **_options(REQUEST)}
    address = config.database_pooler_url or config.database_url
    pool: dict[str, object] = {
        "pool_size": POOL_SIZE, "max_overflow": POOL_SIZE,
        "pool_timeout": 3, "pool_recycle": 1800, "pool_use_lifo": True, "connect_args": pooled,
        # PostgreSQL returns the JSON number 1e20 as an integer of 21 digits. orjson parses it into a float. The default
        # parser returns an int, which orjson cannot write.
        "json_deserializer": orjson.loads,
        "hide_parameters": True,
    }  # fmt: skip
    app.config["SQLALCHEMY_DATABASE_URI"] = address
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = pool
    db.init_app(app)
    migrate.init_app(app, db)
    autocommitting, streams = _autocommitting(address, pool), _streaming(config.database_url, connect)
    app.extensions["autocommit"], app.extensions["streams"] = autocommitting, streams
    app.extensions["replica"] = replica = None
    if config.database_replica_url:
        app.extensions["replica"] = replica = _streaming(config.database_replica_url, connect)
        _keep_values_out_of_errors(replica)
    with app.app_context():
        _forget_together(db.engine, autocommitting)
        _keep_values_out_of_errors(db.engine, autocommitting, streams)


def _autocommitting(address: str, pool: Mapping[str, object]) -> sa.Engine:
    return sa.create_engine(
        address, isolation_level="AUTOCOMMIT", skip_autocommit_rollback=True, pool_reset_on_return=None, **pool
    )


def _streaming(address: str, connect: Mapping[str, object]) -> sa.Engine:
    return sa.create_engine(
        address,
        poolclass=sa.NullPool,
        connect_args={**connect, **_options(STREAM)},
        json_deserializer=orjson.loads,
        hide_parameters=True,
    )
