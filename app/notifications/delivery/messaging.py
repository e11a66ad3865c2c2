"""The transport of messages: a delivery becomes a text to a phone number."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import autocommit, db, unit_of_work
from app.identity.models import User
from app.notifications.delivery import claims
from app.notifications.delivery.claims import Claimed, UndeliverableError
from app.providers import messaging

_address = sa.select(User.phone, User.phone_invalid_at).where(User.id == sa.bindparam("user_id"))


def send(delivery: Claimed) -> str | None:
    """Send the text to the number that the person has now; a number that the provider rejects is flagged."""
    phone, text = _phone_of(delivery), str(delivery.payload["text"])
    claims.begin(delivery)
    try:
        return messaging.client().send(phone, text)
    except messaging.InvalidNumberError:
        flag_invalid(phone)
        raise


def _phone_of(delivery: Claimed) -> str:
    if delivery.user_id is None:
        if delivery.target is None:
            raise UndeliverableError("nobody to send to")
        return delivery.target
    with autocommit() as connection:
        row = connection.execute(_address, {"user_id": delivery.user_id}).one_or_none()
    if row is None or row.phone is None:
        raise UndeliverableError("no number")
    if row.phone_invalid_at is not None:
        raise UndeliverableError("the number is known to be invalid")
    if delivery.target is not None and delivery.target != row.phone:
        raise UndeliverableError("the number has changed")  # a reset link must not reach the next owner of the old one
    return str(row.phone)


def flag_invalid(phone: str) -> None:
    """Send nothing more to this number until its owner changes it."""
    with unit_of_work():
        db.session.execute(
            sa.update(User)
            .where(User.phone == phone, User.phone_invalid_at.is_(None))
            .values(phone_invalid_at=sa.func.now())
            .execution_options(synchronize_session=False)
        )
