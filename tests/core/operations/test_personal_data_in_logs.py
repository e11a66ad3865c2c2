"""The logs of the service and of PostgreSQL contain no input of users, even after a failed statement."""

import io
import logging

import pytest
import sqlalchemy as sa

from app.core.database.engines import UNLIMITED, direct
from app.core.database.session import db, own_connection
from tests.helpers.client import Client
from tests.helpers.factories import make_superadmin
from tests.helpers.server_log import postgres_log

MARKER = "RAHASIA-SITI"
BROKEN = "INSERT INTO users (username, password_hash, nama_ktp) VALUES (:name, :hash, NULL)"
VALUES = {"name": MARKER, "hash": f"{MARKER}-hash"}


@pytest.fixture
def log():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def server_log(app):
    path = postgres_log(app)
    if path is None:
        pytest.skip("the server of the tests is not ours")
    return path


def opened(engine):
    if engine == "streams":
        return own_connection()
    return db.engine.connect() if engine == "session" else direct(UNLIMITED).connect()


@pytest.mark.parametrize("engine", ["session", "streams", "direct"])
def test_a_failed_statement_logs_no_personal_data(committed, log, engine):
    written = server_log(committed).stat().st_size
    with opened(engine) as connection:
        if engine == "streams":
            connection.execute(sa.text("SET TRANSACTION READ WRITE"))
        with pytest.raises(sa.exc.IntegrityError) as raised:
            connection.execute(sa.text(BROKEN), VALUES)
        logging.getLogger("app").error("a crash", exc_info=raised.value)
    text = server_log(committed).read_bytes()[written:].decode()
    assert "null value in column" in text
    assert "null value in column" in log.getvalue()
    for word in (MARKER, "INSERT INTO"):
        assert word not in text + log.getvalue()


def test_a_statement_of_the_sql_console_is_not_logged(committed, caplog):
    """An error of PostgreSQL with data is returned to the super-admin, but it is in no log."""
    caplog.set_level(logging.DEBUG)
    boss = Client(committed).as_superadmin(make_superadmin(nama_ktp=MARKER))
    written = server_log(committed).stat().st_size
    for path in ("/superadmin/query", "/superadmin/query/export"):
        for statement in ("SELECT '{}'", "SELECT '{}'::integer", "SELEC '{}'"):
            boss.post(path, {"query": statement.format(MARKER)})
        refused = boss.post(path, {"query": "SELECT nama_ktp::integer FROM users"})
        assert refused.json["message"] == f'invalid input syntax for type integer: "{MARKER}"'
    logged = [str(vars(record)) for record in caplog.records]
    assert any("'app.audit'" in line for line in logged)
    assert MARKER not in str(logged) + server_log(committed).read_bytes()[written:].decode()
