"""Sending of one delivery to a phone number, as a message."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.database.session import db, unit_of_work
from app.core.settings import settings
from app.identity import dependents
from app.identity.models import PHONE_IS_PROVEN, User
from app.notifications.delivery import claims, message_format, number_verification
from app.notifications.delivery.claims import Claimed, UndeliverableError, UnwantedError
from app.notifications.senders import numbers, sender_status
from app.notifications.senders.models import phone_numbers
from app.providers import messaging
from app.providers.messenger import InvalidNumberError, LimitedError, SenderError

logger = logging.getLogger(__name__)

INVALID = "the number is known to be invalid"
WRONG = "the number has said that it is not the person's"

#: Kind that is also sent to a number flagged as wrong: answers to messages from this number.
TO_WRONG_NUMBERS = "answer"


@dataclass(frozen=True)
class RecipientNumber:
    """A recipient's phone number, and properties of this number at the time of sending."""

    phone: str
    #: True if the provider has refused the number.
    is_doubted: bool = False
    #: True if WhatsApp accepts free text to this number, because its owner wrote to us recently.
    is_open: bool = False
    #: True if we recorded recently that the number is in use, see `numbers.use_is_recorded`.
    is_noted: bool = True


_is_open = sa.func.coalesce(
    phone_numbers.c.last_inbound_at > sa.func.statement_timestamp() - message_format.OPEN_FOR, sa.false()
)
_is_doubted = sa.func.coalesce(numbers.is_doubted, sa.false())
_address = (
    sa.select(
        User.phone,
        PHONE_IS_PROVEN.label("is_proven"),
        sa.func.coalesce(numbers.IS_RESTING, sa.false()).label("is_resting"),
        numbers.IS_WRONG.label("is_wrong"),
        _is_doubted.label("is_doubted"),
        _is_open.label("is_open"),
        sa.func.coalesce(numbers.use_is_recorded, sa.false()).label("is_noted"),
    )
    .outerjoin(phone_numbers, phone_numbers.c.phone == User.phone)
    .where(User.id == dependents.receiver_of(sa.bindparam("of_user")))
)
_number = sa.select(phone_numbers.c.wrong_at, _is_doubted.label("is_doubted"), _is_open.label("is_open")).where(
    phone_numbers.c.phone == sa.bindparam("of_phone")
)


def send(delivery: Claimed) -> str | None:
    """Send a message to the person's current number. Return the provider's reference of the message.

    If the provider refuses the number, record the refusal.
    """
    address = _address_of(delivery)
    form = _format_of(delivery, address)
    claims.begin(delivery)
    try:
        ref = messaging.client().send(
            address.phone, form.text, callback=callback_of(delivery.id), buttons=form.buttons, template=form.template
        )
    except InvalidNumberError:
        with unit_of_work():
            numbers.refused(address.phone)
        raise
    except (SenderError, LimitedError) as error:
        sender_status.record_error(error)
        raise
    try:
        sender_status.record_accepted()
        is_use = not (settings.receives_messages or address.is_noted)
        if address.is_doubted or is_use:
            with unit_of_work():
                if address.is_doubted:
                    numbers.accepted(address.phone)
                if is_use:
                    numbers.record_use(address.phone)
    except (DBAPIError, PoolTimeoutError):  # not raised, because the worker would then send the message again
        logger.exception("a successful provider call could not be recorded")
    return ref


def callback_of(delivery_id: int) -> str:
    """Return the value that the provider repeats in its receipts, so that a receipt identifies its delivery."""
    return f"d:{delivery_id}"


def _address_of(delivery: Claimed) -> RecipientNumber:
    if delivery.user_id is None:
        if delivery.target is None:
            raise UndeliverableError("nobody to send to")
        return _known_of(delivery.target, delivery.kind)
    row = db.session.execute(_address, {"of_user": delivery.user_id}).one_or_none()
    if row is None or row.phone is None:
        raise UndeliverableError("no number")
    if delivery.target is not None and delivery.target != row.phone:
        raise UndeliverableError("the number has changed")  # a new owner of the old number must not get a reset link
    if not row.is_proven and number_verification.is_needed(delivery.kind):
        raise UnwantedError(number_verification.UNPROVEN)
    if row.is_wrong:
        raise UndeliverableError(WRONG)
    if row.is_resting:
        raise UndeliverableError(INVALID)
    return RecipientNumber(row.phone, row.is_doubted, row.is_open, row.is_noted)


def _known_of(phone: str, kind: str) -> RecipientNumber:
    """Return a number without an account, and the properties of this number."""
    rows = db.session.execute(_number, {"of_phone": phone}).all()
    wrong_at, *known = rows[0] if rows else (None,)
    if wrong_at is not None and kind != TO_WRONG_NUMBERS:
        raise UndeliverableError(WRONG)
    return RecipientNumber(phone, *known)


def _format_of(delivery: Claimed, address: RecipientNumber) -> message_format.MessageFormat:
    as_template = message_format.is_template(delivery.payload)
    return message_format.format_of(delivery.kind, delivery.words, is_open=address.is_open, as_template=as_template)
