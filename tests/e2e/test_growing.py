"""Tests of optional parts of a larger installation: PgBouncer in transaction mode, failover of Redis and PostgreSQL."""

import getpass
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import psycopg2
import pytest

from app.core.database import engines
from app.core.database.session import unit_of_work
from app.identity import sessions
from config import ROOT
from dev.servers import free_port, start_postgres, start_standby, valkey_server
from dev.stack.processes import Stack, WebOnly
from dev.stack.waiting import eventually
from dev.supervisor import Supervisor
from dev.system_packages import require
from tests.e2e.walk import PERSON
from tests.helpers.factories import make_user
from tests.helpers.migrations import scalar
from tests.helpers.overlap import IS_WAITING

pytestmark = [pytest.mark.takes(seconds=12), pytest.mark.processes]


POOL_SIZE = 10
POOLER = """
[databases]
pooled = host={host} dbname={dbname} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
ignore_startup_parameters = options
default_pool_size = {pool_size}
query_timeout = 60
admin_users = boss
"""


class Grown(Stack):
    """A `Stack` with PgBouncer between the service and the database.

    Its Redis can be replaced by another server at the same address.
    """

    def __init__(self, env, folder):
        super().__init__(env, folder)
        self.folder = folder
        self.pgbouncer = str(require("pgbouncer"))
        self.pooler_port, self.redis_port = free_port(), free_port()
        self.direct_url = env["DATABASE_URL"]
        self.env |= {
            "DATABASE_POOLER_URL": f"postgresql://health@127.0.0.1:{self.pooler_port}/pooled",
            "REDIS_URL": f"redis://127.0.0.1:{self.redis_port}/3",
            "WEB_CONCURRENCY": "3",  # 24 operating system threads, enough to use all connections of the pool
        }

    def start(self):
        parts = urlsplit(self.direct_url)
        pooler = self.folder / "pgbouncer.ini"
        host = parse_qs(parts.query)["host"][0]
        pooler.write_text(
            POOLER.format(
                host=host, dbname=parts.path.strip("/"), user=parts.username, port=self.pooler_port, pool_size=POOL_SIZE
            )
        )
        # PgBouncer refuses to run as root. Only PostgreSQL's user can enter the folder of PostgreSQL's socket.
        owner = ["-u", "nobody"] if os.geteuid() == 0 else ["-u", getpass.getuser()]
        self.spawn(self.pgbouncer, *owner, str(pooler))
        self.spawn_redis()
        super().start()

    def spawn_redis(self):
        options = ["--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        self.spawn(str(valkey_server()), *options)


@pytest.fixture(scope="module")
def grown(variables, real_app, tmp_path_factory):
    env = {**variables, "RATE_LIMITS": "on"}
    with Grown(env, tmp_path_factory.mktemp("grown")) as grown:
        yield grown


def is_logged(grown, event_type):
    query = f"SELECT EXISTS (SELECT FROM activity_logs WHERE event_type = '{event_type}')"
    return eventually(lambda: scalar(grown.direct_url, query))


def test_requests_and_logs_work_through_pgbouncer_and_a_redis_failover(grown, committed):
    tokens = grown.call("POST", "/register", json=PERSON)
    assert tokens.status_code == 201, tokens.text
    access = tokens.json()["access_token"]
    assert grown.call("GET", "/profile", access).json()["username"] == "siti"
    assert grown.call("GET", "/forum/threads", access).json() == []
    assert grown.call("POST", "/log/user-log", json={"event_type": "before"}).status_code == 202
    assert is_logged(grown, "before")
    with psycopg2.connect(host="127.0.0.1", port=grown.pooler_port, user="boss", dbname="pgbouncer") as _:
        pass  # Only PgBouncer has this administration console.

    grown.processes[1].kill()
    grown.processes[1].wait()
    assert grown.call("GET", "/profile", access).status_code == 200
    assert grown.call("POST", "/log/user-log", json={"event_type": "during"}).status_code == 503
    grown.spawn_redis()
    assert eventually(grown.is_ready), "the service did not find the new server"
    assert grown.call("POST", "/log/user-log", json={"event_type": "after"}).status_code == 202
    assert is_logged(grown, "after")


def test_the_statements_of_the_guide_give_the_role_its_settings(grown, committed):
    guide = (ROOT / "deploy/SCALING.md").read_text(encoding="utf-8")
    statements = re.findall(r"^ALTER ROLE health (SET \w+ = .*;)$", guide, re.MULTILINE)
    assert len(statements) == len(engines.REQUEST)
    try:
        for statement in statements:
            scalar(grown.direct_url, f"ALTER ROLE CURRENT_USER {statement}")
        assert [scalar(grown.direct_url, f"SHOW {name}") for name in engines.REQUEST] == ["UTC", "15s", "30s"]
    finally:
        scalar(grown.direct_url, "ALTER ROLE CURRENT_USER RESET ALL")


def test_requests_that_wait_for_one_email_get_no_503_with_a_full_pool(grown, committed):
    with unit_of_work():
        holder_id = make_user().id
        tokens = [sessions.begin(make_user()).access_token for _ in range(20)]

    def change(token):
        return grown.call("PUT", "/profile", token, json={"email": "sama@example.org"}).status_code

    # A transaction locks the e-mail address. Requests that want this address wait until they use all connections of the
    # pool.
    with closing(psycopg2.connect(grown.direct_url)) as holder, ThreadPoolExecutor(len(tokens)) as threads:
        holder.cursor().execute("UPDATE users SET email = 'sama@example.org' WHERE id = %s", [holder_id])
        calls = [threads.submit(change, token) for token in tokens]
        pool_is_used_up = eventually(lambda: scalar(grown.direct_url, IS_WAITING) == POOL_SIZE)
        holder.rollback()
    assert pool_is_used_up
    # A request that needs a second connection would get a 503.
    assert sorted(call.result() for call in calls) == [200] + [409] * 19


def test_requests_go_on_at_a_standby_that_takes_over(variables, tmp_path):
    with Supervisor(tmp_path / "servers") as supervisor:
        primary = start_postgres(supervisor, tmp_path / "primary")
        web = WebOnly(
            {"DATABASE_URL": primary.url(), "REDIS_URL": variables["REDIS_URL"], "RATE_LIMITS": "off"}, tmp_path
        )
        web.flask("db", "upgrade")
        web.flask("seed")
        standby = start_standby(supervisor, primary, tmp_path / "standby")
        web.env["DATABASE_URL"] = f"postgresql://health@/health?host={primary.sockets},{standby.sockets}&port=5432,5432"
        with web:
            access = web.call("POST", "/register", json=PERSON).json()["access_token"]
            assert eventually(lambda: scalar(standby.url(), "SELECT count(*) FROM users") == 1)
            primary.child.process.send_signal(signal.SIGQUIT)  # SIGQUIT ends PostgreSQL at once, like a crash.
            primary.child.process.wait()
            supervisor.children.remove(primary.child)
            assert web.call("GET", "/profile", access).status_code == 503
            with closing(psycopg2.connect(standby.url(role="postgres"))) as connection:
                connection.cursor().execute("SELECT pg_promote()")
            assert eventually(lambda: web.call("GET", "/profile", access).status_code == 200)
            assert web.call("PUT", "/profile", access, json={"domicile": "Bali"}).status_code == 200
            assert [web.call("GET", "/profile", access).status_code for _ in range(20)] == [200] * 20
