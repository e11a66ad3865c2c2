"""What the application shows, compared with the model."""

from dataclasses import dataclass
from datetime import datetime

from tests.helpers.client import Client
from tests.pengingat.net.model import Ledger
from tests.pengingat.net.plans import ZONE


def ok(response):
    assert response.status_code in (200, 201), response.text
    return response.json


def code(response):
    assert response.status_code >= 400, response.text
    return str(response.json["error"])


@dataclass
class Shown:
    """The pages of one person. `client` is the person's."""

    client: Client
    ledger: Ledger

    def rows(self, at):
        rows = ok(self.client.get(f"/pengingat/hari-ini?date={at.astimezone(ZONE).date()}"))
        return {(row["judul"], datetime.fromisoformat(row["due_at"]), row["slot"]): row for row in rows}

    def check(self, at=None):
        """Compare a day, and all reminders, with the model."""
        at = at or self.ledger.now
        shown = self.rows(at)
        for time in self.ledger.times():
            if time.due.at.astimezone(ZONE).date() == at.astimezone(ZONE).date():
                self._check_time(time, shown.pop((time.reminder.plan.title, time.due.at, time.due.slot), None))
        assert not shown
        reminders = {row["id"]: row for row in ok(self.client.get("/pengingat"))}
        assert reminders.keys() == {each.id for each in self.ledger.alive}
        for reminder in self.ledger.alive:
            self._check_reminder(reminder, reminders[reminder.id])

    def _check_time(self, time, row):
        if time.reminder.is_deleted and time.due.at > self.ledger.now:
            return
        if time.state == "void":
            assert row is None, row
            return
        assert row is not None, time
        expected = {
            "pengingat_id": None if time.reminder.is_deleted else time.reminder.id,
            "state": time.state,
            "answered_via": time.via,
            "answered_at": time.answered_at,
            "snoozed_until": time.snoozed_until,
            "late": time.is_late,
        }
        moments = {name: row[name] and datetime.fromisoformat(row[name]) for name in ("answered_at", "snoozed_until")}
        assert {name: moments.get(name, row[name]) for name in expected} == expected
        can_answer = self.ledger.refusal(time, "done") is None and not time.reminder.is_deleted
        assert self.ledger.is_withdrawn or row["can_answer"] == can_answer, f"{self.ledger.now}: {time}"

    def _check_reminder(self, reminder, row):
        if reminder.plan.kind == "stok":
            assert row["details"]["persediaan"]["sisa"] == reminder.left
        time = reminder.present(self.ledger.now)
        is_done = reminder.plan.kind != "kontrol" and time is not None and time.state == "done"
        assert row["is_done"] == is_done, f"{self.ledger.now}: {time}"
