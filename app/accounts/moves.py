"""Moves of a phone number from one account to another.

The holder of a number is the account that has it. A person who gets messages for somebody else answers SALAH NOMOR
("wrong number"). This answer moves a recently moved number back, or flags the number as wrong.
"""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.accounts import notices
from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import AppError
from app.identity import users
from app.identity.models import PasswordReset, PhoneMove, PhoneVerification, User
from app.notifications import outbox
from app.notifications.models import About
from app.notifications.senders import numbers

#: For this long after a move, SALAH NOMOR moves the number back. During this time the number gets no password reset
#: link.
TAKEN_BACK_WITHIN = timedelta(hours=24)

_is_recent = PhoneMove.moved_at > sa.func.statement_timestamp() - TAKEN_BACK_WITHIN
#: SQL condition that is true for a user whose number moved between accounts within `TAKEN_BACK_WITHIN`.
IS_RECENT = sa.exists().where(PhoneMove.phone == User.phone, _is_recent)


def lock_holder(phone: str, except_id: int | None = None) -> User | None:
    """Lock and return the account that has this number, unless its id is `except_id`."""
    held = sa.select(User).where(User.phone == phone, User.id.is_distinct_from(except_id))
    lock = held.with_for_update(of=User, key_share=True).execution_options(populate_existing=True)
    # Run the query twice, because the number may move to another account while the first query waits for the lock.
    return db.session.scalar(lock) or db.session.scalar(lock)


def lock_prover(user_id: int) -> User | None:
    """Lock and return the user who verifies a number."""
    return db.session.get(User, user_id, with_for_update={"of": User, "key_share": True}, populate_existing=True)


def lock_prover_and_holder(user_id: int, phone: str) -> tuple[User | None, User | None]:
    """Lock and return the user who verifies a number, and the other account that has this number.

    Lock them in the order of their ids. Otherwise two users who take each other's number at once would deadlock.
    """
    both = sa.select(User.id).where(sa.or_(User.id == user_id, User.phone == phone)).order_by(User.id)
    db.session.execute(both.with_for_update(of=User, key_share=True))
    return lock_prover(user_id), lock_holder(phone, user_id)


def move(user: User, nomor_hp: str, phone: str, holder: User | None) -> None:
    """Give a verified number to a user, and remove the number from its holder.

    The calling function has locked the number and both users.
    """
    if holder is not None:
        _note(user, phone, holder)
        _take(holder)
        notices.number_taken(holder)
    before = user.phone
    users.update(user, {"nomor_hp": nomor_hp})
    user.phone_verified_at, user.phone_invalid_at = db_time.now(), None
    db.session.execute(sa.delete(PhoneVerification).where(PhoneVerification.user_id == user.id))
    db.session.flush()
    numbers.record_proven(phone)
    if user.phone != before:
        notices.account_changed(user, {"nomor_hp"}, phone_before=before)


def refuse(phone: str) -> bool:
    """Handle the answer SALAH NOMOR from this number. Return whether the number was moved back.

    Move the number back if it moved recently. Otherwise flag it as wrong. The calling function has locked the number's
    row.
    """
    holder = lock_holder(phone)
    if _take_back(holder, phone):
        return True
    is_new = numbers.record_wrong(phone)
    if holder is not None:
        holder.phone_verified_at = None
        _end_resets(holder)
        if is_new:
            notices.number_wrong(holder)
    outbox.cancel_to_number(phone, None, numbers.PROOFS)
    return False


def free(user: User) -> None:
    """Remove the number of a locked user.

    Also delete the user's open verifications, the user's reset links and the records of the number's moves. Cancel
    queued messages to the number.
    """
    phone = user.phone
    db.session.execute(sa.delete(PhoneVerification).where(PhoneVerification.user_id == user.id))
    _take(user)
    if phone is not None:
        db.session.execute(sa.delete(PhoneMove).where(PhoneMove.phone == phone))
        outbox.cancel_to_number(phone, user.id)
    notices.number_freed(user)


def delete_old() -> None:
    """Delete moves older than `TAKEN_BACK_WITHIN`, because these numbers are not moved back any more."""
    db.session.execute(sa.delete(PhoneMove).where(~_is_recent))


def _note(user: User, phone: str, holder: User) -> None:
    values = {
        "nomor_hp": holder.nomor_hp,
        "from_user_id": holder.id,
        "to_user_id": user.id,
        "verified_at": holder.phone_verified_at,
        "nomor_hp_before": user.nomor_hp,
        "moved_at": sa.func.statement_timestamp(),
    }
    adding = insert(PhoneMove).values(phone=phone, **values)
    # If a number moves several times within `TAKEN_BACK_WITHIN`, SALAH NOMOR moves the number back to the first
    # account.
    goes_on = sa.and_(PhoneMove.to_user_id.is_not(None), _is_recent)
    first = {
        name: sa.case((goes_on, PhoneMove.__table__.c[name]), else_=adding.excluded[name])
        for name in ("from_user_id", "nomor_hp", "verified_at")
    }
    db.session.execute(adding.on_conflict_do_update(index_elements=["phone"], set_={**values, **first}))


def _take_back(holder: User | None, phone: str) -> bool:
    """Move a number back to the account that had it before the recorded move. Return whether the number was moved.

    `holder` is the account that has the number now. The calling function has locked `holder`. The number may have moved
    on to an account that the record does not name. Such an account keeps the number if the account has verified it.
    """
    which = sa.select(PhoneMove).where(PhoneMove.phone == phone, PhoneMove.to_user_id.is_not(None), _is_recent)
    moved = db.session.scalar(which.with_for_update().execution_options(populate_existing=True))
    if moved is None or (holder is not None and not _must_give(holder, moved)):
        return False
    taker_id, moved.to_user_id = moved.to_user_id, None
    owner = lock_prover(moved.from_user_id)
    if holder is not None:
        _take(holder)
        notices.number_returned(holder)
        if holder.id == taker_id and moved.nomor_hp_before is not None:
            # The return of the holder's former number counts as a change of the number. The former number therefore
            # gets no reset link for a day.
            _restore(holder, moved.nomor_hp_before)
    # The account that had the number before may have another number now. It then keeps this other number.
    if owner is not None and owner.nomor_hp is None and _restore(owner, moved.nomor_hp):
        owner.phone_changed_at = owner.phone_before = None
        owner.phone_verified_at = moved.verified_at
    # Delete the open questions whether this number may move. Each question names an account that no longer has the
    # number.
    asked = PhoneVerification.phone == phone, PhoneVerification.asked_at.is_not(None)
    db.session.execute(sa.delete(PhoneVerification).where(*asked))
    db.session.flush()
    return True


def _must_give(holder: User, moved: PhoneMove) -> bool:
    if holder.id == moved.to_user_id:
        return True
    return holder.phone_verified_at is None and holder.id != moved.from_user_id


def _restore(user: User, nomor_hp: str) -> bool:
    """Give a user their former number back. The number then counts as unverified.

    Return False if another account has the number, or if the number is no longer allowed.
    """
    try:
        users.update(user, {"nomor_hp": nomor_hp})
    except AppError:
        return False
    db.session.flush()
    return True


def _take(user: User) -> None:
    """Remove the number from an account. The user can still log in by username."""
    users.update(user, {"nomor_hp": None})
    # No message for this account may reach the number's new owner. Examples: a reset link, or the refusal to send a
    # reset link.
    user.phone_changed_at = user.phone_before = None
    _end_resets(user)
    db.session.flush()


def _end_resets(user: User) -> None:
    db.session.execute(sa.delete(PasswordReset).where(PasswordReset.user_id == user.id))
    outbox.cancel(About("user", user.id), ["password_reset"])
