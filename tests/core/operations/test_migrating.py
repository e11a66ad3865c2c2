"""`flask db`: several upgrades at once, and a downgrade in production."""

from __future__ import annotations

import subprocess

import psycopg2
import pytest

from app.core.database.engines import UNLIMITED
from dev.stack.waiting import wait_until
from tests.core.production import GOOD
from tests.helpers.migrations import flask, output, scalar

pytestmark = [pytest.mark.takes(seconds=40), pytest.mark.processes]

MIGRATION_LOCK = 7_263_545

#: How many wait for another's upgrade of this database: they ask again and again, and hold nothing meanwhile.
WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'idle' AND query LIKE 'SELECT pg_try_advisory_lock%'"""

PRODUCTION = {name: value for name, value in GOOD.items() if not name.endswith("_URL") or name == "FRONTEND_URL"}


def test_four_upgrades_at_once_are_one(variables: dict[str, str], database: str) -> None:
    upgrades = [flask({**variables, "DATABASE_URL": database}, "db", "upgrade") for _ in range(4)]
    for code, text in map(output, upgrades):
        assert code == 0, text
        assert "Traceback" not in text
    assert scalar(database, "SELECT count(*) FROM alembic_version") == 1


def test_an_upgrade_waits_longer_for_another_than_for_any_lock(variables: dict[str, str], database: str) -> None:
    connection = psycopg2.connect(database)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        upgrade = flask({**variables, "DATABASE_URL": database}, "db", "upgrade")
        wait_until(lambda: scalar(database, WAITING) == 1)
        with pytest.raises(subprocess.TimeoutExpired):
            upgrade.wait(int(UNLIMITED["lock_timeout"]) / 1000 + 1)
    connection.close()
    code, text = output(upgrade)
    assert code == 0, text


def test_a_downgrade_in_production_needs_a_yes(variables: dict[str, str], database: str) -> None:
    there = {**variables, "DATABASE_URL": database}
    assert output(flask(there, "db", "upgrade"))[0] == 0
    before = scalar(database, "SELECT version_num FROM alembic_version")
    code, text = output(flask({**there, **PRODUCTION}, "db", "downgrade"))
    assert code == 1
    assert "-x yes" in text
    assert "Traceback" not in text
    assert scalar(database, "SELECT version_num FROM alembic_version") == before
    assert output(flask({**there, **PRODUCTION}, "db", "downgrade", "-x", "yes"))[0] == 0
    assert scalar(database, "SELECT version_num FROM alembic_version") != before
