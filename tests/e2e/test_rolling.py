"""Test of an update to a new version and of the return to the old version. No request may fail.

The update first migrates the database, and then replaces one process after the other. The return to the old version
only replaces the processes.
"""

import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from textwrap import dedent

import pytest
from alembic.script import ScriptDirectory

from app.core.lib.local_time import rfc3339
from config import ROOT, environment
from dev.stack.outages import Load
from dev.stack.site import DeployedStack, readiness
from dev.stack.waiting import wait_until
from dev.system_packages import require
from dev.testing import DATABASE_VARIABLE, own_database
from tests.e2e.walk import PERSON
from tests.helpers.apps import migrate

pytestmark = [pytest.mark.takes(seconds=35), pytest.mark.processes]

NEXT = "next"
#: A migration for the next version of the service. It changes the tables with the most requests.
MIGRATION = """
    import sqlalchemy as sa
    from alembic import op

    revision = "{revision}"
    down_revision = "{head}"

    def upgrade():
        op.create_table("next_things", sa.Column("id", sa.BigInteger(), primary_key=True))
        for table in ("activity_logs", "deliveries", "posts", "reminders", "sessions", "users"):
            op.add_column(table, sa.Column("next_note", sa.Text()))
            op.add_column(table, sa.Column("next_count", sa.Integer(), server_default=sa.text("0"), nullable=False))
        op.create_index("ix_next_deliveries", "deliveries", ["next_count"])

    def downgrade():
        raise NotImplementedError
"""


@pytest.fixture(scope="module")
def next_version(tmp_path_factory):
    """Copy the service's code and add one migration."""
    code = tmp_path_factory.mktemp("next") / "service"
    code.mkdir()
    for folder in ("app", "migrations"):
        shutil.copytree(ROOT / folder, code / folder)
    for file in ("config.py", "gunicorn.conf.py", "worker.py", "wsgi.py"):
        shutil.copy2(ROOT / file, code)
    head = ScriptDirectory(str(ROOT / "migrations")).get_current_head()
    migration = code / "migrations" / "versions" / "9999_next.py"
    migration.write_text(dedent(MIGRATION.format(revision=NEXT, head=head)))
    return code


@pytest.fixture
def site(process_number, variables, running, tmp_path):
    """Start the site on its own database, because the next version's migration must not affect other tests."""
    require("nginx")
    database = own_database(environment()[DATABASE_VARIABLE], f"rolling_{process_number}", migrate)
    env = {"DATABASE_URL": database, **running.messaging.env(), "RATE_LIMITS": "off"}
    with DeployedStack(env, tmp_path) as site:
        site.flask("seed")
        yield site


class Rollout:
    """The deployed site, a person with many reminders, and the steps of an update between two versions."""

    def __init__(self, site, sim):
        self.site, self.sim = site, sim
        assert site.call("POST", "/register", json=PERSON).status_code == 201
        login = {"username": PERSON["username"], "password": PERSON["password"]}
        self.token = site.call("POST", "/login", json=login).json()["access_token"]
        self.workers = site.processes[3:5]
        self.reminders = 0

    def requests(self):
        category = self.site.call("GET", "/forum/categories").json()[0]["id"]
        thread = {"category_id": category, "title": "Menu sehat", "content": "Apa menu Anda?"}
        return {
            "list": ("GET", "/forum/threads", {"token": self.token}),
            "thread": ("POST", "/forum/threads", {"token": self.token, "json": thread}),
            "profile": ("PUT", "/profile", {"token": self.token, "json": {"nama_samaran": "Melati"}}),
            "log": ("POST", "/log/user-log", {"token": self.token, "json": {"event_type": "page"}}),
        }

    def remind(self):
        """Create three reminders that are due in 5 to 7 seconds. The requests that create them end earlier."""
        for seconds in (5, 6, 7):
            self.reminders += 1
            at = rfc3339(datetime.now(UTC) + timedelta(seconds=seconds))
            data = {"tipe": "terapi", "judul": f"pengingat-{self.reminders}-", "waktu": at, "details": {}}
            response = self.site.call("POST", "/pengingat/", self.token, json=data)
            assert response.status_code == 201, response.text

    def roll(self, code):
        for number in (1, 2):
            self.remind()
            self.site.restart_web(number, code=code)
        self.remind()
        beside = self.site.start_worker(code=code)
        for worker in self.workers:
            self.site.end(worker)
        self.workers = [beside]

    def copies(self):
        texts = [message.text for message in list(self.sim.messaging.sent)]
        return Counter(name for n in range(self.reminders) for text in texts if (name := f"pengingat-{n + 1}-") in text)

    def start_beside(self, code):
        """Start another web process that gets no requests, and return its socket."""
        path = self.site.folder / "beside.sock"
        self.site.start_web(code=code, BIND=f"unix:{path}", PROMETHEUS_MULTIPROC_DIR=str(self.site.folder / "beside"))
        return path


def test_a_rolling_update_and_rollback_cause_no_failed_requests(site, sim, next_version):
    rollout = Rollout(site, sim)
    with Load(site, rollout.requests(), pause_s=0.1) as load:
        beside = rollout.start_beside(next_version)
        wait_until(lambda: readiness(beside) is not None)
        assert readiness(beside) == 503  # the new code runs on the older database schema
        rollout.remind()
        site.flask("db", "upgrade", code=next_version)
        assert [readiness(path) for path in (*site.sockets, beside)] == [200, 200, 200]
        rollout.roll(next_version)
        rollout.roll(ROOT)  # the old code runs on the newer database schema
    failed = {kind: [one for one in answers.seen if one[2] >= 400] for kind, answers in load.answers.items()}
    assert not any(failed.values()), failed
    assert all(len(answers.seen) > 20 for answers in load.answers.values())
    wait_until(lambda: len(rollout.copies()) == rollout.reminders)
    assert set(rollout.copies().values()) == {1}
