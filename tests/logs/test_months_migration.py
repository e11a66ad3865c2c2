"""The table of before becomes a partition: no record is moved, lost or refused meanwhile."""

from __future__ import annotations

import uuid
from contextlib import closing
from threading import Event, Thread

import psycopg2
import pytest

from dev.stack.waiting import wait_until
from tests.helpers.migrations import flask, output, scalar

pytestmark = pytest.mark.processes

COUNT = "SELECT count(*) FROM activity_logs"
KINDS = "SELECT string_agg(DISTINCT relkind::text, '') FROM pg_class WHERE relname = 'activity_logs'"
UNTIL = "SELECT relname FROM pg_class WHERE relname LIKE 'activity_logs_until%' AND relispartition AND relkind = 'r'"


class Writer:
    """Stores one record after the other, each in a transaction of its own, until it is stopped."""

    def __init__(self, url: str) -> None:
        self.count = 0
        self._stop = Event()
        self._url = url
        self._thread = Thread(target=self._write)

    def __enter__(self) -> Writer:
        self._thread.start()
        wait_until(lambda: self.count > 0)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        with closing(psycopg2.connect(self._url)) as connection, connection.cursor() as cursor:
            connection.autocommit = True
            while not self._stop.is_set():
                cursor.execute(
                    "INSERT INTO activity_logs (event_id, log, created_at) VALUES (%s, 'user', now())",
                    [str(uuid.uuid4())],
                )
                self.count += 1


@pytest.fixture
def there(variables: dict[str, str], database: str) -> dict[str, str]:
    settings = {**variables, "DATABASE_URL": database}
    assert output(flask(settings, "db", "upgrade", "0010"))[0] == 0
    return settings


def test_records_stay_and_come_in_while_the_table_is_partitioned_and_back(there: dict[str, str]) -> None:
    url = there["DATABASE_URL"]
    with Writer(url) as writer:
        code, text = output(flask(there, "db", "upgrade"))
        assert code == 0, text
        seen = writer.count
        wait_until(lambda: writer.count > seen)  # it goes on in the new table
    assert scalar(url, COUNT) == writer.count
    assert scalar(url, KINDS) == "p"
    name = scalar(url, UNTIL)
    assert scalar(url, f"SELECT count(*) FROM {name}") == writer.count
    with Writer(url) as second:
        pass
    code, text = output(flask(there, "db", "downgrade", "0010"))
    assert code == 0, text
    assert scalar(url, KINDS) == "r"
    assert scalar(url, COUNT) == writer.count + second.count
    code, text = output(flask(there, "db", "upgrade"))
    assert code == 0, text
    assert scalar(url, COUNT) == writer.count + second.count


def test_an_empty_table_starts_with_months_alone(there: dict[str, str]) -> None:
    code, text = output(flask(there, "db", "upgrade"))
    assert code == 0, text
    assert scalar(there["DATABASE_URL"], UNTIL) is None
    assert (
        scalar(there["DATABASE_URL"], "SELECT count(*) FROM pg_inherits WHERE inhparent = 'activity_logs'::regclass")
        == 4
    )
