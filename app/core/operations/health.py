"""Health checks outside `/api`.

`/healthz` returns 200 if this process runs. `/readyz` returns 200 if everything that the service needs is available.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

import sqlalchemy as sa
import sqlalchemy.exc
from flask import Flask, Response, jsonify
from flask.typing import ResponseReturnValue
from psycopg2 import errors as pg

from app.core.database import migrations
from app.core.database.session import db
from app.core.errors import RETRY_AFTER_S, Unavailable, handle_app_error, handle_database_error
from app.core.jobs import queue
from app.core.version import VERSION

logger = logging.getLogger(__name__)


def check_database() -> None:
    db.session.execute(sa.text("SELECT 1"))


def check_queue() -> None:
    queue.connection().set("readyz", 1, ex=60)  # test a write, because a full Redis answers a ping but refuses writes


#: A check function. It raises an error if the service is not ready. Otherwise it may return a value for the report.
Check = Callable[[], object]


def init_app(app: Flask, checks: Mapping[str, Check]) -> None:
    """Register `/healthz` and `/readyz`. `/readyz` runs all `checks` and reports each result by its name."""
    app.register_error_handler(sqlalchemy.exc.ProgrammingError, _handle_older_schema)

    @app.get("/healthz")
    def healthz() -> ResponseReturnValue:
        return jsonify({"status": "ok", "version": VERSION})

    @app.get("/readyz")
    def readyz() -> ResponseReturnValue:
        report: dict[str, object] = {}
        ready = True
        for name, check in checks.items():
            try:
                report[name] = check() or "ok"
            except Exception as error:
                logger.exception("not ready: %s", name)
                is_told = isinstance(error, migrations.OlderDatabaseError)
                report[name] = str(error) if is_told else type(error).__name__
                db.session.remove()  # its connection may be broken
                ready = False
        status = {"status": "ready" if ready else "unavailable", "checks": report}
        return (jsonify(status), 200) if ready else (jsonify(status), 503, {"Retry-After": str(RETRY_AFTER_S)})


def _handle_older_schema(error: sqlalchemy.exc.ProgrammingError) -> Response:
    """Return 503 if a table, column or function is missing because of pending migrations. Raise all other errors."""
    if isinstance(error.orig, (pg.UndefinedTable, pg.UndefinedColumn, pg.UndefinedFunction)):
        try:
            migrations.check()
        except migrations.OlderDatabaseError as older:
            logger.error("%s", older)  # noqa: TRY400  # the traceback of the refused statement says nothing more
            return handle_app_error(Unavailable())
    return handle_database_error(error)
