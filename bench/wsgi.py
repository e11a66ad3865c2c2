"""What the benchmarks' gunicorn serves: the application, and beside it the two floors that it is measured against.

`/floor/hello` is H, a bare Flask route that answers JSON; `/floor/select/<id>` is F1, the same with one indexed SELECT
on a raw pooled autocommit psycopg2 connection. Neither has anything of ours around it.
"""

from __future__ import annotations

from typing import Any

from flask import Flask, jsonify
from psycopg2.pool import ThreadedConnectionPool
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from app import create_app
from config import Config

config = Config.from_env()


#: Each worker imports this module itself, so none shares a connection with another.
pool = ThreadedConnectionPool(16, 16, config.database_url.replace("+psycopg2", ""))


def floors() -> Flask:
    floor = Flask("floor")

    @floor.get("/hello")
    def hello() -> Any:
        return jsonify(hello="world")

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

    return floor


app = create_app(config)
app.wsgi_app = DispatcherMiddleware(app.wsgi_app, {"/floor": floors()})  # type: ignore[method-assign]
