"""Hot reads: plain rows past SQLAlchemy's result machinery, and its errors all the same."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.db import reading
from app.core.hotreads import HotRead

NUMBERS = HotRead(sa.select(sa.bindparam("one", type_=sa.Integer), sa.literal(2), sa.literal("a%b")))
BACKEND = HotRead(sa.select(sa.func.pg_backend_pid()))


def test_rows_are_plain_tuples(committed: Flask) -> None:
    with reading() as connection:
        assert NUMBERS.rows(connection, {"one": 1}) == [(1, 2, "a%b")]


def test_database_errors_are_sqlalchemys(committed: Flask) -> None:
    wrong = HotRead(sa.select(1 / sa.bindparam("one", type_=sa.Integer)))
    with reading() as connection, pytest.raises(sa.exc.DBAPIError) as found:
        wrong.rows(connection, {"one": 0})
    assert not found.value.connection_invalidated


def test_dead_connection_is_told_and_leaves_the_pool(committed: Flask) -> None:
    with reading() as dying, reading() as killer:
        pid = BACKEND.rows(dying)[0][0]
        killer.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        with pytest.raises(sa.exc.OperationalError) as found:
            BACKEND.rows(dying)
    assert found.value.connection_invalidated
    with reading() as connection:
        assert NUMBERS.rows(connection, {"one": 1}) == [(1, 2, "a%b")]
