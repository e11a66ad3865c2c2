"""Helpers that verify a phone number by a message from this number."""

from datetime import timedelta
from typing import TypeVar

import sqlalchemy as sa
from flask import current_app
from sqlalchemy.dialects.postgresql import insert

from app.accounts import moves, verification
from app.core.database.session import db, unit_of_work
from app.identity.models import PhoneVerification, User
from app.notifications.models import Delivery
from app.notifications.senders.models import phone_numbers

T = TypeVar("T")

PATH = "/profile/phone/verification"
OWN, NEW = "081234567890", "081399990000"
E164 = {OWN: "+6281234567890", NEW: "+6281399990000"}


def ask(client, **data):
    return client.post(PATH, data).ok(201)


def write(code, phone=OWN):
    """Simulate that a number sends a verification code to the service. Return the result."""
    return answer(code, phone)[0]


def answer(code, phone=OWN):
    """Do the same as `write`. Return the text of the answer too."""
    return _in_a_session_of_its_own(lambda: verification.confirm_by_message(E164[phone], code))


def messages(kind):
    return list(db.session.scalars(sa.select(Delivery).filter_by(kind=kind).order_by(Delivery.id)))


def expire():
    db.session.execute(sa.update(PhoneVerification).values(expires_at=sa.func.now() - timedelta(seconds=1)))


def use(phone, **ago):
    """Set how long ago the number last received a message."""
    at = sa.func.now() - timedelta(**ago)
    row = insert(phone_numbers).values(phone=E164[phone], used_at=at)
    db.session.execute(row.on_conflict_do_update(index_elements=["phone"], set_={"used_at": at}))


def take_long_ago(user_id, **ago):
    """Set how long the user has had the number."""
    values = {"created_at": sa.func.now() - timedelta(**ago), "phone_changed_at": None}
    db.session.execute(sa.update(User).where(User.id == user_id).values(**values))


def refuse(phone=NEW):
    """Answer SALAH NOMOR ("wrong number") from a number."""
    _in_a_session_of_its_own(lambda: moves.refuse(E164[phone]))


def number_of(client):
    profile = client.get("/profile").json
    return profile["nomor_hp"], profile["phone_verified_at"] is not None


def pushes():
    """Return the user id and the event of each push notice about a number."""
    rows = [row for row in messages("security_notice") if row.channel == "push_fan_out"]
    return [(row.user_id, str(row.payload["event"])) for row in rows]


def _in_a_session_of_its_own(work):
    db.session.commit()
    with current_app.app_context(), unit_of_work():
        done = work()
    db.session.expire_all()
    return done
