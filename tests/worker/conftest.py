"""Fixtures: real `rq worker` processes, started as in production."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from dev.stack.waiting import wait_until
from tests.helpers.apps import dispose
from tests.worker.running import RunningWorker


@pytest.fixture
def start_worker(committed, variables, sim, tmp_path):
    workers = []
    env = {
        **variables,
        **sim.messaging.env(),
        "ENVIRONMENT": "testing",
        "RATE_LIMITS": "off",
        "MEDIA_ROOT": str(tmp_path),
    }

    def start(*queues, module="worker", **settings):
        log = tmp_path / f"worker{len(workers)}.log"
        workers.append(RunningWorker({**env, **settings}, log, module, *queues))
        return workers[-1]

    yield start
    for worker in workers:
        worker.kill()
    db.session.remove()
    dispose(committed)
    wait_until(_nobody_else_is_connected)  # wait until PostgreSQL has ended the statements of killed processes


def _nobody_else_is_connected():
    """Return whether no other client is connected.

    Statements of another client could cause a deadlock with the statements that empty the tables.
    """
    others = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
    with db.engine.connect() as connection:
        return bool(connection.scalar(sa.text(f"SELECT NOT EXISTS ({others} AND pid <> pg_backend_pid())")))
