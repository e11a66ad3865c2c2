"""One connection a session: in autocommit mode outside a unit of work, and in one transaction inside."""

from contextlib import ExitStack, suppress

import pytest
import sqlalchemy as sa
from psycopg2.extensions import TRANSACTION_STATUS_IDLE, TRANSACTION_STATUS_INTRANS

from app.core.database import db_time
from app.core.database.engines import UNLIMITED, direct
from app.core.database.session import db, unit_of_work
from app.identity.models import Role, User
from tests.helpers.client import Client
from tests.helpers.factories import make_user

BACKEND = sa.select(sa.func.pg_backend_pid())


@pytest.fixture
def fresh(committed):
    """Yield the application with an empty pool."""
    db.session.remove()
    db.engine.dispose()
    yield committed
    db.session.remove()
    db.engine.dispose()


def pool():
    """Return how many connections are in use, and how many are open."""
    return db.engine.pool.checkedout(), db.engine.pool.checkedin() + db.engine.pool.checkedout()


def transaction_status():
    return db.session.connection().connection.driver_connection.info.transaction_status


def test_a_statement_outside_a_unit_opens_no_transaction_and_commits_itself(fresh):
    db.session.execute(sa.insert(Role).values(name="coba"))
    assert transaction_status() == TRANSACTION_STATUS_IDLE
    db.session.rollback()
    assert db.session.scalar(sa.select(Role.id).filter_by(name="coba"))


def test_a_unit_is_one_transaction_on_one_connection(fresh):
    db.session.scalar(BACKEND)
    with unit_of_work():
        assert db.session.scalar(BACKEND) == db.session.scalar(BACKEND)
        assert db_time.now()
        assert transaction_status() == TRANSACTION_STATUS_INTRANS
        assert pool() == (1, 1)
    assert pool() == (0, 1)


def test_a_failed_unit_changes_nothing(fresh):
    with suppress(ZeroDivisionError), unit_of_work():
        db.session.execute(sa.insert(Role).values(name="coba"))
        raise ZeroDivisionError
    assert db.session.scalar(sa.select(Role.id).filter_by(name="coba")) is None


def test_a_unit_reads_rows_of_an_earlier_read_again(fresh):
    user = make_user()
    before = db.session.get_one(User, user.id)
    with fresh.app_context(), unit_of_work():
        db.session.execute(sa.update(User).where(User.id == user.id).values(nama_ktp="Siti"))
    with unit_of_work():
        assert db.session.get_one(User, user.id).nama_ktp == "Siti" != before.nama_ktp


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_request_uses_one_connection_and_gives_it_back(fresh, method):
    client = Client(fresh).as_(make_user())
    db.session.remove()
    db.engine.dispose()
    assert client.open(method, "/profile", None if method == "GET" else {"domicile": "Bali"}).status_code == 200
    assert pool() == (0, 1)


def test_after_a_break_the_whole_pool_is_opened_anew(fresh):
    """Otherwise each broken connection would cause one 503."""
    with ExitStack() as stack:
        connections = [stack.enter_context(db.engine.connect()) for _ in range(3)]
        pids = [connection.scalar(BACKEND) for connection in connections]
    with direct(UNLIMITED).connect() as connection:
        connection.execute(sa.select(*(sa.func.pg_terminate_backend(pid, 5000) for pid in pids)))
    client = Client(fresh)
    assert [client.get("/forum/threads").status_code for _ in range(4)] == [503, 200, 200, 200]
