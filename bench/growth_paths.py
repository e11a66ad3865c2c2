"""The hot paths of `bench.growth`, each over the table that grows below it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app import wiring
from app.admins.schemas import UserSearch
from app.admins.service import overview
from app.admins.service import users as admin_users
from app.core.database import clock as database_clock
from app.core.database.session import autocommit, unit_of_work
from app.core.lib import clock
from app.core.web.pagination import Page
from app.faskes.schemas import NameQuery, NearbyQuery
from app.faskes.service import lookup
from app.forum.schemas import ThreadQuery
from app.forum.service import toggles
from app.forum.service.reads import thread_list, threads
from app.identity import credentials
from app.identity.models import SessionKind
from app.identity.sessions import Caller, Reader
from app.logs import buffer
from app.notifications.delivery import claims
from app.pengingat import history, jobs, ledger, service
from app.pengingat.ledger_schemas import Days, HistoryQuery
from app.pengingat.schemas import Query
from bench.growth_data import COMMON, GRID, OCCURRENCES_EACH, RARE, REMINDERS_EACH, REPLIES_EACH
from bench.logs import record

#: Calls of a round. Those of the few are long.
CALLS, FEW_CALLS = 40, 7
#: Rows of one call that plans, sweeps or stores many.
PLANNED, SWEPT, STORED = jobs.PAGE, 100, buffer.BATCH

FIRST = Page(1, 20)


@dataclass(frozen=True)
class HotPath:
    """`work` is called with the number of a row; `before` makes ready what it uses up, and is not measured."""

    name: str
    work: Callable[[int], object]
    before: Callable[[int], object] | None = None
    calls: int = CALLS
    flat: bool = False


@dataclass(frozen=True)
class Table:
    """A table that grows, and the paths over it; afterwards `empty` are emptied."""

    name: str
    paths: Callable[[Any], list[HotPath]]
    empty: tuple[str, ...] = ()


def _tick(_: int) -> None:
    for tick in wiring.TICKS:
        tick()


def _users(_: Any) -> list[HotPath]:
    return [
        HotPath("login's lookup", lambda n: credentials.by_login(f"orang{n}")),
        HotPath("administrators' list", lambda _: admin_users.list_all(UserSearch(FIRST))),
        HotPath("administrators' list, a rare word", lambda _: admin_users.list_all(UserSearch(FIRST, RARE))),
        HotPath("administrators' list, a word of all", lambda _: admin_users.list_all(UserSearch(FIRST, COMMON))),
    ]


def _reader(n: int) -> Reader:
    return Reader.of(Caller(n, frozenset({"pasien"}), uuid.UUID(int=n), SessionKind.USER))


def _read_page(query: ThreadQuery, reader: Reader | None = None) -> None:
    with autocommit() as connection:
        thread_list.read_page(connection, query, reader)


def _read_thread(n: int) -> None:
    with autocommit() as connection:
        thread = threads.read_thread(connection, 1 + (n - 1) // REPLIES_EACH, _reader(n)).record
    assert len(thread["replies"]) == REPLIES_EACH // 2


def _threads(_: Any) -> list[HotPath]:
    return [
        HotPath("first page", lambda _: _read_page(ThreadQuery(FIRST))),
        HotPath("first page, signed in", lambda n: _read_page(ThreadQuery(FIRST), _reader(n))),
        HotPath("any page by its key", lambda n: _read_page(ThreadQuery(FIRST, before=n))),
        HotPath("any page of a category", lambda n: _read_page(ThreadQuery(FIRST, category_id=1, before=n))),
        HotPath("like", lambda n: toggles.like_thread(n, n)),
    ]


def _replies(_: Any) -> list[HotPath]:
    return [
        HotPath("thread of 10 replies", _read_thread),
        HotPath("like", lambda n: toggles.like_reply(n, n)),
    ]


def _places(cursor: Any) -> list[HotPath]:
    centre: dict[str, float] = {}

    def choose(n: int) -> None:
        cursor.execute("SELECT lat, lng FROM faskes WHERE id = %s", [f"bench-{n}"])
        centre["lat"], centre["lng"] = cursor.fetchone()

    def nearby(_: int) -> None:
        found = lookup.nearby(NearbyQuery(centre["lat"] + GRID / 3, centre["lng"], 5000, FIRST))
        assert found.total > 0

    return [
        HotPath("nearby", nearby, choose),
        HotPath("search, a rare word", lambda _: lookup.search(NameQuery(RARE, FIRST))),
        HotPath("search, a word of all", lambda _: lookup.search(NameQuery(COMMON, FIRST))),
    ]


def _reminders(cursor: Any) -> list[HotPath]:
    due = f"""
        UPDATE reminders SET planned_until = now() + interval '12 hours'
        WHERE id IN (SELECT 1 + (%s + n * 104729) %% (SELECT max(id) FROM reminders)
            FROM generate_series(1, {PLANNED}) n)
    """

    everything = Query(FIRST, tipe=None, is_done=None, date=None)

    def read(n: int) -> None:
        assert service.list_all(1 + (n - 1) // REMINDERS_EACH, everything).total == REMINDERS_EACH

    def plan(_: int) -> None:
        assert jobs.top_up_page() == PLANNED

    return [
        HotPath("a person's list", read),
        HotPath("page of the top-up", plan, lambda n: cursor.execute(due, [n]), FEW_CALLS),
        HotPath("clock's tick", _tick, flat=True),
    ]


def _occurrences(cursor: Any) -> list[HotPath]:
    # Neighbours in the table, as what falls due together is.
    overdue = f"UPDATE occurrences SET state = 'pending' WHERE id > %s AND id <= %s + {SWEPT}"

    def read(n: int) -> None:
        person = 1 + (n - 1) // (OCCURRENCES_EACH * REMINDERS_EACH)
        assert history.list_all(person, HistoryQuery(FIRST, Days(), tipe=None, state=None)).total > FIRST.size

    def make_overdue(n: int) -> None:
        cursor.execute(overdue, [max(0, n - SWEPT)] * 2)

    def sweep(_: int) -> None:
        assert ledger.miss_overdue(database_clock.now()) == SWEPT

    return [
        HotPath("a person's history", read, flat=True),
        HotPath("sweep", sweep, make_overdue),
        HotPath("clock's tick", _tick, flat=True),
    ]


def _deliveries(cursor: Any) -> list[HotPath]:
    one_due = """
        UPDATE deliveries SET state = 'sent', settled_at = now()
        WHERE queue = 'urgent' AND channel = 'messaging' AND state IN ('pending', 'claimed')
            AND next_try_at < now() + interval '1 hour';
        INSERT INTO deliveries (dedupe_key, queue, channel, kind, payload, due_at, expires_at, next_try_at)
        SELECT gen_random_uuid(), 'urgent', 'messaging', 'bench', '{}', now(), now() + interval '1 hour', now()
    """
    none_due = one_due.partition("INSERT")[0]

    def claim(_: int) -> None:
        assert claims.claim("urgent", "messaging") is not None

    return [
        HotPath("claim of a due one", claim, lambda _: cursor.execute(one_due), flat=True),
        HotPath("clock's tick", _tick, lambda _: cursor.execute(none_due), flat=True),
    ]


def _logs(_: Any) -> list[HotPath]:
    batch: list[buffer.Record] = []

    def new(n: int) -> None:
        batch[:] = [{**record(n + k), "event_id": str(uuid.uuid4())} for k in range(STORED)]

    def store(_: int) -> None:
        with unit_of_work():
            assert buffer.store(batch) == STORED

    def recent(_: int) -> None:
        today = clock.today()
        with autocommit() as connection:
            assert (
                len(connection.execute(overview.recent(today - timedelta(days=overview.DEFAULT_DAYS), today)).all())
                == overview.RECENT
            )

    return [
        HotPath(f"{STORED:,} new ones", store, new, FEW_CALLS),
        HotPath("overview's latest", recent),
        HotPath("administrators' list of users, last seen", lambda _: admin_users.list_all(UserSearch(FIRST))),
    ]


#: The users first: the other tables stand beside as many as there are at most.
TABLES = (
    Table("users", _users),
    Table("forum_threads", _threads),
    Table("forum_replies", _replies, ("forum_threads",)),
    Table("faskes", _places, ("faskes",)),
    Table("reminders", _reminders, ("deliveries",)),
    Table("occurrences", _occurrences, ("reminders", "occurrences")),
    Table("deliveries", _deliveries, ("deliveries",)),
    Table("activity_logs", _logs),
)
