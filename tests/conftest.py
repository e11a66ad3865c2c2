"""Fixtures for all tests. Tests use a real PostgreSQL. Each test runs in a transaction that is rolled back."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher

from app.core.database.session import db, unit_of_work
from app.core.web.rate_limits import RateLimits
from app.identity import passwords
from app.identity.care import CaregiverLink
from app.identity.models import RoleName
from config import environment
from tests.caregivers.dependents import keep
from tests.helpers.apps import config_for_tests, create_patient_app, dispose, empty, empty_rooms, migrate
from tests.helpers.client import Client
from tests.helpers.factories import make_admin, make_superadmin, make_user
from tests.helpers.statements import Statements

#: A cheap hash for passwords. The hash in production takes 47 ms of CPU time, and tests check thousands of passwords.
CHEAP_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

pytest_plugins = [
    "dev.pytest_servers",
    "tests.helpers.migrations",
    "tests.helpers.simulated",
    "tests.helpers.controlled",
    "tests.helpers.full_redis",
]


@pytest.fixture(scope="session")
def variables(process_number):
    """Return the environment variables with the database and Redis of this test process."""
    # Import here, because pytest must register the plugin before its first import.
    from dev.testing import DATABASE_VARIABLE, REDIS_VARIABLE, own_database, own_redis

    servers = environment()
    return {
        "DATABASE_URL": own_database(servers[DATABASE_VARIABLE], f"test_{process_number}", migrate),
        "REDIS_URL": own_redis(servers[REDIS_VARIABLE], process_number),
    }


@pytest.fixture(scope="session")
def real_app(variables, tmp_path_factory):
    """Yield the application with seeded records.

    Its commits are permanent, so tests use `app` or `committed` instead.
    """
    from app.cli import seed_all

    app = create_patient_app(config_for_tests(**variables, MEDIA_ROOT=str(tmp_path_factory.mktemp("media"))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHER", CHEAP_HASHER)
        with app.app_context():
            seed_all()
        yield app
    dispose(app)


class _OneConnection:
    """Replacement for the engine of exports, so that exports see uncommitted changes of the test."""

    def __init__(self, connection):
        self._connection = connection

    @contextmanager
    def connect(self):
        db.session.flush()
        yield self._connection


def forget(app):
    """Empty Redis."""
    app.extensions["redis"].flushdb()


@pytest.fixture
def app(real_app, monkeypatch):
    """Yield the application in a transaction that is rolled back. A commit of the tested code only ends a savepoint."""
    forget(real_app)
    with real_app.app_context():
        engine = db.engine
        with engine.connect() as connection, connection.begin() as transaction:
            monkeypatch.setitem(db._app_engines[real_app], None, connection)
            monkeypatch.setitem(real_app.extensions, "autocommit", connection)
            monkeypatch.setitem(real_app.extensions, "streams", _OneConnection(connection))
            db.session.configure(join_transaction_mode="create_savepoint")
            db.session.remove()
            yield real_app
            db.session.remove()
            transaction.rollback()
            empty_rooms()
        db.session.configure(join_transaction_mode="conditional_savepoint")


@pytest.fixture
def change_settings(real_app, monkeypatch):
    """Return a function that changes settings of the application until the end of the test."""

    def change(**settings):
        config = replace(real_app.extensions["config"], **settings)
        monkeypatch.setitem(real_app.extensions, "config", config)

    return change


@pytest.fixture
def limited(app, monkeypatch):
    """Turn on rate limits with empty counters."""
    monkeypatch.setitem(app.extensions, "limits", RateLimits(app.extensions["redis"], enabled=True))


@pytest.fixture
def committed(real_app):
    """Yield the application with real commits, for tests with several threads or processes.

    Empty the tables afterwards.
    """
    forget(real_app)
    with real_app.app_context():
        if db.session.scalar(sa.text("SELECT EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM deliveries)")):
            empty()  # deletes rows that separate processes of an earlier test committed
        db.session.remove()
        yield real_app
        empty()
        empty_rooms()


@pytest.fixture
def client(app):
    """Return a client without a login. `client.as_(user)` logs in."""
    return Client(app)


@pytest.fixture
def siti(client):
    """Return a client logged in as a patient."""
    return client.as_(make_user(username="siti", nama_ktp="Siti Aminah", nama_samaran="Melati"))


@pytest.fixture
def owner(client):
    """Return a client logged in as the owner of a fixed number and e-mail."""
    return client.as_(make_user(username="siti", email="siti@example.com", nomor_hp="081234567890"))


@pytest.fixture
def budi(client):
    """Return a client logged in as a caregiver without patients."""
    data = {"username": "budi", "nama_ktp": "Budi Hartono", "nama_samaran": "Elang"}
    return client.as_(make_user(RoleName.PENDAMPING, **data))


@pytest.fixture
def caregiver(siti, budi):
    """Return the client of Budi. Budi is Siti's caregiver and has no permission (scope) for her data yet."""
    with unit_of_work():
        db.session.add(CaregiverLink(caregiver_id=budi.id, patient_id=siti.id))
    return budi


@pytest.fixture
def ibu(budi):
    """Return the id of Budi's mother, a dependent without a phone."""
    return keep(budi)


@pytest.fixture
def admin(client):
    return client.as_(make_admin(username="rina", nama_ktp="Rina Wijaya"))


@pytest.fixture
def superadmin(client):
    return client.as_superadmin(make_superadmin(username="dewi", nama_ktp="Dewi Lestari"))


@pytest.fixture
def statements(app):
    """Yield a counter of SQL statements. `with statements.at_most(2):` fails if the block runs more than two."""
    recorder = Statements()
    connection = db.session.connection().connection.dbapi_connection
    connection.cursor_factory = recorder.cursor
    yield recorder
    connection.cursor_factory = None
