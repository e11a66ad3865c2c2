"""A real streaming replica: what reads there, what does not, and that nobody notices when it lags, hangs or dies."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from app import create_app
from app.core.database.session import db, unit_of_work
from app.identity import sessions
from app.identity.models import RoleName
from config import Config
from dev.servers import Postgres, start_postgres, start_replica, start_valkey
from dev.stack.outages import Load, frozen
from dev.stack.processes import WebOnly
from dev.stack.waiting import wait_until
from dev.supervisor import Supervisor
from tests.helpers.factories import make_user

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]

KATEGORI = ("GET", "/kategori", {})


class Site:
    """A gunicorn on a primary and its replica."""

    def __init__(self, supervisor: Supervisor, folder: Path, mode: str) -> None:
        self.supervisor, self.folder = supervisor, folder
        self.primary = start_postgres(supervisor, folder / "primary")
        valkey = start_valkey(supervisor, folder / "valkey", durable=False)
        self.env = {
            "DATABASE_URL": self.primary.url(),
            "REDIS_URL": valkey.url,
            "RATE_LIMITS": "off",
            "SUPERADMIN_SQL_MODE": mode,
        }
        web = WebOnly(self.env, folder)
        web.flask("db", "upgrade")
        web.flask("seed")
        self.start_replica()
        self.web = web
        web.env["DATABASE_REPLICA_URL"] = self.replica.url()

    def start_replica(self) -> None:
        self.replica: Postgres = start_replica(self.supervisor, self.primary, self.folder / "replica")

    def on_replica(self, statement: str) -> None:
        _run(self.replica.url(role="postgres"), statement)

    def write(self, name: str) -> None:
        """Past the service, so that nobody counts as somebody who has written."""
        _run(self.primary.url(), f"INSERT INTO kategori (nama_kategori) VALUES ('{name}')")

    def shows(self, name: str, token: str | None = None) -> bool:
        response = self.web.call("GET", "/kategori", token)
        assert response.status_code == 200, response.text
        return name in [row["nama_kategori"] for row in response.json()]

    def reads_from_replica(self) -> bool:
        """Whether the reads of nobody come from the replica, which stands still meanwhile."""
        self.count = getattr(self, "count", 0) + 1
        with self.standing_still():
            self.write(f"Uji {self.count}")
            return not self.shows(f"Uji {self.count}")

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """The replica takes what is written, and shows nothing of it."""
        self.on_replica("SELECT pg_wal_replay_pause()")
        try:
            yield
        finally:
            self.on_replica("SELECT pg_wal_replay_resume()")

    def token(self, role: RoleName, *, console: bool = False) -> str:
        app = create_app(Config.from_env({"ENVIRONMENT": "testing", **self.env}))
        with app.app_context():
            with unit_of_work():
                user = make_user(role)
                token = sessions.begin_superadmin(user) if console else sessions.begin(user).access_token
            db.engine.dispose()
        return token


def _run(url: str, statement: str) -> None:
    with contextlib.closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("replica")
    folder.chmod(0o711)  # when we are root, PostgreSQL is not, and has to get in
    with Supervisor(folder / "logs") as supervisor:
        site = Site(supervisor, folder, "ro")
        with site.web:
            yield site


def test_nobodys_reads_come_from_the_replica_and_a_persons_own_do_not(site: Site) -> None:
    token = site.token(RoleName.PASIEN)
    wait_until(site.reads_from_replica)
    with site.standing_still():
        site.write("Segar")
        assert site.shows("Segar", token)


def test_a_replica_that_is_far_behind_is_left_out_and_comes_back(site: Site) -> None:
    wait_until(site.reads_from_replica)
    with site.standing_still():
        site.write("Tertinggal")
        wait_until(lambda: site.shows("Tertinggal"))
    wait_until(site.reads_from_replica)


def test_administrators_read_there_unless_they_have_just_written(site: Site) -> None:
    writer, reader = site.token(RoleName.ADMIN), site.token(RoleName.ADMIN)
    wait_until(site.reads_from_replica)

    def users(token: str) -> Any:
        return site.web.call("GET", "/admins/overview", token).json()["totals"]["users"]

    before = users(reader)
    with site.standing_still():
        _run(site.primary.url(), "INSERT INTO users (username, password_hash, nama_ktp) VALUES ('baru', '', 'Baru')")
        assert users(reader) == before
        assert site.web.call("POST", "/kategori", writer, json={"nama_kategori": "Milik admin"}).status_code == 201
        assert users(writer) == before + 1
        names = site.web.call("GET", "/admins/export/users", reader).text
        assert "Baru" not in names


def test_the_read_only_console_asks_the_replica(site: Site) -> None:
    console = site.token(RoleName.SUPERADMIN, console=True)
    wait_until(site.reads_from_replica)
    wait_until(lambda: _is_replica(site, console))
    # It goes on there: asking is no writing.
    assert _is_replica(site, console)


def _is_replica(site: Site, token: str) -> bool:
    response = site.web.call("POST", "/superadmin/query", token, json={"query": "SELECT pg_is_in_recovery()"})
    assert response.status_code == 200, response.text
    return bool(response.json()["rows"][0]["pg_is_in_recovery"])


@pytest.mark.parametrize("how", ["frozen", "killed"])
def test_nobody_notices_when_the_replica_goes_away(site: Site, how: str) -> None:
    wait_until(site.reads_from_replica)
    child = site.replica.child
    with Load(site.web, {"reads": KATEGORI, "more": KATEGORI}) as load:
        reads = load.answers["reads"]
        if how == "frozen":
            with frozen(child.process.pid):
                seen = len(reads.seen)
                wait_until(lambda: len(reads.seen) > seen + 20)
        else:
            child.process.send_signal(signal.SIGQUIT)  # at once, as a crash
            child.process.wait()
            site.supervisor.children.remove(child)
            seen = len(reads.seen)
            wait_until(lambda: len(reads.seen) > seen + 20)
            site.start_replica()
        wait_until(site.reads_from_replica)
    for answers in load.answers.values():
        assert {status for _, _, status in answers.seen} == {200}
