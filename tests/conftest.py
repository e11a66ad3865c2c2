"""Fixtures of the whole suite: real PostgreSQL, each test in a transaction that is rolled back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from flask import Flask
from flask_migrate import upgrade
from psycopg2 import errors as pg

from app import create_app
from app.core.database import engines, watchdog
from app.core.database.session import db, unit_of_work
from app.core.jobs import redis
from app.core.jobs.clock_jump import verified_time
from app.core.media import storage
from app.core.web.rate_limits import RateLimits
from app.identity.care import CaregiverLink
from app.identity.models import RoleName
from config import Config, environment
from dev.stack.waiting import PATIENCE_S, wait_until
from tests.helpers.client import Client
from tests.helpers.factories import make_admin, make_superadmin, make_user
from tests.helpers.statements import Statements

pytest_plugins = ["dev.pytest_servers", "tests.helpers.simulated"]


def config_for_tests(**overrides: str) -> Config:
    """A configuration for tests; `overrides` are environment variables."""
    return Config.from_env({"ENVIRONMENT": "testing", "RATE_LIMITS": "off", **overrides})


def create_patient_app(config: Config) -> Flask:
    """The application, but what is slow on a busy machine is not taken for away: Redis, a login, a statement."""
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("socket_timeout", "socket_connect_timeout"):
            patch.setitem(redis.WEB, limit, PATIENCE_S)
        for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
            patch.setitem(engines.REQUEST, limit, f"{PATIENCE_S * 1000:.0f}")
        patch.setattr(watchdog, "LOGIN_S", round(PATIENCE_S))
        return create_app(config)


def _migrate(database_url: str) -> None:
    app = create_patient_app(config_for_tests(DATABASE_URL=database_url))
    with app.app_context():
        upgrade()
        dispose(app)


def dispose(app: Flask) -> None:
    """Give up all connections that this process keeps."""
    with app.app_context():
        db.engine.dispose()
        app.extensions["autocommit"].dispose()
    app.extensions["redis"].close()


@pytest.fixture(scope="session")
def variables(process_number: int) -> dict[str, str]:
    """Where this process's own database and Redis are, as environment variables."""
    # Not above: pytest registers the plugin before it is imported.
    from dev.testing import DATABASE_VARIABLE, REDIS_VARIABLE, own_database, own_redis

    servers = environment()
    return {
        "DATABASE_URL": own_database(servers[DATABASE_VARIABLE], f"test_{process_number}", _migrate),
        "REDIS_URL": own_redis(servers[REDIS_VARIABLE], process_number),
    }


@pytest.fixture(scope="session")
def real_app(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """The application on this process's servers, seeded; what it commits stays, so take `app` or `committed`."""
    from app.cli import seed_all

    app = create_patient_app(config_for_tests(**variables, MEDIA_ROOT=str(tmp_path_factory.mktemp("media"))))
    with app.app_context():
        seed_all()
    yield app
    dispose(app)


class _OneConnection:
    """Stands in for the reading engines, so that reads see what the test has not committed.

    It leaves the session alone, so that code under test holds no connection before its own first statement.
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    @contextmanager
    def connect(self) -> Iterator[sa.Connection]:
        db.session.flush()
        yield self._connection


@pytest.fixture
def app(real_app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    """The application inside a transaction that is rolled back: a commit of the code under test is a savepoint."""
    real_app.extensions["redis"].flushdb()
    verified_time.reset()
    with real_app.app_context():
        engine = db.engine
        with engine.connect() as connection, connection.begin() as transaction:
            monkeypatch.setitem(db._app_engines[real_app], None, connection)
            monkeypatch.setitem(real_app.extensions, "autocommit", _OneConnection(connection))
            monkeypatch.setitem(real_app.extensions, "streams", _OneConnection(connection))
            db.session.configure(join_transaction_mode="create_savepoint")
            db.session.remove()
            yield real_app
            db.session.remove()
            transaction.rollback()
            _empty_rooms()
        db.session.configure(join_transaction_mode="conditional_savepoint")


@pytest.fixture
def limited(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rate limits count, and nothing is counted yet."""
    monkeypatch.setitem(app.extensions, "limits", RateLimits(app.extensions["redis"], enabled=True))


@pytest.fixture
def committed(real_app: Flask) -> Iterator[Flask]:
    """The application with real commits, for tests of several threads or processes; emptied and seeded afterwards."""
    real_app.extensions["redis"].flushdb()
    verified_time.reset()
    with real_app.app_context():
        if db.session.scalar(sa.text("SELECT EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM deliveries)")):
            empty()  # a test of whole processes, which commit what they like, was here before
        db.session.remove()
        yield real_app
        empty()
        _empty_rooms()


#: Up to so many rows a table is sooner emptied row by row than by new files for it and its indexes.
FEW_ROWS = 500


def empty() -> None:
    """As after the migrations and the seed, the counting of ids included."""
    from app.cli import seed_all

    db.session.remove()
    wait_until(_empty_tables)
    seed_all()


def _empty_tables() -> bool:
    """Returns whether no process that runs beside the test stood in the way, with whom this met in a deadlock."""
    names = [f'"{table.name}"' for table in reversed(db.metadata.sorted_tables)]
    sizes = ", ".join(f"(SELECT count(*) FROM (SELECT FROM {name} LIMIT {FEW_ROWS + 1}) AS few)" for name in names)
    try:
        with db.engine.begin() as connection:
            rows = dict(zip(names, connection.execute(sa.text(f"SELECT {sizes}")).one(), strict=True))
            # The audit log refuses to be emptied by anybody but its owner, with this much ado.
            connection.execute(sa.text("ALTER TABLE audit_entries DISABLE TRIGGER append_only"))
            if max(rows.values()) > FEW_ROWS:
                connection.execute(sa.text(f"TRUNCATE {', '.join(names)}"))
            else:
                for name in (name for name, count in rows.items() if count):
                    connection.execute(sa.text(f"DELETE FROM {name}"))
            connection.execute(sa.text("ALTER TABLE audit_entries ENABLE TRIGGER append_only"))
            connection.execute(sa.text("SELECT setval(seqrelid, seqstart, false) FROM pg_sequence"))
    except sa.exc.OperationalError as error:
        if isinstance(error.orig, pg.DeadlockDetected):
            return False
        raise
    return True


def _empty_rooms() -> None:
    """What lies beside the pictures is of people whom the database does not know any more."""
    for room in map(storage.room, storage.Room):
        for name, _ in list(room.names()):
            room.remove(name)


@pytest.fixture
def client(app: Flask) -> Client:
    """Nobody's client; `client.as_(user)` is somebody's."""
    return Client(app)


@pytest.fixture
def siti(client: Client) -> Client:
    """A patient."""
    return client.as_(make_user(username="siti", nama_ktp="Siti Aminah", nama_samaran="Melati"))


@pytest.fixture
def budi(client: Client) -> Client:
    """A caregiver who is linked to nobody."""
    data = {"username": "budi", "nama_ktp": "Budi Hartono", "nama_samaran": "Elang"}
    return client.as_(make_user(RoleName.PENDAMPING, **data))


@pytest.fixture
def caregiver(siti: Client, budi: Client) -> Client:
    """Budi, who is Siti's caregiver without any scope."""
    with unit_of_work():
        db.session.add(CaregiverLink(caregiver_id=budi.id, patient_id=siti.id))
    return budi


@pytest.fixture
def admin(client: Client) -> Client:
    return client.as_(make_admin(username="rina", nama_ktp="Rina Wijaya"))


@pytest.fixture
def superadmin(client: Client) -> Client:
    return client.as_superadmin(make_superadmin(username="dewi", nama_ktp="Dewi Lestari"))


@pytest.fixture
def statements(app: Flask) -> Iterator[Statements]:
    """Counts the SQL statements of a block: `with statements.at_most(2): ...`."""
    recorder = Statements()
    connection = db.session.connection().connection.dbapi_connection
    connection.cursor_factory = recorder.cursor
    yield recorder
    connection.cursor_factory = None
