"""A second database connection inside a unit of work is an error. In production, it is only logged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database import db_time
from app.core.database.session import autocommit, current_connection, db, own_transaction, unit_of_work
from app.identity.models import Role

SECOND = pytest.mark.parametrize("connect", [autocommit, own_transaction])
Connect = Callable[[], AbstractContextManager[object]]


@SECOND
def test_a_second_connection_is_refused_inside_a_transaction(committed: Flask, connect: Connect) -> None:
    with unit_of_work():
        db.session.execute(sa.select(1))
        with pytest.raises(RuntimeError, match="second connection"), connect():
            pass


@SECOND
def test_a_second_connection_is_refused_after_an_unflushed_change(committed: Flask, connect: Connect) -> None:
    with unit_of_work():
        role = Role(name="coba")
        db.session.add(role)
        with pytest.raises(RuntimeError, match="second connection"), connect():
            pass
        db.session.expunge(role)


@SECOND
def test_a_second_connection_is_allowed_before_a_query_and_after_a_rollback(committed: Flask, connect: Connect) -> None:
    with unit_of_work():
        with connect():
            pass
        db.session.execute(sa.select(1))
        db.session.rollback()
        with connect():
            pass


@SECOND
def test_a_second_connection_in_production_is_only_logged(
    committed: Flask, connect: Connect, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = replace(committed.extensions["config"], environment="production")
    monkeypatch.setitem(committed.extensions, "config", config)
    with unit_of_work():
        db.session.execute(sa.select(1))
        with connect():
            pass
    (record,) = [each for each in caplog.records if "second database connection" in each.message]
    assert __file__ in str(record.stack_info)


def test_current_connection_is_the_connection_of_the_transaction(committed: Flask) -> None:
    backend = sa.select(sa.func.pg_backend_pid())
    with unit_of_work():
        own = db.session.scalar(backend)
        with current_connection() as connection:
            assert connection.scalar(backend) == own
        assert db_time.now()
