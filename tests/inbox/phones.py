"""Keys of the webhooks, a fake phone that writes to the service, and functions that read the stored events."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import count

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.inbox import conversation, jobs
from app.notifications.models import Delivery, Inbound, InboundKind
from tests.notifications.deliveries import words_of

APP_SECRET = "app-secret-of-the-tests"
VERIFY_TOKEN = "verify-token-of-the-tests"
FONNTE_TOKEN = "fonnte-token-of-the-tests-0123456789"

_numbers = count(1)


def rows():
    db.session.expire_all()
    return list(db.session.scalars(sa.select(Inbound).order_by(Inbound.id)))


def age(**span):
    with unit_of_work():
        back = timedelta(**span)
        values = {name: getattr(Inbound, name) - back for name in ("received_at", "handled_at")}
        db.session.execute(sa.update(Inbound).values(values))


@dataclass(frozen=True)
class Said:
    outcome: str | None
    text: str | None


class Phone:
    def __init__(self, number):
        self.number = number

    def write(self, text, *, ref=None, **payload):
        """Send a message and handle it. `ref` is the provider's id of the message, or of the message that it edits."""
        row_id = self.send(text, ref=ref, **payload)
        jobs.handle()
        db.session.expire_all()
        row = db.session.get_one(Inbound, row_id)
        key = f"{conversation.KIND}:{row_id}"
        answers = db.session.scalars(sa.select(Delivery).filter_by(dedupe_key=key)).all()
        assert all((answer.target, answer.user_id) == (self.number, None) for answer in answers)
        return Said(row.outcome, next((str(words_of(answer)["text"]) for answer in answers), None))

    def send(self, text, *, ref=None, **payload):
        values = {"provider": "test", "event_key": f"phone:{next(_numbers)}", "kind": InboundKind.MESSAGE}
        with unit_of_work():
            row = Inbound(phone=self.number, text=text, ref=ref, payload={"type": "text", **payload}, **values)
            db.session.add(row)
            db.session.flush()
            return row.id
