"""Password reset links.

A request adds one message to the outbox, whether or not an account has the number. So the response takes the same time
for every number. When a worker sends the message, `render` decides whether an account gets a link.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert

from app.accounts import notices
from app.core.database.session import db
from app.core.errors import BadRequest
from app.core.settings import settings
from app.core.web import rate_limits
from app.identity import codes, phones, tokens, users
from app.identity.models import PasswordReset, User
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.models import Channel, deliveries
from app.notifications.senders import numbers

KIND = "password_reset"
LIFETIME = timedelta(minutes=30)
TEXT = (
    "Gunakan tautan ini untuk mengatur ulang kata sandi Anda: {link}\n"
    f"Tautan berlaku {LIFETIME.seconds // 60} menit. Abaikan pesan ini bila Anda tidak memintanya."
)
#: Limits on the links that are requested for one number.
PER_HOUR, PER_DAY = "5 per hour", "10 per day"

_rows = deliveries.c
_is_new_phone = User.phone_changed_at > sa.func.statement_timestamp() - users.NEW_PHONE


def send_link(phone: str) -> None:
    """Request a reset link for the account with this number. If no account has it, the message is not sent.

    Raise `TooManyRequests` if too many links to this number were requested, in whatever way.
    """
    number = phones.normalise(phone) or phone
    hashed = codes.digest(KIND, number)
    rate_limits.count(PER_HOUR, KIND, hashed)
    rate_limits.count(PER_DAY, KIND, hashed)
    outbox.send(
        outbox.NewDelivery(
            kind=KIND,
            channel=Channel.MESSAGING,
            dedupe_key=f"{KIND}:{uuid.uuid4()}",
            target=number,
            expires_in=LIFETIME,
        )
    )


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts with reset links, by delivery id. A number that must get no link gets no text."""
    return {each.id: words for each in deliveries if (words := _words(each))}


def _words(delivery: Claimed) -> Words | None:
    """Store the code of a link and return the text. The code is derived from the delivery, so a repeat has the same.

    No link is sent to an unknown number, or to a number that was reported as wrong. No link is sent to a number that
    the account got recently, or to an unverified number unused for 90 days. Only the latest request counts. A link that
    was used or ended is not sent again after a call with an unknown outcome.
    """
    code = codes.digest(KIND, delivery.dedupe_key)
    values = {"token_hash": tokens.digest(code), "expires_at": delivery.expires_at}
    is_latest = ~sa.exists().where(_rows.target == delivery.target, _rows.kind == KIND, _rows.id > delivery.id)
    is_first = sa.literal(delivery.unconfirmed_calls == 0)
    is_open = sa.exists().where(PasswordReset.token_hash == values["token_hash"])
    owner = (
        sa.select(User.id, *map(sa.literal, values.values()))
        .where(User.phone == delivery.target, sa.func.coalesce(~_is_new_phone, sa.true()))
        .where(~numbers.IS_WRONG, ~numbers.IS_SILENT, is_latest, sa.or_(is_first, is_open))
        # this lock makes the worker wait while the user is being deleted
        .with_for_update(of=User, read=True, key_share=True)
    )
    stored = (
        insert(PasswordReset)
        .from_select(["user_id", *values], owner)
        .on_conflict_do_update(index_elements=["user_id"], set_=values)
        .returning(PasswordReset.user_id)
    )
    user_id = db.session.scalar(stored)
    if user_id is None:
        _refuse(delivery.target)
        return None
    # The owner sees the delivery in the list of their deliveries.
    db.session.execute(sa.update(deliveries).where(_rows.id == delivery.id).values(user_id=user_id))
    delivery.user_id = user_id
    return {"text": TEXT.format(link=f"{settings.frontend_url}/reset-password?code={code}")}


def _refuse(phone: str | None) -> None:
    """Inform the number that an account had before this new number. A thief may have changed the number."""
    holder = orm.aliased(User)
    is_free = ~sa.exists().where(holder.phone == User.phone_before)
    changed = sa.select(User.id, User.phone_before, User.phone_changed_at).where(User.phone == phone, _is_new_phone)
    row = db.session.execute(changed.where(User.phone_before.is_not(None), is_free)).one_or_none()
    if row is not None:
        notices.reset_refused(row.phone_before, f"{row.id}:{row.phone_changed_at.timestamp():.0f}")


def reset_password(code: str, new_password: str) -> None:
    """Set a new password with the code of a reset link. End all sessions of the user.

    A used code does not work again.
    """
    is_open = (PasswordReset.token_hash == tokens.digest(code)) & (PasswordReset.expires_at > sa.func.now())
    # Lock the user before the row of the reset, because deletions and updates of a user lock in the same order. If two
    # requests use the same code, only one request finds the row.
    whose = sa.select(PasswordReset.user_id).where(is_open).scalar_subquery()
    user = db.session.scalar(sa.select(User).where(User.id == whose).with_for_update(of=User, key_share=True))
    used = sa.delete(PasswordReset).where(is_open).returning(PasswordReset.user_id)
    if user is None or db.session.scalar(used) is None:
        raise BadRequest("Tautan tidak valid atau sudah kedaluwarsa. Silakan minta yang baru.", code="invalid_code")
    users.set_password(user, new_password, field="new_password")
    notices.account_changed(user, {"password"}, phone_before=user.phone)
