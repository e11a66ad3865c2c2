"""Caregivers of the patients in a chaos experiment.

Each caregiver must get one alert for each missed dose of the patient, and no other alert.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import cycle
from typing import Any

import psycopg2

from app.caregivers import service
from bench.chaos.outcome import Alerts
from bench.chaos.people import LOOK_AGAIN_S, Medicine, People, insist
from bench.chaos.world import OPEN, SETTLE_S, World, named

#: Scopes (permissions) of a caregiver. The first tuple is valid while the doses fall due, the second when the doses are
#: missed. With `history`, an alert contains the medicine's name. The name shows which dose the alert is about.
#: Therefore each caregiver with `alerts` also has `history`.
HEARS = (("alerts", "history"), ("alerts", "history"))
MAY_NOT_HEAR = (("history", "manage"), ("history", "manage"))
LOSES_IT = (("alerts", "history"), ("history",))
#: Each entry is for one patient and contains the scopes of each caregiver. The patients use these entries in turn.
FAMILIES = ((HEARS, HEARS), (HEARS, MAY_NOT_HEAR), (HEARS, LOSES_IT), ())

#: Number of doses that each patient misses at the same time. A push is short and names at most two doses.
DOSES_AT_ONCE = 2

LET_AN_HOUR_PASS = """
UPDATE occurrences SET due_at = due_at - interval '61 minutes' WHERE id IN (
    SELECT id FROM (
        SELECT o.id, row_number() OVER (PARTITION BY o.user_id ORDER BY o.due_at) AS place FROM occurrences o
        WHERE o.reminder_id = ANY(%s) AND o.state = 'pending' AND o.due_at <= now() AND NOT EXISTS (
            SELECT FROM deliveries d
            WHERE d.user_id = o.user_id AND d.due_at >= o.due_at AND d.due_at < o.due_at + interval '1 second'
            AND d.state IN ('pending', 'claimed')
        )
    ) AS settled WHERE place <= %s
)
"""
#: Statement that lets waiting alerts leave now. Without this statement, the alerts after the first alert would wait for
#: two hours, or until the end of the night.
LET_ALERTS_LEAVE = """
UPDATE deliveries SET due_at = now(), next_try_at = now()
WHERE kind = 'alert' AND state = 'pending' AND next_try_at > now() + interval '1 minute'
"""
UNTOLD = """
SELECT (SELECT count(*) FROM deliveries WHERE kind = 'alert' AND state IN ('pending', 'claimed')) + (
    SELECT count(*) FROM occurrences WHERE state = 'pending' AND due_at < now() - interval '1 hour'
)
"""
#: Queries of user ids: `PHONES` by phone number, and `BROWSERS` by push address.
PHONES = "SELECT ltrim(phone, '+'), id FROM users WHERE phone IS NOT NULL"
BROWSERS = "SELECT endpoint, user_id FROM push_subscriptions"
UNKNOWN = """
SELECT d.user_id, r.details->>'nama_obat'
FROM deliveries d, jsonb_array_elements_text(d.payload->'occurrence_ids') occurrence
    JOIN occurrences o ON o.id = occurrence::bigint JOIN reminders r ON r.id = o.reminder_id
WHERE d.kind = 'alert' AND d.channel = 'messaging' AND d.unknowns > 0
"""


@dataclass(frozen=True)
class CaregiverLink:
    caregiver_id: int
    patient_id: int
    scopes: Sequence[str]
    scopes_when_missed: Sequence[str]


#: Key of an alert: user id of the recipient, and name of the missed dose.
AlertKey = tuple[int, str]


class Caregivers:
    """The caregivers of a round. Most patients have two caregivers. Each caregiver has one patient."""

    def __init__(self, world: World, people: People) -> None:
        self.world, self.people = world, people
        self.links: list[CaregiverLink] = []

    def link(self) -> None:
        """Create caregivers for the patients of this round. Call this before any fault."""
        families = zip(self.world.people, cycle(FAMILIES), strict=False)
        pairs = [(patient_id, scopes) for patient_id, family in families for scopes in family]
        with self.world.app.app_context():
            ids = self.world.new_people(len(pairs), "pendamping")
            for caregiver_id, (patient_id, (before, after)) in zip(ids, pairs, strict=True):
                insist(partial(service.create, caregiver_id, patient_id, before))
                self.links.append(CaregiverLink(caregiver_id, patient_id, before, after))
        owners = dict(self._rows(PHONES) + self._rows(BROWSERS))
        self.world.listeners = {address for address, owner in owners.items() if owner in ids}

    def cut(self) -> None:
        """Withdraw permissions (scopes) of some caregivers. Call this method when the doses are due but not missed."""
        with self.world.app.app_context():
            for link in self.links:
                if link.scopes_when_missed != link.scopes:
                    allowed = link.scopes_when_missed
                    insist(partial(service.update_scopes, link.patient_id, link.caregiver_id, allowed))

    def let_hours_pass(self, trouble: Callable[[int], None] = lambda _: None) -> None:
        """Let the unanswered doses become missed, in steps of at most `DOSES_AT_ONCE` doses of each patient.

        A step leaves out doses with unsent deliveries. Each step calls `trouble` with the number of remaining steps,
        including the current step.
        """
        for left in range(self._times(), 0, -1):
            self._change(LET_AN_HOUR_PASS, [medicine.id for medicine in self._unanswered.values()], DOSES_AT_ONCE)
            trouble(left)
            self._wait_until_none(UNTOLD)

    def judge(self) -> Alerts:
        """Wait until every alert is recorded and sent, and count the alerts."""
        self._wait_until_none(UNTOLD)
        self._wait_until_none(OPEN)
        may_hear = {(link.caregiver_id, link.patient_id) for link in self.links if "alerts" in link.scopes_when_missed}
        patients = {name: medicine.user_id for name, medicine in self.people.medicines.items()}
        due = {(id_, name) for id_, patient_id in may_hear for name in self._unanswered if patients[name] == patient_id}
        messages = self._told(PHONES, [(sent.target, sent.text) for sent in self.world.sim.messaging.sent])
        pushes = self._told(BROWSERS, [(sent.endpoint, sent.text or "") for sent in self.world.sim.push.messages])
        unknown = {(id_, name) for id_, text in self._rows(UNKNOWN) for name in named(text)}
        told = messages.keys() | pushes.keys()
        return Alerts(
            due=len(due),
            lost=len(due - messages.keys()),
            lost_pushes=len(due - pushes.keys()),
            twice=sum(count > (2 if alert in unknown else 1) for alert, count in messages.items()),
            repeated=sum(messages[alert] == 2 for alert in unknown),
            unknown=len(unknown),
            answered=sum(name not in self._unanswered for _, name in told),
            misdirected=sum((id_, patients[name]) not in may_hear for id_, name in told),
            unsettled=self.world.figure(UNTOLD) + self.world.figure(OPEN),
        )

    @cached_property
    def _unanswered(self) -> dict[str, Medicine]:
        return {name: medicine for name, medicine in self.people.medicines.items() if not medicine.habit}

    def _told(self, addresses: str, sent: Sequence[tuple[str, str]]) -> Counter[AlertKey]:
        """Count the alerts by recipient and dose. Reminders to the patients themselves do not count."""
        owners = dict(self._rows(addresses))
        told = [(owners[address], name) for address, text in sent for name in named(text)]
        return Counter((id_, name) for id_, name in told if id_ != self.people.medicines[name].user_id)

    def _times(self) -> int:
        most = max(Counter(medicine.user_id for medicine in self._unanswered.values()).values(), default=0)
        return math.ceil(most / DOSES_AT_ONCE)

    # --- database access with retries ---

    def _wait_until_none(self, query: str) -> None:
        stop = time.monotonic() + SETTLE_S
        while time.monotonic() < stop:
            self._change(LET_ALERTS_LEAVE)
            with suppress(psycopg2.Error):
                if self.world.figure(query) == 0:
                    return
            self.world.go_on(LOOK_AGAIN_S)

    def _change(self, statement: str, *values: object) -> None:
        stop = time.monotonic() + SETTLE_S
        while time.monotonic() < stop:
            with suppress(psycopg2.Error), self.world.database() as cursor:
                cursor.execute(statement, values)
                cursor.connection.commit()
                return
            self.world.go_on(LOOK_AGAIN_S)

    def _rows(self, query: str) -> list[tuple[Any, Any]]:
        with self.world.database() as cursor:
            cursor.execute(query)
            rows: list[tuple[Any, Any]] = cursor.fetchall()
            return rows
