"""People who answer their reminders during the faults, and a check of the dose ledger at the end."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event, Thread
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.database.session import db, unit_of_work
from app.core.errors import Conflict
from app.pengingat import service
from app.pengingat.ledger import answers, bells
from app.pengingat.ledger.schemas import NewAnswer
from app.pengingat.models import Occurrence, OccurrenceState
from bench.chaos.outcome import Ledger
from bench.chaos.world import SETTLE_S, World

#: Each key is a series of answers that a person gives to one reminder. Its value is the relative frequency of this
#: series. "and" means that the person sends both answers at the same time.
HABITS: dict[tuple[str, ...], int] = {
    ("done",): 40,
    ("skipped",): 15,
    ("done", "skipped"): 10,
    ("skipped", "done"): 5,
    ("done", "and", "skipped"): 10,
    (): 20,
}
#: Tablets in stock of each medicine at the start. A dose is one tablet.
IN_STOCK = 10
PEOPLE_AT_ONCE = 4
#: A message may arrive these seconds after the answer, because a worker that had claimed it before was frozen. A repeat
#: after an unknown outcome comes later.
SAID_S = 26.0
LOOK_AGAIN_S = 0.2

LET_AN_HOUR_PASS = """
UPDATE occurrences SET due_at = due_at - interval '61 minutes'
WHERE reminder_id = ANY(%s) AND state = 'pending' AND due_at <= now()
"""
FINAL = """
SELECT r.id, array_agg(o.state), r.details->'persediaan'->>'sisa'
FROM reminders r LEFT JOIN occurrences o ON o.reminder_id = r.id AND o.due_at <= now()
WHERE r.id = ANY(%s) GROUP BY r.id
"""


@dataclass(frozen=True)
class Medicine:
    id: int
    user_id: int
    habit: tuple[str, ...]

    @property
    def may_end_as(self) -> set[str]:
        if not self.habit:
            return {OccurrenceState.MISSED}
        return {"done", "skipped"} if "and" in self.habit else {self.habit[-1]}


def insist(change: Callable[[], object]) -> None:
    """Run `change` in a unit of work. Repeat it until it succeeds or `SETTLE_S` seconds are over."""
    stop = time.monotonic() + SETTLE_S
    while time.monotonic() < stop:
        with contextlib.suppress(DBAPIError, PoolTimeoutError), unit_of_work():
            change()
            break
        time.sleep(LOOK_AGAIN_S)


class People:
    """Patients with reminders of medicines. The stock of each medicine is counted."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.random = random.Random(world.plan.seed)
        self.medicines: dict[str, Medicine] = {}
        #: Time after the first answer to each reminder was committed, in seconds since 1970.
        self.answered: dict[str, float] = {}
        self._open: set[str] = set()

    def remind_of(self, name: str, due: datetime, user_id: int) -> None:
        """Create a medicine whose dose is due at exactly `due`.

        The function changes the due time in the database, because the API only accepts full minutes.
        """
        soon = datetime.now(UTC) + timedelta(minutes=2)
        dose = {"jam": f"{soon:%H:%M}", "jumlah": 1, "satuan": "tablet"}
        details = {"nama_obat": name, "frekuensi": 1, "aturan": "setelah makan", "jadwal": [dose]}
        data: Any = {"tipe": "obat", "judul": name, "timezone": "Asia/Jakarta"}
        with unit_of_work():
            medicine = service.create(user_id, {**data, "details": {**details, "persediaan": {"sisa": IN_STOCK}}})
            rows = sa.select(Occurrence).where(Occurrence.reminder_id == medicine.id).order_by(Occurrence.due_at)
            row = db.session.scalars(rows.limit(1)).one()
            row.due_at = due
            db.session.flush()
            bells.ring(bells.of_row(medicine, row), due)
            (habit,) = self.random.choices(list(HABITS), list(HABITS.values()))
            self.medicines[name] = Medicine(medicine.id, user_id, habit)

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Answer reminders in a thread until the `with` block ends.

        A reminder is answered when it has arrived both as a message and as a push. At the end of the block, the
        function waits until each reminder that has arrived is answered.
        """
        self._open, ended = set(self.medicines), Event()
        thread = Thread(target=self._answer_all, args=(ended,))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self.world.leave_database()

    def _answer_all(self, ended: Event) -> None:
        with ThreadPoolExecutor(PEOPLE_AT_ONCE) as people:
            is_over = False
            while not is_over:
                is_over = ended.wait(LOOK_AGAIN_S)  # After `ended` is set, run the loop again for the last messages.
                for name in self._open & self.world.arrived():
                    self._open.remove(name)
                    medicine = self.medicines[name]
                    if "and" in medicine.habit:
                        for status in ("done", "skipped"):
                            people.submit(self._say, name, [status])
                    else:
                        people.submit(self._say, name, medicine.habit)

    def _say(self, name: str, habit: Sequence[str]) -> None:
        """Repeat each answer until the service accepts it. An earlier attempt may already have recorded the answer."""
        with self.world.app.app_context():
            for status in habit:
                insist(partial(self._confirm, self.medicines[name], status))
                self.answered.setdefault(name, time.time())

    def _confirm(self, medicine: Medicine, status: str) -> None:
        with contextlib.suppress(Conflict):
            answers.confirm(medicine.user_id, medicine.id, NewAnswer(status))

    def judge(self) -> Ledger:
        """Make the unanswered doses too old for answers, and wait until no dose is pending.

        Return the result of the dose ledger.
        """
        ids = [medicine.id for medicine in self.medicines.values()]
        with self.world.database() as cursor:
            cursor.execute(LET_AN_HOUR_PASS, [ids])
            cursor.connection.commit()
        stop = time.monotonic() + SETTLE_S
        while time.monotonic() < stop and not all(
            OccurrenceState.PENDING not in states for _, states, _ in self._rows(ids)
        ):
            self.world.go_on(LOOK_AGAIN_S)
        by_id = {medicine.id: medicine for medicine in self.medicines.values()}
        ledger = Ledger(len(by_id))
        for medicine_id, states, left in self._rows(ids):
            ledger.states += [state for state in states if state]
            ledger.wrong += len(states) != 1 or states[0] not in by_id[medicine_id].may_end_as
            ledger.miscounted += float(left) != IN_STOCK - states.count(OccurrenceState.DONE)
        for name, at in self.world.reminded():
            ledger.said_late += at > self.answered.get(name, at) + SAID_S
        return ledger

    def _rows(self, ids: list[int]) -> list[tuple[int, list[str], str]]:
        with self.world.database() as cursor:
            cursor.execute(FINAL, [ids])
            rows: list[tuple[int, list[str], str]] = cursor.fetchall()
            return rows
