"""WSGI application of the benchmarks. It contains the service, and routes for comparison under `/floor`.

`/floor/select/<id>` runs one indexed SELECT on a raw psycopg2 connection from a pool, in autocommit mode.
`/floor/reply/<id>` answers a reminder in the same way as the job that handles incoming messages.
"""

from __future__ import annotations

from typing import Any

from flask import Flask, jsonify, request
from psycopg2.pool import ThreadedConnectionPool
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from app import create_app
from app.core.database.session import unit_of_work
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.one_tap import message_answers
from config import Config

config = Config.from_env()


#: Each gunicorn process imports this module and so has its own pool. The processes share no connections.
pool = ThreadedConnectionPool(16, 16, config.database_url.replace("+psycopg2", ""))


def floors() -> Flask:
    floor = Flask("floor")

    @floor.get("/select/<int:user_id>")
    def select(user_id: int) -> Any:
        connection = pool.getconn()
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("SELECT id, username, nama_ktp FROM users WHERE id = %s", [user_id])
                row = cursor.fetchone()
        finally:
            pool.putconn(connection)
        return jsonify(row)

    @floor.post("/reply/<int:user_id>")
    def reply(user_id: int) -> Any:
        with app.app_context(), unit_of_work():
            message_answers.answer(message_answers.read(user_id).times, QuickAnswer(request.json["status"]))
        return jsonify(ok=True)

    return floor


app = create_app(config)
app.wsgi_app = DispatcherMiddleware(app.wsgi_app, {"/floor": floors()})  # type: ignore[method-assign]
