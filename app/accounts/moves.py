"""Moves of a phone number from one account to another.

The holder of a number is the account that has it. A person who gets messages for somebody else answers SALAH NOMOR
("wrong number"). This answer flags the number as wrong.
"""

from __future__ import annotations

import sqlalchemy as sa

from app.accounts import notices
from app.core.database import db_time
from app.core.database.session import db
from app.identity import users
from app.identity.models import PasswordReset, PhoneVerification, User
from app.notifications import outbox
from app.notifications.models import Delivery
from app.notifications.senders import numbers


def lock_holder(phone: str, except_id: int | None = None) -> User | None:
    """Lock and return the account that has this number, unless its id is `except_id`."""
    held = sa.select(User).where(User.phone == phone, User.id.is_distinct_from(except_id))
    lock = held.with_for_update(of=User, key_share=True).execution_options(populate_existing=True)
    # Run the query twice, because the number may move to another account while the first query waits for the lock.
    return db.session.scalar(lock) or db.session.scalar(lock)


def lock_prover_and_holder(user_id: int, phone: str) -> tuple[User | None, User | None]:
    """Lock and return the user who verifies a number, and the other account that has this number.

    Lock them in the order of their ids. Otherwise two users who take each other's number at once would deadlock.
    """
    both = sa.select(User.id).where(sa.or_(User.id == user_id, User.phone == phone)).order_by(User.id)
    db.session.execute(both.with_for_update(of=User, key_share=True))
    prover = db.session.get(User, user_id, with_for_update={"of": User, "key_share": True}, populate_existing=True)
    return prover, lock_holder(phone, user_id)


def move(user: User, nomor_hp: str, phone: str, holder: User | None) -> None:
    """Give a verified number to a user, and remove the number from its holder.

    The calling function has locked the number and both users.
    """
    if holder is not None:
        _take(holder)
        notices.number_changed(holder, notices.NUMBER_WAS_TAKEN)
    before = user.phone
    users.update(user, {"nomor_hp": nomor_hp})
    user.phone_verified_at, user.phone_invalid_at = db_time.now(), None
    db.session.execute(sa.delete(PhoneVerification).where(PhoneVerification.user_id == user.id))
    numbers.record_proven(phone)
    if user.phone != before:
        notices.account_changed(user, {"nomor_hp"}, phone_before=before)


def refuse(phone: str) -> None:
    """Handle the answer SALAH NOMOR from this number: flag the number as wrong, and end its proof and reset link.

    The calling function has locked the number's row.
    """
    holder = lock_holder(phone)
    is_new = numbers.record_wrong(phone)
    if holder is not None:
        holder.phone_verified_at = None
        _end_resets(holder)
        if is_new:
            notices.number_changed(holder, notices.NUMBER_IS_WRONG)


def free(user: User) -> None:
    """Remove the number of a locked user. End open verifications, reset links and queued messages to the number."""
    phone = user.phone
    db.session.execute(sa.delete(PhoneVerification).where(PhoneVerification.user_id == user.id))
    _take(user)
    if phone is not None:
        outbox.cancel(Delivery.target == phone, sa.or_(Delivery.user_id.is_(None), Delivery.user_id == user.id))


def _take(user: User) -> None:
    """Remove the number from an account. The user can still log in by username."""
    users.update(user, {"nomor_hp": None})
    # No message for this account may reach the number's new owner, such as the refusal of a reset link.
    user.phone_changed_at = user.phone_before = None
    _end_resets(user)


def _end_resets(user: User) -> None:
    db.session.execute(sa.delete(PasswordReset).where(PasswordReset.user_id == user.id))
    db.session.flush()
