"""Prepared statements for reads: plain rows, and the same errors as SQLAlchemy."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.dialects import postgresql

from app.core.database.prepared import PreparedStatement, generic
from app.core.database.session import autocommit, unit_of_work
from app.identity.models import User
from tests.helpers.factories import make_user

NUMBERS = PreparedStatement(sa.select(sa.bindparam("one", type_=sa.Integer), sa.literal(2), sa.literal("a%b")))
BACKEND = PreparedStatement(sa.select(sa.func.pg_backend_pid()))


def test_rows_are_plain_tuples(committed: Flask) -> None:
    with autocommit() as connection:
        assert NUMBERS.rows(connection, {"one": 1}) == [(1, 2, "a%b")]


def test_database_errors_are_raised_as_sqlalchemy_errors(committed: Flask) -> None:
    wrong = PreparedStatement(sa.select(1 / sa.bindparam("one", type_=sa.Integer)))
    with autocommit() as connection, pytest.raises(sa.exc.DBAPIError) as found:
        wrong.rows(connection, {"one": 0})
    assert not found.value.connection_invalidated


def test_a_dead_connection_raises_an_error_and_is_removed_from_the_pool(committed: Flask) -> None:
    with autocommit() as dying, autocommit() as killer:
        pid = BACKEND.rows(dying)[0][0]
        killer.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        with pytest.raises(sa.exc.OperationalError) as found:
            BACKEND.rows(dying)
    assert found.value.connection_invalidated
    with autocommit() as connection:
        assert NUMBERS.rows(connection, {"one": 1}) == [(1, 2, "a%b")]


def test_a_statement_with_generic_parameters_uses_a_generic_plan(committed: Flask) -> None:
    """If the parameters were not `generic`, PostgreSQL would make a new plan for each call."""
    ids = generic("ids", postgresql.ARRAY(sa.BigInteger))
    since = generic("since", sa.DateTime(timezone=True))
    query = sa.select(User.id).where(User.id == sa.any_(ids), User.created_at > since)
    statement = PreparedStatement(query.order_by(User.id))
    with unit_of_work():
        people = [make_user().id for _ in range(3)]
    with autocommit() as connection:
        for _ in range(8):
            values = {"ids": people[:2], "since": datetime(2026, 1, 1, tzinfo=UTC)}
            assert statement.rows(connection, values) == [(people[0],), (people[1],)]
        assert statement.rows(connection, {**values, "ids": []}) == []
        counts = sa.text("SELECT generic_plans FROM pg_prepared_statements WHERE statement LIKE '%users.id = ANY%'")
        assert connection.scalars(counts).one() > 0
