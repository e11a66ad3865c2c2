"""Hot reads: plain rows past SQLAlchemy's result machinery, and its errors all the same."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit

NUMBERS = PreparedStatement(sa.select(sa.bindparam("one", type_=sa.Integer), sa.literal(2), sa.literal("a%b")))
BACKEND = PreparedStatement(sa.select(sa.func.pg_backend_pid()))


def test_rows_are_plain_tuples(committed: Flask) -> None:
    with autocommit() as connection:
        assert NUMBERS.rows(connection, {"one": 1}) == [(1, 2, "a%b")]


def test_database_errors_are_sqlalchemys(committed: Flask) -> None:
    wrong = PreparedStatement(sa.select(1 / sa.bindparam("one", type_=sa.Integer)))
    with autocommit() as connection, pytest.raises(sa.exc.DBAPIError) as found:
        wrong.rows(connection, {"one": 0})
    assert not found.value.connection_invalidated


def test_dead_connection_is_told_and_leaves_the_pool(committed: Flask) -> None:
    with autocommit() as dying, autocommit() as killer:
        pid = BACKEND.rows(dying)[0][0]
        killer.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        with pytest.raises(sa.exc.OperationalError) as found:
            BACKEND.rows(dying)
    assert found.value.connection_invalidated
    with autocommit() as connection:
        assert NUMBERS.rows(connection, {"one": 1}) == [(1, 2, "a%b")]
