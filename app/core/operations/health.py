"""`/healthz`: this process lives. `/readyz`: everything it needs is there; both outside `/api`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask, current_app, jsonify
from flask.typing import ResponseReturnValue

from app.core.database.session import autocommit
from app.core.errors import RETRY_AFTER_S
from app.core.jobs import queue

logger = logging.getLogger(__name__)


def check_database() -> None:
    with autocommit() as connection:
        connection.execute(sa.text("SELECT 1"))


def check_queue() -> None:
    queue.connection().ping()


def check_migrations() -> None:
    with autocommit() as connection:
        current = set(MigrationContext.configure(connection).get_current_heads())
    needed = set(ScriptDirectory(current_app.extensions["migrate"].directory).get_heads())
    if current != needed:
        raise RuntimeError(f"migrations {sorted(current)} are applied, {sorted(needed)} are needed")


#: Raises when the service is not ready, or returns a figure worth showing.
Check = Callable[[], object]


def init_app(app: Flask, checks: Mapping[str, Check]) -> None:
    """Serve both; `/readyz` runs every check of `checks` and shows each under its name."""

    @app.get("/healthz")
    def healthz() -> ResponseReturnValue:
        return jsonify({"status": "ok"})

    @app.get("/readyz")
    def readyz() -> ResponseReturnValue:
        report: dict[str, object] = {}
        ready = True
        for name, check in checks.items():
            try:
                report[name] = check() or "ok"
            except Exception as error:
                logger.exception("not ready: %s", name)
                report[name] = type(error).__name__
                ready = False
        status = {"status": "ready" if ready else "unavailable", "checks": report}
        return (jsonify(status), 200) if ready else (jsonify(status), 503, {"Retry-After": str(RETRY_AFTER_S)})
