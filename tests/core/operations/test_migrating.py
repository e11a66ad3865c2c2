"""Tests of `flask db`.

They cover concurrent upgrades, an old database, a downgrade in production, and a migration that waits for a lock.
"""

import shutil
import subprocess
import sys
import time
from contextlib import closing

import psycopg2
import pytest
from alembic.script import ScriptDirectory

from app.core.database.engines import MIGRATE
from config import ROOT, environment
from dev.stack.waiting import wait_until
from tests.core.production import GOOD
from tests.helpers.migrations import flask, output, scalar

pytestmark = [pytest.mark.takes(seconds=40), pytest.mark.processes]

MIGRATION_LOCK = 7_263_545

#: Query that counts upgrades that wait for another upgrade. A waiting upgrade repeatedly tries to get the lock.
WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'idle' AND query LIKE 'SELECT pg_try_advisory_lock%'"""

WAITS_FOR_A_LOCK = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE kategori%'"""


def set_revision(database, revision):
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("UPDATE alembic_version SET version_num = %s", [revision])


def prepare(variables):
    """Run the step of `make run` that brings its database up to date."""
    env = {**environment(), **variables, "ENVIRONMENT": "development"}
    command = [sys.executable, "-m", "dev.prepare"]
    return subprocess.Popen(command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


PRODUCTION = {name: value for name, value in GOOD.items() if not name.endswith("_URL") or name == "FRONTEND_URL"}


def test_four_concurrent_upgrades_all_succeed(variables, database):
    upgrades = [flask({**variables, "DATABASE_URL": database}, "db", "upgrade") for _ in range(4)]
    for code, text in map(output, upgrades):
        assert code == 0, text
        assert "Traceback" not in text
    assert scalar(database, "SELECT count(*) FROM alembic_version") == 1


def test_an_upgrade_waits_for_another_upgrade_longer_than_the_lock_timeout(variables, database):
    connection = psycopg2.connect(database)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        upgrade = flask({**variables, "DATABASE_URL": database}, "db", "upgrade")
        wait_until(lambda: scalar(database, WAITING) == 1)
        with pytest.raises(subprocess.TimeoutExpired):
            upgrade.wait(int(MIGRATE["lock_timeout"]) / 1000 + 1)
    connection.close()
    code, text = output(upgrade)
    assert code == 0, text


def test_an_upgrade_refuses_a_database_older_than_the_first_migration(variables, database):
    there = {**variables, "DATABASE_URL": database}
    assert output(flask(there, "db", "upgrade"))[0] == 0
    set_revision(database, "0030")
    code, text = output(flask(there, "db", "upgrade"))
    assert code == 1
    assert "The database is at revision 0030, older than the first one of this version" in text
    assert "Traceback" not in text
    code, text = output(prepare(there))
    assert code == 1
    assert "Delete instance/, and run `make run` again." in text
    assert "Traceback" not in text


# --- a later migration ------------------------------------------------------------------------------------------------

STEP = """
from alembic import op

revision = "9999"
down_revision = "{head}"

def upgrade():
    op.execute("ALTER TABLE kategori ADD COLUMN IF NOT EXISTS shown_as text")

def downgrade():
    op.execute("ALTER TABLE kategori DROP COLUMN shown_as")
"""


@pytest.fixture
def step(variables, database, tmp_path):
    """Return the command-line arguments of an upgrade to a test migration. The migrated table has 2,500 rows."""
    assert output(flask({**variables, "DATABASE_URL": database}, "db", "upgrade"))[0] == 0
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO kategori (nama_kategori) SELECT 'k' || n FROM generate_series(1, 2500) n")
    folder = tmp_path / "migrations"
    shutil.copytree(ROOT / "migrations", folder)
    head = ScriptDirectory(str(folder)).get_current_head()
    (folder / "versions/9999_step.py").write_text(STEP.format(head=head))
    return ["db", "upgrade", "--directory", str(folder)]


def test_a_downgrade_in_production_needs_a_confirmation(variables, database, step):
    there = {**variables, "DATABASE_URL": database}
    assert output(flask(there, *step))[0] == 0
    down = ("db", "downgrade", *step[2:])
    code, text = output(flask({**there, **PRODUCTION}, *down))
    assert code == 1
    assert "-x yes" in text
    assert "Traceback" not in text
    assert scalar(database, "SELECT version_num FROM alembic_version") == "9999"
    assert output(flask({**there, **PRODUCTION}, *down, "-x", "yes"))[0] == 0
    assert scalar(database, "SELECT version_num FROM alembic_version") != "9999"


def test_a_migration_that_waits_for_a_lock_blocks_queries_only_briefly(variables, database, step):
    with closing(psycopg2.connect(database)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM kategori")  # this SELECT holds a lock until the transaction ends
        upgrade = flask({**variables, "DATABASE_URL": database}, *step)
        wait_until(lambda: scalar(database, WAITS_FOR_A_LOCK) == 1)
        started = time.monotonic()
        assert scalar(database, "SELECT count(*) FROM kategori") == 2500
        assert time.monotonic() - started < int(MIGRATE["lock_timeout"]) / 1000 + 1
        wait_until(lambda: scalar(database, WAITS_FOR_A_LOCK) == 1)  # the migration tries again
        connection.commit()
    code, text = output(upgrade)
    assert code == 0, text
    assert scalar(database, "SELECT version_num FROM alembic_version") == "9999"
