"""What people send is in no log: not in ours, and not in PostgreSQL's, whatever goes wrong with a statement."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.engines import UNLIMITED, direct
from app.core.database.session import autocommit, db, streaming
from tests.client import Client

MARKER = "RAHASIA-SITI"
BROKEN = "INSERT INTO users (username, password_hash, nama_ktp) VALUES (:name, :hash, NULL)"
VALUES = {"name": MARKER, "hash": f"{MARKER}-hash"}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def postgres_log(app: Flask) -> Path:
    """Of the server of the tests; one that somebody else runs keeps its log where we may not look."""
    query = parse_qs(urlsplit(app.extensions["config"].database_url).query)
    path = Path(unquote(query.get("host", ["/nowhere"])[0])).parent / "logs" / "postgres.log"
    if not path.exists():
        pytest.skip("the server of the tests is not ours")
    return path


def register(client: Client, **data: str) -> int:
    sent = {
        "username": "siti",
        "password": "sandi-yang-panjang-7",
        "nama_ktp": f"{MARKER} Aminah",
        "nama_samaran": MARKER,
    }
    return client.post(
        "/register", {**sent, "nomor_hp": "081234567890", "email": "siti@rahasia.id", **data}
    ).status_code


def test_a_taken_name_leaves_nobodys_data_in_a_log(committed: Flask, log: io.StringIO) -> None:
    written = postgres_log(committed).stat().st_size
    client = Client(committed)
    assert register(client) == 201
    assert register(client, nomor_hp="081234567891", email="s@rahasia.id") == 409
    assert register(client, username="budi", email="s@rahasia.id") == 409
    assert register(client, username="budi", nomor_hp="081234567891") == 409
    text = postgres_log(committed).read_bytes()[written:].decode()
    assert "uq_users_username" in text
    for word in (MARKER, "81234567890", "rahasia.id", "argon2", "INSERT"):
        assert word not in text + log.getvalue()


def opened(engine: str) -> AbstractContextManager[sa.Connection]:
    if engine == "autocommit":
        return autocommit()
    if engine == "streams":
        return streaming()
    return db.engine.connect() if engine == "session" else direct(UNLIMITED).connect()


@pytest.mark.parametrize("engine", ["session", "autocommit", "streams", "direct"])
def test_a_broken_statement_leaves_nobodys_data_in_a_log(committed: Flask, log: io.StringIO, engine: str) -> None:
    written = postgres_log(committed).stat().st_size
    with opened(engine) as connection:
        if engine == "streams":
            connection.execute(sa.text("SET TRANSACTION READ WRITE"))
        with pytest.raises(sa.exc.IntegrityError) as raised:
            connection.execute(sa.text(BROKEN), VALUES)
        logging.getLogger("app").error("a crash", exc_info=raised.value)
    text = postgres_log(committed).read_bytes()[written:].decode()
    assert "null value in column" in text
    assert "null value in column" in log.getvalue()
    assert MARKER not in text + log.getvalue()
