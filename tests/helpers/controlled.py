"""A service whose clock, worker and providers obey the test.

Tests that must stay valid when the ledger or the outbox is rewritten use only this module and the routes. So a rewrite
changes only this module.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from threading import Condition

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.inbox import jobs as inbox
from app.notifications import jobs as notifications
from app.notifications.delivery import drain
from app.notifications.senders import sender_status
from app.pengingat import jobs as pengingat
from app.providers import vapid
from app.providers.responses import ProviderError

PUBLIC_URL = "https://sehat.example.org"
WEBHOOK_TOKEN = "fonnte-token-of-the-controlled-service"
FIRST_MOMENT = datetime.fromisoformat("2026-03-02T08:03:00+07:00")

#: PostgreSQL looks for functions in the schemas of `search_path`, in order. So these functions replace its clock, for
#: the transaction of the test. The defaults of columns were bound to the real clock when the tables were made.
CLOCK = """
CREATE SCHEMA controlled;
CREATE TABLE controlled.clock (at timestamptz NOT NULL);
INSERT INTO controlled.clock VALUES (now());
CREATE FUNCTION controlled.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM controlled.clock';
CREATE FUNCTION controlled.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT controlled.now()';
CREATE FUNCTION controlled.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT controlled.now()';
DO $$ DECLARE each record; BEGIN
    FOR each IN SELECT adrelid::regclass AS name, attname FROM pg_attrdef
        JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
        WHERE pg_get_expr(adbin, adrelid) ~ '(now|timestamp)\\(\\)' LOOP
        EXECUTE format('ALTER TABLE %%s ALTER COLUMN %%I SET DEFAULT controlled.now()', each.name, each.attname);
    END LOOP;
END $$;
SET LOCAL search_path = controlled, public, pg_catalog;
"""


class WorkerKilled(BaseException):
    """The end of a worker in the middle of its work. No code of the service may handle it."""


@dataclass(frozen=True)
class Sent:
    """A message or push that a provider accepted."""

    channel: str
    #: Phone number, or endpoint of the browser.
    to: str
    #: Text of the message, or title and body of the push.
    text: str
    #: Token of the answer link, or of the buttons of the push.
    token: str | None


@dataclass
class Providers:
    """Fake messaging provider and push service.

    `mood` is `up`, `down` (refuses each call), or `silent` (accepts, but the response is lost).
    """

    mood: str = "up"
    sent: list[Sent] = field(default_factory=list)
    _references: Iterator[int] = field(default_factory=count)

    def accept(self, sent):
        if self.mood == "down":
            raise ProviderError("test", "unreachable")
        self.sent.append(sent)
        if self.mood == "silent":
            raise ProviderError("test", "broken", written=True)
        return f"ref-{next(self._references)}"


class _Messenger:
    def __init__(self, providers):
        self._providers = providers

    def send(self, phone, text, **_):
        link = f"{PUBLIC_URL}/k/"
        token = text.rpartition(link)[2] if link in text else None
        return self._providers.accept(Sent("messaging", phone, text, token))

    def health(self):
        return None

    def cancel(self, ref):
        return False


class _PushService:
    def __init__(self, providers):
        self._providers = providers

    def send(self, to, payload, **_):
        shown = json.loads(payload)
        return self._providers.accept(
            Sent("push", to.endpoint, f"{shown['title']}\n{shown['body']}", shown.get("token"))
        )


class Controlled:
    """The service, in the transaction of the fixture `app`."""

    def __init__(self, app, connection):
        self.app, self._connection = app, connection
        self.providers = Providers()
        self.now = FIRST_MOMENT
        self._statements_left = None

    def count(self, *_):
        """Count a statement or a commit of the worker. Raise `WorkerKilled` if no more is allowed."""
        if self._statements_left is None:
            return
        self._statements_left -= 1
        if self._statements_left < 0:
            self._statements_left = None
            raise WorkerKilled

    def set_time(self, now):
        self.now = now
        self._connection.execute(sa.text("UPDATE controlled.clock SET at = :now"), {"now": now})

    @contextmanager
    def rewound(self):
        """Undo everything that the block does."""
        with self._connection.begin_nested() as savepoint:
            self.providers = Providers()
            self.app.extensions["messenger"] = _Messenger(self.providers)
            self.app.extensions["webpush"] = _PushService(self.providers)
            self.app.extensions["redis"].flushdb()
            sender_status.clear_cache()
            self.set_time(FIRST_MOMENT)
            yield
            db.session.remove()
            savepoint.rollback()

    def work(self, statements=None):
        """Do all work that is due, as scheduler and worker. Return whether the work was finished.

        With `statements`, the worker is killed after that number of SQL statements and commits.
        """
        db.session.commit()
        self._statements_left = statements
        try:
            pengingat.top_up()
            pengingat.miss_overdue()
            inbox.handle()
            notifications.drain("urgent")
        except WorkerKilled:
            return False
        finally:
            self._statements_left = None
            db.session.remove()
        return True

    def read_inbox(self):
        inbox.handle()
        db.session.remove()


def _run_here(lanes_of, _):
    """Send due deliveries in this thread, because all code of the test shares one connection."""
    lanes = [drain.Lane(*each, Condition(), threads=0) for each in lanes_of]
    while sum(lane.send_next() for lane in lanes):
        pass


@pytest.fixture
def controlled(app, monkeypatch):
    """Yield the service with a frozen clock, fake providers and a worker that the test runs."""
    connection = db.engine
    assert isinstance(connection, sa.Connection)
    public, private = vapid.new_keys()
    config = replace(
        app.extensions["config"],
        public_url=PUBLIC_URL,
        fonnte_webhook_token=WEBHOOK_TOKEN,
        messaging_number="+6281100000000",
        vapid_public_key=public,
        vapid_private_key=private,
        vapid_subject="mailto:operator@example.org",
    )
    monkeypatch.setitem(app.extensions, "config", config)
    for name in ("messenger", "webpush"):  # `rewound` replaces them, and monkeypatch restores them
        monkeypatch.setitem(app.extensions, name, None)
    db.session.remove()
    connection.exec_driver_sql(CLOCK)
    service = Controlled(app, connection)
    monkeypatch.setattr(drain, "run", _run_here)
    monkeypatch.setattr(local_time, "now", lambda: service.now.astimezone(local_time.UTC))
    # These events raise outside of a call of the database. SQLAlchemy would close the connection after an error inside.
    for event in ("do_orm_execute", "before_commit"):
        sa.event.listen(db.session, event, service.count)
    yield service
    for event in ("do_orm_execute", "before_commit"):
        sa.event.remove(db.session, event, service.count)
