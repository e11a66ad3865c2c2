"""The transport of messages: a delivery becomes a text to a phone number."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement
from app.core.database.session import autocommit, unit_of_work
from app.identity.models import User
from app.notifications.delivery import claims
from app.notifications.delivery.claims import Claimed, UndeliverableError
from app.notifications.senders import numbers
from app.notifications.senders.models import phone_numbers
from app.providers import messaging


@dataclass(frozen=True)
class Address:
    """Where a message goes, and what is known of that number at this moment."""

    phone: str
    #: Whether the provider has said that nobody is there, or nothing arrives.
    is_doubted: bool = False


_address = PreparedStatement(
    sa.select(
        User.phone,
        User.phone_invalid_at.is_not(None).label("is_invalid"),
        sa.func.coalesce(numbers.probe_is_due, sa.false()).label("probe_is_due"),
        sa.func.coalesce(numbers.is_doubted, sa.false()).label("is_doubted"),
    )
    .outerjoin(phone_numbers, phone_numbers.c.phone == User.phone)
    .where(User.id == sa.bindparam("of_user"))
)


def send(delivery: Claimed) -> str | None:
    """Send the text to the number that the person has now; what the provider says of the number is noted."""
    address, text = _address_of(delivery), str(delivery.payload["text"])
    claims.begin(delivery)
    try:
        ref = messaging.client().send(address.phone, text, callback=callback_of(delivery.id))
    except messaging.InvalidNumberError:
        with unit_of_work():
            numbers.refused(address.phone)
        raise
    if address.is_doubted:
        with unit_of_work():
            numbers.reached(address.phone)
    return ref


def callback_of(delivery_id: int) -> str:
    """What a provider's receipts carry back to say which delivery they are about."""
    return f"d:{delivery_id}"


def _address_of(delivery: Claimed) -> Address:
    if delivery.user_id is None:
        if delivery.target is None:
            raise UndeliverableError("nobody to send to")
        return Address(delivery.target)
    with autocommit() as connection:
        rows = _address.rows(connection, {"of_user": delivery.user_id})
    phone, is_invalid, probe_is_due, is_doubted = rows[0] if rows else (None, False, False, False)
    if phone is None:
        raise UndeliverableError("no number")
    if delivery.target is not None and delivery.target != phone:
        raise UndeliverableError("the number has changed")  # a reset link must not reach the next owner of the old one
    if is_invalid and not (probe_is_due and _take_probe(phone)):
        raise UndeliverableError("the number is known to be invalid")
    return Address(phone, is_doubted)


def _take_probe(phone: str) -> bool:
    with unit_of_work():
        return numbers.take_probe(phone)
