"""Tests of web processes whose code is older or newer than the database, as during a rollout."""

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory

from app.core.database import migrations
from app.core.database.session import db
from config import ROOT
from tests.helpers.client import Client, assert_error

pytestmark = pytest.mark.processes

REVISION = sa.text("UPDATE alembic_version SET version_num = :revision")


def run(*statements):
    with db.engine.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


def migrate_to(revision):
    with db.engine.begin() as connection:
        connection.execute(REVISION, {"revision": revision})


@pytest.fixture
def client(committed, monkeypatch):
    """Yield a client. Restore the stored revision of the database afterwards."""
    monkeypatch.setitem(committed.config, "PROPAGATE_EXCEPTIONS", False)
    with db.engine.connect() as connection:
        head = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
    yield Client(committed)
    migrate_to(head)


@pytest.fixture
def without_a_table(client):
    """Simulate a database without the migrations that add a table and a column."""
    run("ALTER TABLE kategori RENAME TO kategori_later", "ALTER TABLE roles RENAME COLUMN name TO name_later")
    yield
    run("ALTER TABLE kategori_later RENAME TO kategori", "ALTER TABLE roles RENAME COLUMN name_later TO name")


def test_old_code_is_ready_on_a_newer_database(client):
    migrate_to("9999")
    assert client.get("/readyz").json["checks"]["migrations"] == "ok"


def sentence(revision):
    (first,) = ScriptDirectory(str(ROOT / "migrations")).get_bases()
    return migrations.TOO_OLD.format(revision=revision, first=first)


@pytest.mark.parametrize("revision", ["0001", "0055"])
def test_new_code_is_not_ready_on_an_older_database(client, revision):
    migrate_to(revision)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json["checks"] == {**response.json["checks"], "migrations": sentence(revision), "database": "ok"}


def test_new_code_is_not_ready_on_an_empty_database(client):
    run("ALTER TABLE alembic_version RENAME TO alembic_version_later")
    try:
        assert client.get("/readyz").status_code == 503
    finally:
        run("ALTER TABLE alembic_version_later RENAME TO alembic_version")


@pytest.mark.usefixtures("without_a_table")
@pytest.mark.parametrize("path", ["/kategori", "/roles"])
def test_the_api_is_unavailable_until_the_database_is_migrated(client, path):
    migrate_to("0001")
    response = client.get(path)
    assert_error(response, 503, "service_unavailable")
    assert response.headers["Retry-After"] == "5"


@pytest.mark.usefixtures("without_a_table")
def test_a_missing_table_returns_500_when_all_migrations_are_applied(client):
    assert_error(client.get("/kategori"), 500, "internal_error")
