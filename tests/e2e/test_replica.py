"""Tests with a real streaming replica: which reads use the replica, and what happens if it lags, hangs or stops."""

from __future__ import annotations

import contextlib
import io
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pypdf
import pytest
import requests

from app import create_app
from app.core.database.session import db, unit_of_work
from app.identity import sessions
from app.identity.models import RoleName
from config import Config
from dev.servers import Postgres, start_postgres, start_replica, start_valkey
from dev.stack.outages import frozen
from dev.stack.processes import WebOnly
from dev.stack.waiting import PATIENCE_S, wait_until
from dev.supervisor import Supervisor
from tests.helpers.factories import make_user

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]

#: SQL that inserts 60 MB of log rows, which is more than any buffer between PostgreSQL and the client.
LOG = """INSERT INTO activity_logs (event_id, log, created_at, activity_description)
SELECT gen_random_uuid(), 'user', now(), repeat('x', 1000) FROM generate_series(1, 60000)"""
WHERE = {"query": "SELECT CASE WHEN pg_is_in_recovery() THEN 'replica' ELSE 'primary' END AS here"}


class Site:
    """A gunicorn with a primary PostgreSQL server and its replica."""

    def __init__(self, supervisor: Supervisor, folder: Path) -> None:
        self.supervisor, self.folder = supervisor, folder
        self.primary = start_postgres(supervisor, folder / "primary")
        valkey = start_valkey(supervisor, folder / "valkey", durable=False)
        self.env = {
            "DATABASE_URL": self.primary.url(),
            "REDIS_URL": valkey.url,
            "RATE_LIMITS": "off",
            "SUPERADMIN_SQL_MODE": "ro",
        }
        self.web = WebOnly(self.env, folder)
        self.web.flask("db", "upgrade")
        self.web.flask("seed")
        self.start_replica()
        self.web.env["DATABASE_REPLICA_URL"] = self.replica.url()
        self.users = 0

    def sign_in(self) -> None:
        self.admin = self._token(RoleName.ADMIN)
        self.console = self._token(RoleName.SUPERADMIN)

    def start_replica(self) -> None:
        self.replica: Postgres = start_replica(self.supervisor, self.primary, self.folder / "replica")

    def kill_replica(self) -> None:
        child = self.replica.child
        child.process.send_signal(signal.SIGQUIT)  # SIGQUIT ends PostgreSQL at once, like a crash.
        child.process.wait()
        self.supervisor.children.remove(child)

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Pause the replica's replication during the block."""
        wait_until(lambda: self.count(self.replica) == self.count(self.primary))
        _run(self.replica.url(role="postgres"), "SELECT pg_wal_replay_pause()")
        try:
            yield
        finally:
            _run(self.replica.url(role="postgres"), "SELECT pg_wal_replay_resume()")

    def write(self) -> str:
        self.users += 1
        name = f"Baru{self.users}"
        _run(
            self.primary.url(),
            f"INSERT INTO users (username, password_hash, nama_ktp) VALUES ('{name.lower()}', '', '{name}')",
        )
        return name

    def ask(self, method: str, path: str, token: str, json: object = None) -> requests.Response:
        response = self.web.call(method, path, token, json=json)
        assert response.status_code == 200, response.text
        return response

    def counted(self) -> int:
        count: int = self.ask("GET", "/admins/overview", self.admin).json()["totals"]["users"]
        return count

    def exported(self, format_: str) -> str:
        content = self.ask("GET", f"/admins/export/users?format={format_}", self.admin).content
        match format_:
            case "xlsx":
                with zipfile.ZipFile(io.BytesIO(content)) as book:
                    return "".join(book.read(name).decode() for name in book.namelist() if name.endswith(".xml"))
            case "pdf":
                return "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages)
            case _:
                return content.decode()

    def console_reads(self) -> str:
        (row,) = self.ask("POST", "/superadmin/query", self.console, WHERE).json()["rows"]
        _, exported = self.ask("POST", "/superadmin/query/export", self.console, WHERE).text.split()
        assert exported == row["here"]
        return str(exported)

    def count(self, server: Postgres) -> tuple[int, int]:
        with contextlib.closing(psycopg2.connect(server.url())) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM activity_logs)")
            people, logs = cursor.fetchone() or (0, 0)
            return people, logs

    def _token(self, role: RoleName) -> str:
        app = create_app(Config.from_env({"ENVIRONMENT": "testing", **self.env}))
        with app.app_context():
            with unit_of_work():
                user = make_user(role)
                is_console = role is RoleName.SUPERADMIN
                token = sessions.begin_superadmin(user) if is_console else sessions.begin(user).access_token
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
    folder.chmod(0o711)  # for root, PostgreSQL runs as the user `nobody`, which must be able to enter the folder
    with Supervisor(folder / "logs") as supervisor:
        site = Site(supervisor, folder)
        with site.web:
            site.sign_in()
            yield site


def test_exports_overview_and_the_read_only_console_use_the_replica(site: Site) -> None:
    with site.standing_still():
        before = site.counted()
        name = site.write()
        assert site.counted() == before
        for format_ in ("csv", "xlsx", "pdf"):
            assert name not in site.exported(format_)
        assert site.console_reads() == "replica"
    wait_until(lambda: site.counted() == before + 1)
    for format_ in ("csv", "xlsx", "pdf"):
        assert name in site.exported(format_)


def test_the_user_list_is_read_from_the_primary(site: Site) -> None:
    with site.standing_still():
        name = site.write()
        assert site.ask("GET", f"/admins/users?q={name}", site.admin).json()[0]["nama_ktp"] == name


def test_the_primary_serves_while_the_replica_hangs(site: Site) -> None:
    with site.standing_still():
        name, before = site.write(), site.count(site.primary)
        with frozen(site.replica.child.process.pid):
            assert site.counted() == before[0]
            assert name in site.exported("csv")
            assert site.console_reads() == "primary"


def test_a_replica_crash_breaks_only_the_running_download(site: Site) -> None:
    _run(site.primary.url(), LOG)
    with site.standing_still():
        name = site.write()
    head = {"Authorization": f"Bearer {site.admin}"}
    path = f"{site.web.url}/admins/export/activity-logs?format=csv"
    with requests.get(path, headers=head, stream=True, timeout=PATIENCE_S) as download:
        assert download.status_code == 200
        chunks = download.iter_content(65536)
        next(chunks)
        site.kill_replica()
        with pytest.raises(requests.RequestException):  # The client must notice that the file is incomplete.
            list(chunks)
    assert name in site.exported("csv")
    assert site.console_reads() == "primary"
    assert site.counted() == site.count(site.primary)[0]
    site.start_replica()
    wait_until(lambda: site.console_reads() == "replica")
