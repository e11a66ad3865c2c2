"""Concurrent runs of two calls on one world, and the states that they may leave.

Two calls that overlap must leave what one of the two orders leaves: the same answers and the same rows. A call stops at
its first lock, or right before its commit. Meanwhile the other call runs until it ends or waits for a lock.
"""

import json
import re
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread, local

import sqlalchemy as sa
from psycopg2.errors import DeadlockDetected

from app.core.database.session import db
from dev.stack.waiting import PATIENCE_S
from tests.helpers.overlap import IS_WAITING
from tests.races.meeting import Job
from tests.races.sound import wrong_rows

#: Places where the first of two calls stops.
AT_LOCK, AT_COMMIT = "lock", "commit"
LOCKS = re.compile(
    r"\s*(INSERT|UPDATE|DELETE|WITH)\b|\bFOR (UPDATE|NO KEY UPDATE|SHARE|KEY SHARE)|advisory", re.IGNORECASE
)

#: Columns with random values or values of the moment. Only whether they are null is compared.
RANDOM = {
    "access_token", "auth", "body", "claim_token", "code_hash", "fingerprint", "image", "link_hash", "name",
    "password_hash", "preference_tags", "refresh_hash", "sealed", "session_id", "token_hash",
}  # fmt: skip
#: Ids of the world are below this number, ids of new rows above.
FIRST_NEW_ID = 1_000_000
CHANGING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}|\d{4}-\d\d-\d\d[T ][\d:.]+[^\"]*|\d{8}T\d{6}Z|"
    r"(?<!\d)1[789]\d{8}(\.\d+)?(?!\d)|(?<!\d)1\d{6}(?!\d)"
)
SET_IDS = f"SELECT setval(seqrelid, {FIRST_NEW_ID}, false) FROM pg_sequence"
#: Before the world's people get their numbers back, nobody has the number of another one.
FREE_NUMBERS = """
    UPDATE users SET nomor_hp = NULL, phone = NULL FROM races.users AS old
    WHERE old.id = users.id AND old.phone IS DISTINCT FROM users.phone"""
#: Number of restores after which dead rows are removed.
VACUUM_EVERY = 100


@dataclass
class Snapshot:
    """The rows of a world, to which each run returns."""

    tables: list
    rows: dict = field(default_factory=dict)
    restores: int = 0

    @classmethod
    def take(cls):
        # `user_days` is last, because a trigger of `users` counts there.
        tables = sorted(db.metadata.sorted_tables, key=lambda table: table.name == "user_days")
        new = cls(tables)
        new.change(
            "DROP SCHEMA IF EXISTS races CASCADE",
            "CREATE SCHEMA races",
            *(f"CREATE TABLE races.{table.name} AS TABLE public.{table.name}" for table in tables),
            "ALTER TABLE audit_entries DISABLE TRIGGER append_only",
            SET_IDS,
        )
        new.rows = new.read()
        return new

    def change(self, *statements):
        with db.engine.begin() as connection:
            connection.exec_driver_sql(";".join(statements))

    def drop(self):
        self.change("ALTER TABLE audit_entries ENABLE TRIGGER append_only", "DROP SCHEMA races CASCADE")

    def read(self):
        """Return the rows of each table, each row as one text."""
        each = (f"ARRAY(SELECT to_json(t)::text FROM public.{table.name} AS t)" for table in self.tables)
        with db.engine.connect() as connection:
            found = connection.exec_driver_sql(f"SELECT {', '.join(each)}").one()
        return dict(zip((table.name for table in self.tables), found, strict=True))

    def restore(self, left):
        """Restore the tables whose rows differ from the world's. `left` contains the rows of all tables."""
        changed = [table for table in self.tables if left[table.name] != self.rows[table.name]]
        self.change(FREE_NUMBERS, *map(_delete_new, reversed(changed)), *map(_write_old, changed), SET_IDS)
        self.restores += 1
        if self.restores % VACUUM_EVERY == 0:
            with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM")

    def compared(self, left):
        """Return the rows that differ from the world's, without ids of new rows, times and random values."""
        changed = Counter()
        for table in self.tables:
            before, after = self.rows[table.name], left[table.name]
            if before != after:
                # Almost all rows are unchanged, and preparing a row for the comparison takes long.
                before, after = Counter(before), Counter(after)
                changed.update(_lasting(table, row) for row in (after - before).elements())
                changed.subtract(_lasting(table, row) for row in (before - after).elements())
        return frozenset((row, count) for row, count in changed.items() if count)


def _lasting(table, text):
    """Return the row without ids of new rows, times and random values."""
    row, kept = json.loads(text), {}
    for column in table.columns:
        value = row[column.name]
        is_random = column.name in RANDOM or isinstance(column.type, (sa.DateTime, sa.Uuid, sa.LargeBinary))
        kept[column.name] = (value is not None) if is_random else value
    return f"{table.name} {CHANGING.sub('#', json.dumps(kept, sort_keys=True))}"


def _delete_new(table):
    """Return a statement that deletes the rows that the world does not have."""
    if table.name == "audit_entries":  # a trigger refuses changes of its rows
        return "DELETE FROM audit_entries"
    key = ", ".join(column.name for column in table.primary_key)
    return f"DELETE FROM {table.name} WHERE ({key}) NOT IN (SELECT {key} FROM races.{table.name})"


def _write_old(table):
    """Return a statement that writes the rows that the world has, and that are deleted or different now."""
    names = [column.name for column in table.columns]
    key, values = ", ".join(column.name for column in table.primary_key), ", ".join(names)
    new, old = (", ".join(f"{row}.{name}" for name in names) for row in ("excluded", table.name))
    return f"""
        INSERT INTO {table.name} ({values}) SELECT {values} FROM races.{table.name}
        ON CONFLICT ({key}) DO UPDATE SET ({values}) = ROW({new}) WHERE ({old}) IS DISTINCT FROM ({new})"""


class _Stops(local):
    """The place where this thread stops, the event that says that it has, and the one that lets it go on."""

    place = None


class Overlap:
    """Runs of calls in threads that stop at their first lock or before their commit."""

    def __init__(self, scene):
        self.scene = scene
        self.deadlocks = []
        self._stops = _Stops()

    @contextmanager
    def watching(self):
        """Listen to the statements and commits of the service."""
        listeners = (
            ("after_cursor_execute", self._after_statement),
            ("commit", lambda _: self.stop(AT_COMMIT)),
            ("handle_error", self._note),
        )
        for name, listener in listeners:
            sa.event.listen(db.engine, name, listener)
        try:
            yield self
        finally:
            for name, listener in listeners:
                sa.event.remove(db.engine, name, listener)

    def _after_statement(self, _connection, _cursor, statement, *_):
        if self._stops.place == AT_LOCK and LOCKS.search(statement):
            self.stop(AT_LOCK)

    def stop(self, place):
        if self._stops.place == place:
            self._stops.place = None
            self._stops.reached.set()
            self._stops.go_on.wait(PATIENCE_S)

    def _note(self, context):
        if isinstance(context.original_exception, DeadlockDetected):
            self.deadlocks.append(str(context.original_exception))

    def run(self, first, second, place):
        """Run the second call while the first one stops. Return the answers of both."""
        answers, reached, go_on = {}, Event(), Event()

        def start(number, call, place=None):
            self._stops.place, self._stops.reached, self._stops.go_on = place, reached, go_on
            try:
                answers[number] = self.scene.do(call)
            finally:
                reached.set()

        threads = [Thread(target=start, args=(0, first, place)), Thread(target=start, args=(1, second))]
        threads[0].start()
        reached.wait(PATIENCE_S)
        threads[1].start()
        self._wait_for(threads[1])
        go_on.set()
        for thread in threads:
            thread.join()
        return answers[0], answers[1]

    @staticmethod
    def _wait_for(thread):
        """Wait until the thread has ended or waits for a lock."""
        stop = time.monotonic() + PATIENCE_S
        with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while thread.is_alive() and time.monotonic() < stop:
                thread.join(0.004)
                if connection.exec_driver_sql(IS_WAITING).scalar():
                    return


class Pairs:
    """Compares overlapping calls with the two orders of the same calls."""

    def __init__(self, scene, overlap, snapshot):
        self.scene, self.overlap, self.snapshot = scene, overlap, snapshot

    def restore(self):
        self.snapshot.restore(self.snapshot.read())
        self.scene.forget()

    def left_by(self, play, *calls):
        """Restore the world after `play`. Return its answers and the rows that the calls left."""
        answers = play()
        for call in calls:  # A job skips rows that another transaction has locked. Its next run finds them.
            if isinstance(call, Job):
                self.scene.do(call)
        wrong = wrong_rows(self.scene)
        left = self.snapshot.read()
        told = tuple(answer.told() for answer in answers)
        rows = self.snapshot.compared(left)
        self.snapshot.restore(left)
        self.scene.forget()
        assert not wrong, f"{' and '.join(map(str, calls))}: {told} {wrong}"
        return told, rows

    def in_order(self, first, second):
        return self.left_by(lambda: (self.scene.do(first), self.scene.do(second)), first, second)

    def overlapping(self, first, second, place):
        return self.left_by(lambda: self.overlap.run(first, second, place), first, second)

    def faults(self, a, b, is_compared=True):
        """Return what is wrong with overlapping runs of two calls. `is_compared` is false for calls in many steps."""
        told, rows = self.in_order(a, b)
        expected = [(_outcome(told), rows)]
        if a is not b:
            told, rows = self.in_order(b, a)
            expected.append((_outcome(told)[::-1], rows))
        faults = []
        for first, second in [(a, b)] if a is b else [(a, b), (b, a)]:
            for place in (AT_LOCK, AT_COMMIT):
                told, rows = self.overlapping(first, second, place)
                told = told if first is a else told[::-1]
                what = f"{first} stops at its {place}, {second} runs: {told}"
                if self.overlap.deadlocks:
                    faults.append(f"{what} {self.overlap.deadlocks}")
                    self.overlap.deadlocks.clear()
                if max(status for status, _ in told) >= 500:
                    faults.append(what)
                either = [_outcome(told), *([_outcome(told)[::-1]] if a is b else [])]
                if is_compared and not any((outcome, rows) in expected for outcome in either):
                    faults.append("\n".join([what, *_told(rows, expected)]))
        return faults


def _outcome(told):
    """Return the statuses of the calls that succeeded.

    A call that waited for a deletion may be told that its session, its record or its right is gone.
    """
    return tuple("refused" if 400 <= status < 500 else status for status, _ in told)


def _told(rows, expected):
    for told, other in expected:
        yield f"  instead of {told}"
        yield from (f"    only now: {row}" for row, _ in sorted(rows - other))
        yield from (f"    missing:  {row}" for row, _ in sorted(other - rows))
